package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publish;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.Slow;
import dev.bourse.testing.SlowDownload;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Limits on open files per reader and on slow readers, over real sockets. */
@OneEngine("the store's engine does not affect shares of open files")
class DownloadSharesApiTest {
  private static final int OPEN_FILES = 8;

  /** More than the operating system's socket buffers hold. */
  private static final byte[] LARGE = bytes(8 << 20, 3);

  private static final byte[] SMALL = bytes(10_000, 4);

  private static RunningBourse bourse;
  private static ApiClient alice;
  private static ApiClient dave;
  private static ApiClient carol;
  private static List<String> acme;
  private static List<String> feed;
  private static String globex;

  private final List<SlowDownload> open = new ArrayList<>();

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("checkpoints.open-files=" + OPEN_FILES, "proxies=127.0.0.1");
    alice = bourse.asMember("acme", "alice");
    dave = bourse.asMember("globex", "dave");
    carol = bourse.asMember("openlab", "carol");
    acme = new ArrayList<>();
    feed = new ArrayList<>();
    for (int i = 0; i < OPEN_FILES; i++) {
      acme.add(publish(alice, freshName(), LARGE, "org").getString("id"));
    }
    for (int i = 0; i < OPEN_FILES / 2; i++) {
      String id = publish(carol, freshName(), LARGE, "public").getString("id");
      approve(bourse, id).ok();
      feed.add(id);
    }
    globex = publish(dave, freshName(), SMALL, "org").getString("id");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @AfterEach
  void end() {
    open.forEach(SlowDownload::close);
    open.clear();
    RunningBourse.until("all places are free again", DownloadSharesApiTest::areAllClosed);
  }

  /** Returns true if this process has none of the service's files open. */
  private static boolean areAllClosed() {
    Path blobs = bourse.data().resolve("checkpoints").resolve("blobs");
    Path open = Path.of("/proc/self/fd");
    for (String number : Objects.requireNonNull(open.toFile().list())) {
      try {
        if (Files.readSymbolicLink(open.resolve(number)).startsWith(blobs)) {
          return false;
        }
      } catch (IOException e) {
        // It was closed in the meantime.
      }
    }
    return true;
  }

  private int trickle(String org, String member, String id) {
    return ask(bourse, content(id), bourse.memberToken(org, member), "");
  }

  private int trickleFeed(String address, String id) {
    return trickleFeed(bourse, address, id);
  }

  private int trickleFeed(RunningBourse service, String address, String id) {
    return ask(service, FEED + '/' + id + "/content", null, forwardedFor(address) + "\r\n");
  }

  private static String forwardedFor(String address) {
    return "X-Forwarded-For: " + address;
  }

  private int ask(RunningBourse service, String path, @Nullable String token, String headers) {
    SlowDownload download = new SlowDownload(service, path, token, headers);
    open.add(download);
    return download.status();
  }

  private static HttpResponse<byte[]> readFeed(String address, String id) {
    return bourse.with(null).fetch("GET", FEED + '/' + id + "/content", "X-Forwarded-For", address);
  }

  @Test
  void oneOrganizationsSlowReadersKeepNobodyElseFromDownloading() {
    List<Integer> answers = acme.stream().map(id -> trickle("acme", "alice", id)).toList();
    assertEquals(200, answers.get(0));

    HttpResponse<byte[]> other = dave.fetch("GET", content(globex));
    assertEquals(200, other.statusCode());
    assertArrayEquals(SMALL, other.body());
    assertEquals(200, readFeed("203.0.113.9", feed.get(0)).statusCode());
    assertTrue(answers.contains(503), "the one that takes too much is refused: " + answers);

    int refused = answers.indexOf(503);
    String told =
        alice.get(content(acme.get(refused))).refused(ErrorCode.OVERLOADED).getString("detail");
    assertTrue(told.contains("different files"), told);
    end();
    assertEquals(200, alice.fetch("GET", content(acme.get(refused))).statusCode());
  }

  @Test
  void manyReadersOfOneFileTakeOnePlace() {
    for (int i = 0; i < 4 * OPEN_FILES; i++) {
      assertEquals(200, trickle("acme", "alice", acme.get(0)));
    }
    assertEquals(200, trickle("acme", "alice", acme.get(1)));
    assertEquals(200, dave.fetch("GET", content(globex)).statusCode());
  }

  @Test
  void oneAddressOnTheFeedKeepsNeitherOthersNorMembersFromDownloading() {
    List<Integer> answers = feed.stream().map(id -> trickleFeed("203.0.113.1", id)).toList();
    assertEquals(200, answers.get(0));

    for (String id : feed) {
      assertEquals(200, readFeed("203.0.113.2", id).statusCode());
    }
    assertEquals(200, dave.fetch("GET", content(globex)).statusCode());
    assertTrue(answers.contains(503), "the one that takes too much is refused: " + answers);
  }

  @Test
  void manyAddressesOnTheFeedKeepNoMemberFromDownloading() {
    for (int i = 0; i < feed.size(); i++) {
      trickleFeed("203.0.113." + (100 + i), feed.get(i));
    }
    for (String id : acme.subList(0, 2)) {
      assertEquals(200, trickle("acme", "alice", id));
    }
    assertEquals(200, dave.fetch("GET", content(globex)).statusCode());
  }

  @Test
  @Slow("starts an object store and a service")
  void oneAddressThatReadsOneFileOfAnObjectStoreOftenKeepsNobodyElseFromDownloading() {
    S3Server objects = S3Server.s3proxy();
    try (RunningBourse remote =
        RunningBourse.demo(
            objects.settings(
                objects.newBucket(),
                "checkpoints.open-files=" + OPEN_FILES,
                "proxies=127.0.0.1"))) {
      ApiClient publisher = remote.asMember("openlab", "carol");
      String id = publish(publisher, freshName(), LARGE, "public").getString("id");
      approve(remote, id).ok();
      String small = publish(publisher, freshName(), SMALL, "org").getString("id");
      List<Integer> answers = new ArrayList<>();
      for (int i = 0; i < 2 * OPEN_FILES; i++) {
        answers.add(trickleFeed(remote, "203.0.113.1", id));
      }
      assertEquals(200, answers.get(0));
      assertEquals(503, answers.get(answers.size() - 1));
      assertEquals(200, trickleFeed(remote, "203.0.113.2", id));
      assertArrayEquals(SMALL, publisher.fetch("GET", content(small)).body());
    }
  }

  @Test
  @Slow("waits for a window of 2 s, which a fast reader has to keep up with on a busy machine")
  void whoTakesAFileTooSlowlyIsCutOffAndWhoTakesItFastIsNot() {
    try (RunningBourse hasty =
        RunningBourse.demo("limits.download-rate=512KiB", "limits.download-window=2s")) {
      ApiClient member = hasty.asMember("acme", "alice");
      byte[] bytes = bytes(30 << 20, 5);
      String id = publish(member, freshName(), bytes, "org").getString("id");
      try (SlowDownload slow =
          new SlowDownload(hasty, content(id), hasty.memberToken("acme", "alice"), "")) {
        assertEquals(200, slow.status());
        long taken = 0;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        // It never stops reading, so no idle time-out ends it.
        while (slow.take() >= 0) {
          taken++;
          assertTrue(System.nanoTime() < deadline, taken + " bytes, and not cut off");
          LockSupport.parkNanos(1_000);
        }
        assertTrue(taken < bytes.length, taken + " bytes are all");
      }
      assertArrayEquals(bytes, member.fetch("GET", content(id)).body());
    }
  }
}
