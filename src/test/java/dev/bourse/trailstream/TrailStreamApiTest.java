package dev.bourse.trailstream;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.audit.Sealer;
import dev.bourse.audit.TrailProof;
import dev.bourse.audit.TrailProof.ProvenChain;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ports;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.Receiver.Received;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.TestMarket;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/** Destinations of trails, and the batches that arrive there. */
@EachEngine
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
class TrailStreamApiTest {
  private static final String ROOT = "/api/console/trail-stream";
  private static final String SECRET = ROOT + "/secret";
  private static final int MARKETS = 30;

  private static RunningBourse bourse;
  private static Vertx vertx;

  private final List<AutoCloseable> open = new ArrayList<>();
  private TestMarket market;
  private ApiClient member;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    // The tests seal explicitly, because a shared store would delay each seal by a minute.
    bourse =
        RunningBourse.withMarkets(
            MARKETS,
            "secret.key=" + "ab".repeat(32),
            "webhooks.private-hosts=localhost",
            "audit.seal-interval=24h");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    RunningBourse.await(vertx.close());
  }

  @BeforeEach
  void join() {
    market = bourse.market();
    member = memberOf(market.red(), "ann", Scope.ORG_READ, Scope.ORG_WRITE);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    member.delete(ROOT);
  }

  private static ApiClient memberOf(String org, String username, Scope... scopes) {
    HttpAnswer added =
        bourse
            .operator()
            .post(
                "/api/operator/orgs/" + org + "/members",
                new JsonObject()
                    .put("username", username)
                    .put("email", username + '@' + org + ".example")
                    .put("name", username));
    assertEquals(201, added.status(), added.toString());
    return bourse.with(McpClient.token(bourse, org, username, Set.of(scopes)));
  }

  private Receiver receiver(Receiver receiver) {
    open.add(receiver);
    return receiver;
  }

  private static void sql(String text, Object... parameters) {
    RunningBourse.await(bourse.database().commit(List.of(Statement.of(text, parameters))));
  }

  /**
   * Seals all rows into batches. One round leaves the rest to another process that seals at the
   * same time, and rows above an open commit to the next round.
   */
  private static void seal() {
    long newest = id("SELECT COALESCE(MAX(id), 0) AS id FROM audit");
    Sealer sealer = new Sealer(vertx, bourse.database(), Clock.systemUTC());
    until(
        "all is sealed",
        () -> {
          while (RunningBourse.await(sealer.step())) {
            Thread.onSpinWait();
          }
          return id("SELECT COALESCE(MAX(through_id), 0) AS id FROM audit_sealed") >= newest;
        });
  }

  private static long id(String sql) {
    return RunningBourse.await(bourse.database().readOne(sql, List.of(), row -> row.integer("id")));
  }

  /** Adds a number of batches of at least one row each. */
  private void batches(int count) {
    for (int i = 0; i < count; i++) {
      mint();
      seal();
    }
  }

  private void mint() {
    HttpAnswer minted =
        member.post(
            "/api/console/tokens",
            new JsonObject().put("name", "größer \"n\"").put("scopes", new JsonArray()));
    assertEquals(201, minted.status(), minted.toString());
  }

  private static JsonObject order(String destination) {
    return new JsonObject().put("destination", destination);
  }

  private JsonObject set(JsonObject order) {
    return member.put(ROOT, order).ok();
  }

  private JsonObject read() {
    return member.get(ROOT).ok();
  }

  private void untilTaken() {
    until(
        "all is taken",
        () ->
            read().getJsonObject("writes").getLong("behind") == 0
                && (read().getJsonObject("reads") == null
                    || read().getJsonObject("reads").getLong("behind") == 0));
  }

  private static List<ProvenChain> proven(List<String> bodies) {
    TrailProof proof = new TrailProof();
    try {
      for (int i = 0; i < bodies.size(); i++) {
        List<String> lines = bodies.get(i).lines().toList();
        for (int line = 0; line < lines.size(); line++) {
          proof.line("body" + i, line + 1, lines.get(line));
        }
        proof.end("body" + i, lines.size());
      }
      return proof.chains();
    } catch (TrailProof.UnsoundTrailException e) {
      throw new AssertionError(e);
    }
  }

  private static List<ProvenChain> provenOf(Receiver receiver) {
    return proven(receiver.taken().stream().map(Received::text).toList());
  }

  /** Returns the batches of the writes in the order of their arrival. */
  private List<Long> taken(Receiver receiver) {
    String prefix = "msg_trail_" + market.red() + "_writes_";
    return receiver.taken().stream()
        .map(Received::id)
        .filter(id -> id.startsWith(prefix))
        .map(id -> Long.valueOf(id.substring(prefix.length())))
        .toList();
  }

  private static List<Long> upTo(long last) {
    return Stream.iterate(1L, i -> i <= last, i -> i + 1).toList();
  }

  @Test
  void everyBatchComesOnceInItsOrderSignedAndTogetherTheyAreTheWholeChain() {
    batches(3);
    Receiver receiver = receiver(new Receiver());
    String secret = set(order(receiver.url())).getString("secret");
    batches(2);
    untilTaken();
    JsonObject writes = read().getJsonObject("writes");
    assertEquals(upTo(writes.getLong("sealed_batch")), taken(receiver));
    assertEquals(receiver.received().size(), receiver.taken().size());
    for (Received each : receiver.taken()) {
      assertTrue(each.isSignedWith(secret), each.id());
    }
    ProvenChain chain = provenOf(receiver).get(0);
    assertEquals(1, chain.firstBatch());
    assertEquals(writes.getString("head"), chain.head());
    assertEquals(market.red(), chain.orgId());
    assertEquals(
        count(
            """
            audit WHERE org_id = ? AND is_read = 0
            AND id <= (SELECT MAX(through_id) FROM audit_sealed)\
            """),
        chain.rows());
  }

  /** Counts the organization's rows of a table. */
  private long count(String of) {
    Long count =
        RunningBourse.await(
            bourse
                .database()
                .readOne(
                    "SELECT COUNT(*) AS n FROM " + of,
                    List.of(market.red()),
                    row -> row.integer("n")));
    return count;
  }

  @Test
  void aBatchThatIsRefusedIsTriedAgainWithTheSameIdAndBytesBeforeTheNext() {
    batches(2);
    // It refuses until the refusal has been looked at, however long that takes.
    Receiver receiver = receiver(new Receiver(m -> 500));
    set(order(receiver.url()));
    until("the first is refused", () -> read().getInteger("attempts") > 0);
    JsonObject failing = read();
    assertEquals("answered with status 500: status 500", failing.getString("fault"));
    assertEquals(500, failing.getInteger("response_status"));
    assertFalse(failing.getString("next_attempt_at").isEmpty());
    assertTrue(failing.getJsonObject("writes").getLong("behind") >= 2);
    receiver.answer(m -> 200);
    // A stream is tried at once when it is set; StreamerTest tests the pause before a retry.
    set(order(receiver.url()));
    untilTaken();
    List<Received> all = receiver.received();
    int refusals = all.size() - receiver.taken().size();
    assertTrue(refusals > 0, all::toString);
    for (Received again : all.subList(1, refusals + 1)) {
      assertEquals(all.get(0).id(), again.id());
      assertEquals(all.get(0).text(), again.text());
    }
    assertEquals(upTo(all.size() - refusals), taken(receiver));
    assertNull(read().getString("fault"));
    assertEquals(0, read().getInteger("attempts"));
  }

  @Test
  void readsAreAChainOfTheirOwnWhenTheyAreAskedFor() {
    market.redA().addKey();
    market.red("orgwide").get("/api/vm/orgs/" + market.red() + "/ssh-keys").ok();
    until("the read is stored", () -> count("audit WHERE org_id = ? AND is_read = 1") > 0);
    seal();
    Receiver receiver = receiver(new Receiver());
    assertNull(set(order(receiver.url())).getValue("reads"));
    untilTaken();
    assertEquals(List.of("writes"), provenOf(receiver).stream().map(ProvenChain::name).toList());
    set(order(receiver.url()).put("include_reads", true));
    untilTaken();
    assertEquals(
        List.of("writes", "reads"), provenOf(receiver).stream().map(ProvenChain::name).toList());
    assertEquals(upTo(taken(receiver).size()), taken(receiver));
  }

  @Test
  void aBatchThatIsPurgedMeanwhileIsSentAsItsSealAndTheChainStaysWhole() {
    batches(2);
    Receiver receiver = receiver(new Receiver());
    set(order(receiver.url()).put("enabled", false));
    batches(1);
    purge(1);
    set(order(receiver.url()));
    untilTaken();
    assertEquals(1, receiver.taken().get(0).text().lines().count());
    ProvenChain chain = provenOf(receiver).get(0);
    assertEquals(1, chain.purgedBatches());
    assertEquals(1, chain.firstBatch());
    assertEquals(read().getJsonObject("writes").getString("head"), chain.head());
  }

  private void purge(long batch) {
    sql(
        """
        DELETE FROM audit WHERE org_id = ? AND is_read = 0 AND id <= (SELECT last_id FROM audit_seal
        WHERE org_id = ? AND is_read = 0 AND batch = ?)\
        """,
        market.red(),
        market.red(),
        batch);
    sql(
        """
        UPDATE audit_seal SET purged_at = 1, row_digests = substr(row_digests, 1, 32)
        WHERE org_id = ? AND is_read = 0 AND batch <= ?\
        """,
        market.red(),
        batch);
  }

  @Test
  void aNewStreamBeginsAtTheOldestBatchThatIsKept() {
    batches(3);
    purge(2);
    Receiver receiver = receiver(new Receiver());
    // A paused stream is not sent before it is read.
    JsonObject paused = set(order(receiver.url()).put("enabled", false));
    assertEquals(2, paused.getJsonObject("writes").getLong("taken_batch"));
    set(order(receiver.url()));
    untilTaken();
    assertEquals(3, provenOf(receiver).get(0).firstBatch());
  }

  @Test
  void aStreamFromNowOnHasNothingOfBeforeAndMayBeSentAnew() {
    batches(2);
    Receiver receiver = receiver(new Receiver());
    JsonObject begun = set(order(receiver.url()).put("start", "now"));
    assertEquals(0, begun.getJsonObject("writes").getLong("behind"));
    batches(1);
    untilTaken();
    long first = begun.getJsonObject("writes").getLong("taken_batch") + 1;
    assertEquals(first, taken(receiver).get(0));
    set(order(receiver.url()).put("start", "oldest"));
    untilTaken();
    assertEquals(1, provenOf(receiver).get(0).firstBatch());
  }

  @Test
  void aReceiverThatAnswersGoneSwitchesItOffWithMailAndSetAgainItGoesOn() {
    batches(1);
    Receiver receiver = receiver(new Receiver(message -> 410));
    set(order(receiver.url()));
    until("it is switched off", () -> !read().getBoolean("enabled"));
    assertEquals("gone", read().getString("disabled_reason"));
    assertEquals(1, receiver.received().size());
    assertTrue(
        bourse.audit(market.red(), false).stream()
            .anyMatch(
                row ->
                    row.action().equals("trail_stream_disable")
                        && row.actor().equals("system:trail-stream")));
    until("a mail is there", () -> mails().stream().anyMatch(m -> m.contains(receiver.url())));
    receiver.answer(message -> 200);
    assertNull(set(order(receiver.url())).getString("secret"));
    untilTaken();
    assertEquals(upTo(taken(receiver).size()), taken(receiver));
  }

  private static List<String> mails() {
    Path folder = bourse.data().resolve("outbox");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      List<String> mails = new ArrayList<>();
      for (Path file : files.filter(f -> f.toString().endsWith(".eml")).toList()) {
        mails.add(Files.readString(file));
      }
      return mails;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aStreamThatIsPausedGoesOnWhereItStopped() {
    batches(1);
    Receiver receiver = receiver(new Receiver());
    set(order(receiver.url()));
    untilTaken();
    JsonObject paused = set(order(receiver.url()).put("enabled", false));
    assertEquals("switched-off", paused.getString("disabled_reason"));
    batches(2);
    assertTrue(read().getJsonObject("writes").getLong("behind") >= 2);
    set(order(receiver.url()));
    untilTaken();
    assertEquals(upTo(taken(receiver).size()), taken(receiver));
  }

  @Test
  void aStreamWhoseHostIsAwayCanBePausedAndSwitchedOnAndTellsWhatIsWrong() {
    batches(1);
    String gone = "https://siem.invalid/bourse";
    set(order("http://localhost:1/").put("enabled", false));
    sql("UPDATE trail_stream SET destination = ? WHERE org_id = ?", gone, market.red());
    set(order(gone));
    until("it is tried", () -> read().getInteger("attempts") > 0);
    assertEquals(
        "its host is not known, or has an address that is not public", read().getString("fault"));
    assertFalse(set(order(gone).put("enabled", false)).getBoolean("enabled"));
    refused(order("https://other.invalid/"), "destination: ");
  }

  @Test
  void aRedirectIsNotFollowed() {
    batches(1);
    Receiver receiver = receiver(new Receiver(message -> 307));
    set(order(receiver.url()));
    until("it is refused", () -> read().getInteger("attempts") > 0);
    assertEquals(307, read().getInteger("response_status"));
    // A later attempt has a time of its own, and a redirect that is followed repeats it.
    List<String> times = receiver.received().stream().map(Received::timestamp).toList();
    assertEquals(times.stream().distinct().toList(), times);
  }

  @Test
  void whileTheSecretIsRotatedBothSign() {
    Receiver receiver = receiver(new Receiver());
    String first = set(order(receiver.url())).getString("secret");
    JsonObject rotated = member.post(SECRET, new JsonObject()).ok();
    String second = rotated.getString("secret");
    assertNotEquals(first, second);
    assertFalse(rotated.getString("old_secret_until").isEmpty());
    batches(1);
    untilTaken();
    List<Received> taken = receiver.taken();
    Received last = taken.get(taken.size() - 1);
    assertTrue(last.isSignedWith(first) && last.isSignedWith(second), last.id());
    assertFalse(member.get(ROOT).toString().contains("whsec_"));
  }

  private static String store(S3Server server, String bucket) {
    return store(server.port(), bucket);
  }

  private static String store(int port, String bucket) {
    return "s3://%s/acme/trail?endpoint=http://localhost:%s&region=%s"
        .formatted(bucket, port, S3Server.REGION);
  }

  private static JsonObject storeOrder(String destination) {
    return order(destination)
        .put("access_key_id", S3Server.ACCESS_KEY)
        .put("secret_access_key", S3Server.SECRET_KEY);
  }

  private static List<String> objects(S3Server server, String bucket) {
    try (S3Client client = server.client()) {
      return client.listObjectsV2(r -> r.bucket(bucket)).contents().stream()
          .map(
              object ->
                  client
                      .getObjectAsBytes(r -> r.bucket(bucket).key(object.key()))
                      .asString(StandardCharsets.UTF_8))
          .toList();
    }
  }

  /** Takes seconds, because it starts two object stores. */
  @OneEngine("the store's engine does not affect requests to an object store")
  @Test
  void anObjectStoreGetsAnObjectForEachBatch() {
    batches(2);
    for (S3Server server : List.of(S3Server.s3proxy(), S3Server.s3mock())) {
      String bucket = server.newBucket();
      JsonObject set = set(storeOrder(store(server, bucket)).put("start", "oldest"));
      assertNull(set.getString("secret"));
      assertEquals(S3Server.ACCESS_KEY, set.getString("access_key_id"));
      untilTaken();
      List<String> bodies = objects(server, bucket);
      assertEquals(read().getJsonObject("writes").getString("head"), proven(bodies).get(0).head());
      String first = server.objects(bucket).get(0);
      assertTrue(
          first.startsWith("acme/trail/" + market.red() + "/writes/000000000001.ndjson"), first);
    }
    assertFalse(member.get(ROOT).toString().contains(S3Server.SECRET_KEY));
  }

  @OneEngine("an object store is asked the same whichever engine keeps the rows")
  @Test
  void anObjectStoreThatKnowsAnotherSecretRefusesAndTakesTheRightOneLater() {
    batches(1);
    S3Server server = S3Server.s3proxy();
    String bucket = server.newBucket();
    set(storeOrder(store(server, bucket)).put("secret_access_key", "another"));
    until("it is refused", () -> read().getInteger("attempts") > 0);
    assertEquals(403, read().getInteger("response_status"));
    set(storeOrder(store(server, bucket)));
    untilTaken();
    assertEquals(1, proven(objects(server, bucket)).get(0).firstBatch());
    // The stored key stays valid while neither it nor the address changes.
    set(order(store(server, bucket)).put("access_key_id", S3Server.ACCESS_KEY));
    batches(1);
    untilTaken();
    member.post(SECRET, new JsonObject()).refused(ErrorCode.CONFLICT);
  }

  @Test
  void aChangeFromOneReceiverToAnotherTakesItsSecretAlong() {
    String unreachable = store(Ports.free(), "bucket");
    Receiver receiver = receiver(new Receiver());
    set(order(receiver.url()));
    refused(order(unreachable).put("access_key_id", S3Server.ACCESS_KEY), "secret_access_key: ");
    set(storeOrder(unreachable));
    assertTrue(set(order(receiver.url())).getString("secret").startsWith("whsec_"));
    assertEquals(
        1,
        count(
            """
            encrypted_secret WHERE name LIKE
            (SELECT 'trail-stream/' || stream_id || '/%' FROM trail_stream WHERE org_id = ?)\
            """));
  }

  private void refused(JsonObject order, String begins) {
    JsonObject refusal = member.put(ROOT, order).refused(ErrorCode.BAD_REQUEST);
    assertTrue(refusal.getString("detail").startsWith(begins), refusal.encode());
  }

  @Test
  void anAddressThatOnlyThisMachineCanReachIsRefused() {
    for (String url :
        List.of(
            "https://127.0.0.1/",
            "https://10.1.2.3/x",
            "https://169.254.169.254/latest/meta-data",
            "https://localhost.localdomain/",
            "http://siem.example.com/",
            "https://93.184.216.34:22/",
            "https://user@siem.example.com/",
            "https://h.example/%zz",
            "nonsense")) {
      refused(order(url), "destination: ");
    }
    for (String store :
        List.of(
            "s3://",
            "s3://bucket/x?endpoint=https://10.0.0.1",
            "s3://bucket/x?endpoint=http://127.0.0.1:9000",
            "s3://bucket/x?endpoint=https://169.254.169.254&path-style=true",
            "s3://bucket/x?endpoint=https://objects.example.com:9000",
            "s3://bucket/x?timeout=60",
            "s3://bucket/x?endpoint=ftp://localhost")) {
      refused(storeOrder(store), "destination: ");
    }
    member.get(ROOT).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void eachFieldThatDoesNotFitIsNamed() {
    refused(order("s3://bucket/x"), "access_key_id: ");
    refused(order("s3://bucket/x").put("secret_access_key", "s"), "access_key_id: ");
    refused(order("http://localhost:1/").put("access_key_id", "a"), "access_key_id: ");
    refused(order("http://localhost:1/").put("secret_access_key", "s"), "secret_access_key: ");
    member
        .put(ROOT, order("http://localhost:1/").put("start", "never"))
        .refused(ErrorCode.BAD_REQUEST);
    member.put(ROOT, new JsonObject()).refused(ErrorCode.BAD_REQUEST);
    member.put(ROOT, order("http://localhost:1/").put("other", 1)).refused(ErrorCode.BAD_REQUEST);
  }

  @Test
  void whoMayOnlyReadTheOrganizationChangesNothingAndOthersSeeNothing() {
    member.get(ROOT).refused(ErrorCode.NOT_FOUND);
    member.delete(ROOT).refused(ErrorCode.NOT_FOUND);
    member.post(SECRET, new JsonObject()).refused(ErrorCode.NOT_FOUND);
    ApiClient reader = memberOf(market.red(), "rea", Scope.ORG_READ);
    reader.put(ROOT, order("http://localhost:1/")).refused(ErrorCode.FORBIDDEN);
    set(order("http://localhost:1/"));
    reader.get(ROOT).ok();
    reader.delete(ROOT).refused(ErrorCode.FORBIDDEN);
    reader.post(SECRET, new JsonObject()).refused(ErrorCode.FORBIDDEN);
    memberOf(market.red(), "non", Scope.CAPACITY_READ).get(ROOT).refused(ErrorCode.FORBIDDEN);
    market.red("orgwide").get(ROOT).refused(ErrorCode.UNAUTHORIZED);
    ApiClient other = memberOf(market.blue(), "oli", Scope.ORG_READ, Scope.ORG_WRITE);
    other.get(ROOT).refused(ErrorCode.NOT_FOUND);
    other.delete(ROOT).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void everyChangeIsInTheTrailWithoutASecret() {
    Receiver receiver = receiver(new Receiver());
    set(order(receiver.url()));
    member.post(SECRET, new JsonObject()).ok();
    set(order(receiver.url()).put("enabled", false));
    member.delete(ROOT).ok();
    assertEquals(
        List.of(
            "trail_stream_set", "trail_stream_rotate", "trail_stream_set", "trail_stream_delete"),
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.actor().equals("member:ann"))
            .map(row -> row.action())
            .filter(action -> action.startsWith("trail_stream_"))
            .toList());
    assertTrue(
        bourse.audit(market.red(), false).stream()
            .noneMatch(row -> row.detail().contains("whsec_")));
    member.get(ROOT).refused(ErrorCode.NOT_FOUND);
  }
}
