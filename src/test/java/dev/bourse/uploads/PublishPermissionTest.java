package dev.bourse.uploads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.ByteSource;
import dev.bourse.checkpoint.BlobName;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Uploads of members who have lost the permission to publish. */
class PublishPermissionTest extends UploadFixture {
  /** Why a member may no longer publish an announced public file. */
  private enum Reason {
    REMOVED("DELETE FROM member WHERE username = 'alice'"),
    SUSPENDED("UPDATE member SET suspended_at = 1 WHERE username = 'alice'"),
    ORGANIZATION_RETIRED("UPDATE org SET retired_at = 1 WHERE org_id = 'lab'"),
    FEED_CLOSED("UPDATE org SET kind = 'standard' WHERE org_id = 'lab'");

    private final String change;

    Reason(String change) {
      this.change = change;
    }
  }

  private CheckpointService.Announced announce(
      Services services, Visibility visibility, boolean resumable) throws Exception {
    return await(
        services.checkpoints.publish(
            member("alice"), publication(visibility, "a.bin", BYTES, resumable)));
  }

  private static Future<ResumableUploads.Progress> put(
      Services services, CheckpointService.Announced to, int until) {
    return services.sessions.put(
        to.session(),
        Optional.of("bytes 0-" + (until - 1) + "/" + BYTES.length),
        source(BYTES, 0, until, null));
  }

  private void decide(Reason reason) throws Exception {
    decide(Statement.of(reason.change));
  }

  /** Runs the sweep until it finds nothing to do. */
  private void sweep(Services services) throws Exception {
    clock.advance(2 * CONFIG.graceMillis());
    while (await(services.sweep.run()) > 0) {
      clock.advance(2 * CONFIG.graceMillis());
    }
  }

  @ParameterizedTest
  @EnumSource
  void theNextRequestOfASessionIsRefusedAndItsStorageGivenBack(Reason reason) throws Exception {
    Services services = services();
    CheckpointService.Announced announced = announce(services, Visibility.PUBLIC, true);
    await(put(services, announced, 500_000));
    decide(reason);

    gone(put(services, announced, BYTES.length));
    gone(services.sessions.put(announced.session(), Optional.of("bytes */*"), source(BYTES)));
    gone(put(services(), announced, BYTES.length));
    assertEquals(
        500_000, await(blobs.stored(BlobName.upload(announced.item().id(), 1))), "none is written");
    sweep(services);
    assertEquals(0, accountedBytes());
    assertEquals(List.of(), names(false));
  }

  @ParameterizedTest
  @EnumSource
  void theStorageOfADirectUploadIsGivenBackToo(Reason reason) throws Exception {
    Services services = services();
    announce(services, Visibility.PUBLIC, false);
    decide(reason);
    sweep(services);
    assertEquals(0, accountedBytes());
  }

  @Test
  void aTrailTellsOfWhatWasTakenBack() throws Exception {
    Services services = services();
    announce(services, Visibility.ORG, true);
    decide(Reason.REMOVED);
    sweep(services);
    assertEquals(
        List.of("system:offboard"),
        texts("SELECT actor FROM audit WHERE action = 'checkpoint_withdraw'"));
  }

  @Test
  void aDraftOfARevokedCredentialIsNotWithdrawnAsAnOffboarding() throws Exception {
    Services services = services();
    announce(services, Visibility.ORG, true);
    await(
        database.commit(
            List.of(Statement.of("UPDATE checkpoint_revision SET credential_id = 'pub_gone'"))));
    sweep(services);
    assertEquals(0, accountedBytes());
    assertEquals(
        List.of("system:checkpoints"),
        texts("SELECT actor FROM audit WHERE action = 'checkpoint_withdraw'"));
  }

  @ParameterizedTest
  @EnumSource
  void aRequestUnderWayIsCutOff(Reason reason) throws Exception {
    for (boolean resumable : new boolean[] {false, true}) {
      Services services = services();
      CheckpointService.Announced announced = announce(services, Visibility.PUBLIC, resumable);
      Promise<Void> decided = Promise.promise();
      Promise<Void> begun = Promise.promise();
      ByteSource inTwoParts = inTwoParts(300_000, begun, decided.future());
      Future<?> request =
          resumable
              ? services.sessions.put(announced.session(), Optional.empty(), inTwoParts)
              : services.direct.put(member("alice"), announced.item().id(), inTwoParts);
      await(begun.future());
      decide(reason);
      decided.complete();
      gone(request);
      if (resumable) {
        String name = BlobName.upload(announced.item().id(), announced.draft().number());
        assertEquals(300_000, await(blobs.stored(name)), "later bytes are not written");
      } else {
        assertEquals(List.of(), names(false));
      }
      assertEquals(List.of(), names(true));
      decide(
          Statement.of("DELETE FROM member WHERE username = 'alice'"),
          enlist("alice"),
          Statement.of("UPDATE org SET retired_at = NULL, kind = 'public_research'"));
    }
  }

  /** A request whose second part follows after an event. */
  private static ByteSource inTwoParts(int first, Promise<Void> begun, Future<Void> happened) {
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return OptionalLong.of(BYTES.length);
      }

      @Override
      public Optional<String> contentType() {
        return Optional.of("application/octet-stream");
      }

      @Override
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        return sink.take(BYTES, 0, first)
            .onSuccess(taken -> begun.complete())
            .compose(taken -> happened)
            .compose(now -> sink.take(BYTES, first, BYTES.length))
            .map((long) BYTES.length);
      }
    };
  }

  @Test
  void theFeedsClosingLeavesWhatTheOrganizationPublishesForItself() throws Exception {
    Services services = services();
    CheckpointService.Announced announced = announce(services, Visibility.ORG, true);
    await(put(services, announced, 500_000));
    decide(Reason.FEED_CLOSED);
    sweep(services);
    assertTrue(await(put(services, announced, BYTES.length)).isComplete());
  }

  @Test
  void bytesThatWaitForTheirCommitAreNotPublishedOnAClosedFeed() throws Exception {
    Services services = services();
    CheckpointService.Announced announced = announce(services, Visibility.PUBLIC, true);
    await(put(services, announced, BYTES.length));
    decide(Reason.FEED_CLOSED);
    Publisher alice = member("alice");
    Publisher restricted =
        new Publisher(
            alice.orgId(), alice.creator(), alice.creatorId(), alice.actor(), null, false, null);
    String id = announced.item().id();
    ApiException refusal =
        fails(
            ApiException.class,
            services.sessions.commit(restricted, id, BYTES.length, Optional.empty()));
    assertEquals(ErrorCode.FORBIDDEN, refusal.code());
    assertEquals("public-restricted", refusal.extras().get("reason"));
    sweep(services);
    gone(services.sessions.commit(restricted, id, BYTES.length, Optional.empty()));
  }

  @Test
  void whoeverComesLaterByTheSameNameDoesNotGoOnWithASession() throws Exception {
    Services services = services();
    CheckpointService.Announced announced = announce(services, Visibility.ORG, true);
    await(put(services, announced, 500_000));
    clock.advance(1);
    decide(Statement.of("DELETE FROM member WHERE username = 'alice'"), enlist("alice"));
    gone(put(services, announced, BYTES.length));
    sweep(services);
    assertEquals(0, accountedBytes());
  }

  @Test
  void theEditionThatIsReadStaysWhenItsSuccessorIsTakenBack() throws Exception {
    Services services = services();
    CheckpointService.Announced first = announce(services, Visibility.ORG, false);
    await(services.direct.put(member("alice"), first.item().id(), source(BYTES)));
    announce(services, Visibility.ORG, true);
    decide(Reason.REMOVED);
    sweep(services);
    Checkpoint item = await(services.checkpoints.get(LAB.orgId(), first.item().id())).item();
    assertEquals(null, item.draft());
    assertEquals(1, item.shown().number());
    assertEquals(BYTES.length, accountedBytes());
  }
}
