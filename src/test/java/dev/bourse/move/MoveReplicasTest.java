package dev.bourse.move;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.blob.s3.S3Blobs;
import dev.bourse.faults.S3Faults;
import dev.bourse.faults.S3Faults.Fault;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.SetsFixture;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import dev.bourse.walk.BlobClaims;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two processes on one database move files from one object store to another, and one dies. */
@OneEngine("only PostgreSQL is shared by several processes")
class MoveReplicasTest {
  private static final String MOVE = "/api/operator/move";

  /** A file of a whole part and more, and one so small that it is sent at once. */
  private static final byte[] LARGE = bytes(S3Blobs.PART_BYTES + 300_000, 1);

  private static final Map<String, byte[]> SET =
      SetsFixture.folder("a/0.bin", bytes(300_000, 2), "b.bin", bytes(700, 3));

  private static final int SMALL_FILES = 3;

  /** The large file, the small ones, those of the set and its manifest. */
  private static final int BLOBS = 1 + SMALL_FILES + 2 + 1;

  /** Bytes read at the end of each file, so that reading leaves capacity for the move. */
  private static final int READ_BYTES = 100_000;

  /** Pause between two rounds of reads, which load the machine more than the move itself. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Expected contents, by path. */
  private final Map<String, byte[]> published = new LinkedHashMap<>();

  private final S3Server objects = S3Server.s3proxy();
  private String large = "";

  /** Reads everything at some processes, over and over. */
  private final class Reader implements AutoCloseable {
    private final List<ApiClient> members = new CopyOnWriteArrayList<>();
    private final List<String> unreadable = new CopyOnWriteArrayList<>();
    private final AtomicInteger rounds = new AtomicInteger();
    private final Thread thread = new Thread(this::run, "reader");
    private volatile boolean isOver;

    Reader(ApiClient... members) {
      this.members.addAll(List.of(members));
      thread.start();
    }

    private void run() {
      while (!isOver) {
        members.forEach(this::readAll);
        rounds.incrementAndGet();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    private void readAll(ApiClient member) {
      published.forEach(
          (path, bytes) -> {
            if (members.contains(member)) {
              int from = Math.max(0, bytes.length - READ_BYTES);
              HttpResponse<byte[]> read = member.fetch("GET", path, "Range", "bytes=" + from + '-');
              byte[] end = Arrays.copyOfRange(bytes, from, bytes.length);
              if (read.statusCode() != 206 || !Arrays.equals(end, read.body())) {
                unreadable.add(path + ": " + read.statusCode());
              }
            }
          });
    }

    /** Stops reading at a process before that dies. */
    void leave(ApiClient member) {
      members.remove(member);
      awaitRound();
    }

    /** Waits until everything was read once more completely. */
    void awaitRound() {
      int now = rounds.get();
      until("everything was read", () -> rounds.get() >= now + 2);
      assertEquals(List.of(), unreadable);
    }

    @Override
    public void close() throws InterruptedException {
      isOver = true;
      thread.join();
    }
  }

  private String[] settings(String url, String store, String... others) {
    return Stream.concat(
            Stream.of(
                "port=0",
                "store.url=" + url,
                "checkpoints.s3-credentials-file=" + objects.credentials(),
                "checkpoints.store=" + store,
                "checkpoints.deletion-delay=0",
                "limits.requests-per-minute=0",
                "limits.edge-per-minute=0"),
            Stream.of(others))
        .toArray(String[]::new);
  }

  private void publishAll(RunningBourse bourse) {
    ApiClient alice = bourse.asMember("acme", "alice");
    large = content(publish(alice, freshName(), LARGE, "org").getString("id"));
    published.put(large, LARGE);
    for (int i = 0; i < SMALL_FILES; i++) {
      byte[] small = bytes(50_000 + i, 10 + i);
      published.put(content(publish(alice, freshName(), small, "org").getString("id")), small);
    }
    String set = SetsFixture.publish(alice, freshName(), SET, "org").getString("id");
    SET.values().forEach(bytes -> published.put(item(set) + "/files/" + sha256(bytes), bytes));
  }

  private static long count(String url, String sql) {
    try (Connection connection = SharedPostgres.server().connect(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static long taken(String what, S3Faults... networks) {
    return Stream.of(networks)
        .flatMap(network -> network.answered().stream())
        .filter(request -> request.matches(what))
        .count();
  }

  private static List<String> sent(String what, S3Faults... networks) {
    List<String> found = new ArrayList<>();
    for (S3Faults network : networks) {
      network.seen().stream().filter(request -> request.matches(what)).forEach(found::add);
    }
    return found;
  }

  @Test
  @Slow("starts two processes and moves a file of two parts of 16 MiB, a step each two seconds")
  void whatAKilledProcessWasMovingTheOtherGoesOnWithAndEverythingIsReadableAllTheTime()
      throws Exception {
    String from = objects.newBucket();
    String to = objects.newBucket();
    String url = SharedPostgres.server().newStore();
    Path one = RunningBourse.newFolder();
    try (RunningBourse before = RunningBourse.over(one, settings(url, objects.store(from)))) {
      publishAll(before);
      before.stop();
      moveWithAKill(from, to, url, one);
    }
  }

  private void moveWithAKill(String from, String to, String url, Path one) throws Exception {
    String former = "checkpoints.former-store=" + objects.store(from);
    JsonObject demo = new JsonObject(Files.readString(one.resolve("demo.json")));
    Path two = RunningBourse.newFolder();
    Files.copy(one.resolve("demo.json"), two.resolve("demo.json"));
    try (S3Faults ofMover = new S3Faults(objects.port());
        S3Faults ofOther = new S3Faults(objects.port());
        ChildBourse mover =
            new ChildBourse(
                one, List.of(settings(url, S3Server.store(to, ofMover.port()), former)))) {
      // Including the requests with which its client retries one that times out.
      ofMover.next(
          Integer.MAX_VALUE, request -> request.matches("PUT .*partNumber=2.*"), Fault.FROZEN);
      new ApiClient(mover.baseUrl(), demo.getString("operator_token"))
          .post(
              MOVE,
              new JsonObject()
                  .put("from", name(objects.store(from)))
                  .put("to", name(objects.store(to))))
          .ok();
      ofMover.awaitFrozen(1);
      try (RunningBourse other =
          RunningBourse.over(two, settings(url, S3Server.store(to, ofOther.port()), former))) {
        ApiClient atMover = reader(mover.baseUrl(), other);
        try (Reader reader = new Reader(atMover, reader(other.service().baseUrl(), other))) {
          until(
              "the other has moved the rest",
              () -> count(url, "SELECT moved_blobs FROM blob_move") == BLOBS - 1);
          reader.awaitRound();
          assertEquals(1, count(url, "SELECT COUNT(*) FROM blob_move_claim"));
          reader.leave(atMover);
          mover.kill();
          // Its last request arrives although the process is dead.
          ofMover.thaw();
          reader.awaitRound();
          // Simulates ten minutes, after which its claim has expired.
          SharedPostgres.server()
              .execute(
                  url,
                  "UPDATE blob_move_claim SET told_at = told_at - " + BlobClaims.EXPIRY_MILLIS);
          until(
              "the move has ended",
              () -> count(url, "SELECT COUNT(*) FROM blob_move WHERE state = 'ended'") == 1);
          until("nothing is left where it was", () -> objects.objects(from).isEmpty());
          reader.awaitRound();
          assertArrayEquals(
              LARGE, reader(other.service().baseUrl(), other).fetch("GET", large).body());
        }
      }
      assertEquals(List.of(), objects.multiparts(from));
      assertEquals(BLOBS, count(url, "SELECT COUNT(*) FROM blob"));
      assertEquals(BLOBS, count(url, "SELECT moved_blobs FROM blob_move"));
      assertEquals(0, count(url, "SELECT COUNT(*) FROM blob_moved"));
      assertEquals(0, count(url, "SELECT COUNT(*) FROM blob_move_claim"));
      // Small files are sent whole, once each; no recorded part of the large one is sent again.
      String whole = "PUT [^?]*/blobs/[^?]*(\\?x-id.*)?";
      List<String> stored =
          Stream.of(ofMover, ofOther)
              .flatMap(network -> network.answered().stream())
              .filter(request -> request.matches(whole))
              .toList();
      assertEquals(BLOBS - 1, stored.size(), () -> stored + " of " + sent(whole, ofMover, ofOther));
      assertEquals(1, taken("PUT .*partNumber=1[^0-9].*", ofMover, ofOther));
      assertEquals(1, taken("POST .*\\?uploads.*", ofMover, ofOther));
      assertEquals(1, taken("PUT .*partNumber=2.*", ofOther));
    }
  }

  private static String name(String store) {
    return store.replaceFirst("\\?.*", "");
  }

  /** Returns a client with an organization's token, which is in the database. */
  private static ApiClient reader(String baseUrl, RunningBourse bourse) {
    return new ApiClient(baseUrl, bourse.secret("acme", "orgwide"));
  }
}
