package dev.bourse.uploads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.blob.ByteSource;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.ReplacePolicy;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.secrets.SecretSamples;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Uploads of both kinds into real blobs and rows. */
class UploadTest extends UploadFixture {
  private static final byte[] FEW = bytes(1_000, 2);

  private static byte[] privateKey() {
    return SecretSamples.all(1).stream()
        .filter(sample -> sample.rule().equals("private-key"))
        .findFirst()
        .orElseThrow()
        .text()
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void directBytesArePublishedWhole() throws Exception {
    String id = announce(false).item().id();
    Checkpoint item = await(process().direct.put(member("alice"), id, source(BYTES))).item();
    isPublished(item, BYTES);
    assertEquals(List.of(), names(false), "no upload is left behind");
  }

  @Test
  void sessionBytesArePublishedByTheCommit() throws Exception {
    CheckpointService.Announced announced = announce(true);
    assertEquals(300_000, put(announced, 0, 300_000).stored());
    assertEquals(300_000, ask(announced).stored());
    assertTrue(put(announced, 300_000, BYTES.length).isComplete());
    isPublished(await(commit(announced)).item(), BYTES);
    assertEquals(List.of(), names(false), "no upload is left behind");
  }

  @Test
  void aDirectUploadFindsRoomWhileSessionsPause() throws Exception {
    for (int i = 0; i < 16; i++) {
      put(announce("s" + i, BYTES, true), 0, 1);
    }
    String id = announce(false).item().id();
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  @Test
  void oneOrganizationsRequestsLeaveRoomForOthers() throws Exception {
    await(blobs.close());
    blobs = await(openLocal(2 * ResumableUploads.MAX_REQUESTS));
    List<Promise<Long>> reading = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> slow = new ArrayList<>();
    for (int i = 0; i < ResumableUploads.MAX_REQUESTS; i++) {
      String id = announce("slow" + i, FEW, false).item().id();
      slow.add(process().direct.put(member("alice"), id, never(reading)));
    }
    eventually("all send", () -> reading.size() == ResumableUploads.MAX_REQUESTS);

    String id = announce(false).item().id();
    assertEquals(
        ErrorCode.OVERLOADED,
        fails(ApiException.class, process().direct.put(member("alice"), id, source(BYTES))).code());
    CheckpointService.Announced session = announce("b.bin", BYTES, true);
    assertEquals(
        ErrorCode.OVERLOADED,
        fails(
                ApiException.class,
                process().sessions.put(session.session(), Optional.empty(), source(BYTES)))
            .code());
    assertEquals(0, ask(session).stored(), "asking takes no place");
    Publisher other = Publisher.platform(new Operator("op_1", "ops"), "Bourse");
    String document =
        await(
                process()
                    .checkpoints
                    .publish(other, publication(Visibility.PUBLIC, "c.bin", BYTES, false)))
            .item()
            .id();
    await(process().direct.put(other, document, source(BYTES)));

    reading.forEach(one -> one.fail(new IOException("gone")));
    for (Future<?> one : slow) {
      fails(IOException.class, one);
    }
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  /** A request that sends nothing; its future is added to the list. */
  private static ByteSource never(List<Promise<Long>> reading) {
    ByteSource like = source(FEW);
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return like.length();
      }

      @Override
      public Optional<String> contentType() {
        return like.contentType();
      }

      @Override
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        Promise<Long> end = Promise.promise();
        reading.add(end);
        return end.future();
      }
    };
  }

  @Test
  void aPlaceThatIsTakenMeanwhileRefusesWhatMovesThere() throws Exception {
    String id = announce(false).item().id();
    await(process().direct.put(member("alice"), id, source(BYTES)));
    CheckpointService.Announcement moved = publication(Visibility.ORG, "b.bin", BYTES, false);
    await(
        process()
            .checkpoints
            .publish(
                member("alice"),
                new CheckpointService.Announcement(
                    moved.metadata(),
                    moved.visibility(),
                    moved.resumable(),
                    ReplacePolicy.one(id))));
    String other = announce("b.bin", BYTES, false).item().id();
    conflict("exists", process().direct.put(member("alice"), id, source(BYTES)));
    await(process().checkpoints.delete(member("alice"), other));
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
  }

  @Test
  void aCredentialTakesTheAnnouncementWithIt() throws Exception {
    byte[] text = BYTES.clone();
    byte[] secret = privateKey();
    System.arraycopy(secret, 0, text, 600_000, secret.length);
    for (boolean resumable : new boolean[] {false, true}) {
      CheckpointService.Announced announced = announce("s" + resumable, text, resumable);
      Future<?> sent =
          resumable
              ? process().sessions.put(announced.session(), Optional.empty(), source(text))
              : process().direct.put(member("alice"), announced.item().id(), source(text));
      ApiException error = fails(ApiException.class, sent);
      assertEquals(ErrorCode.SECRET_DETECTED, error.code(), error.detail());
      assertEquals("private-key", error.extras().get("rule"));
      assertEquals(600_000L, error.extras().get("offset"));
      gone(process().checkpoints.get(LAB.orgId(), announced.item().id()));
      assertEquals(List.of(), names(false));
      assertEquals(List.of(), names(true));
      assertEquals(0, accountedBytes());
    }
  }

  @Test
  void aRefusedDirectRequestMayBeRepeated() throws Exception {
    String id = announce(false).item().id();
    conflict("size-mismatch", process().direct.put(member("alice"), id, source(BYTES, 0, 5, null)));
    fails(
        IOException.class,
        process()
            .direct
            .put(member("alice"), id, source(BYTES, 0, BYTES.length, new IOException("gone"))));
    assertEquals(List.of(), names(false));
    isPublished(await(process().direct.put(member("alice"), id, source(BYTES))).item(), BYTES);
    conflict("not-pending", process().direct.put(member("alice"), id, source(BYTES)));
  }

  @Test
  void eachKindOfUploadHasItsOwnWay() throws Exception {
    conflict(
        "resumable-upload",
        process().direct.put(member("alice"), announce(true).item().id(), source(BYTES)));
    conflict("wrong-status", commit(announce("b.bin", BYTES, false)));
  }
}
