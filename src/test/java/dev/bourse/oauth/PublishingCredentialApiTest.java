package dev.bourse.oauth;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.put;
import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HeldRequest;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.McpClient;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Publishing credentials: what a job can do with one, and what ends it. */
@EachEngine
class PublishingCredentialApiTest extends PublishingCredentialFixture {
  /** The only operations that take a publishing credential. */
  private static final Set<String> PUBLISHING =
      Set.of(
          "publishCheckpoint",
          "publishCheckpointSet",
          "writeCheckpointContent",
          "commitCheckpoint");

  @Test
  void aJobPublishesFilesAndFoldersInTheMembersName() {
    JsonObject credential = minted(MUCH);
    ApiClient job = job(credential);
    byte[] bytes = bytes(1_000, 3);
    JsonObject item = publish(job, freshName(), bytes, "org");
    assertEquals("alice", item.getJsonObject("publisher").getString("username"));
    assertArrayEquals(
        bytes, bourse.asMember("acme", "alice").fetch("GET", content(item.getString("id"))).body());
    Begun begun = Begun.with(job);
    begun.rest().ok();
    begun.commit(job).ok();
    JsonObject set =
        job.post(
                FAMILY + "/sets",
                new JsonObject()
                    .put("title", "run")
                    .put("filename", "run-" + freshName())
                    .put("visibility", "org")
                    .put(
                        "files",
                        new JsonArray()
                            .add(
                                new JsonObject()
                                    .put("path", "a.bin")
                                    .put("bytes", 1_000)
                                    .put("sha256", FilesFixture.sha256(bytes)))))
            .json();
    anybody.sendBytes("PUT", path(set.getString("session_url")) + "/0", bytes).ok();
    job.post(item(set.getString("id")) + "/commit", new JsonObject().put("bytes", 1_000)).ok();

    JsonObject listed = listed(credential);
    assertEquals(602_000, listed.getLong("published_bytes"));
    assertFalse(listed.containsKey("token"));
    String id = credential.getString("credential_id");
    JsonObject revision =
        alice
            .get(item(set.getString("id")) + "/revisions")
            .ok()
            .getJsonArray("revisions")
            .getJsonObject(0);
    assertEquals(id, revision.getString("credential_id"));
    assertEquals(1, revision.getInteger("files"));
    assertEquals(1_000, revision.getInteger("bytes"), "the sum of its files");
    List<String> trail =
        bourse.audit("acme", false).stream()
            .filter(row -> row.detail().contains("credential_id=" + id))
            .map(row -> row.actor() + ' ' + row.action())
            .toList();
    assertEquals(3, trail.stream().filter("member:alice checkpoint_publish"::equals).count());
    assertEquals(3, trail.stream().filter("member:alice checkpoint_create"::equals).count());
    assertTrue(
        alice.get("/api/console/applications").ok().getJsonArray("applications").stream()
            .noneMatch(one -> ((JsonObject) one).getString("application_id").equals(id)),
        "it is no application");
  }

  @TestFactory
  Stream<DynamicTest> everyOtherOperationRefusesIt() {
    ApiClient job = job(minted(MUCH));
    List<ContractCase> calls =
        ContractCase.ALL.stream()
            .filter(call -> !call.isForAnybody())
            .filter(call -> !PUBLISHING.contains(call.operationId()))
            .toList();
    assertTrue(calls.size() > 150, "there are as many: " + calls.size());
    return calls.stream()
        .map(
            call ->
                DynamicTest.dynamicTest(
                    call.operationId(), () -> call.sentBy(job).refused(ErrorCode.UNAUTHORIZED)));
  }

  @Test
  void exactlyTheOperationsThatPublishTakeIt() {
    Set<String> taking = new TreeSet<>();
    ContractCase.ALL.stream()
        .filter(call -> call.described().schemes().contains(Principal.PUBLISHING_SCHEME))
        .forEach(call -> taking.add(call.operationId()));
    assertEquals(new TreeSet<>(PUBLISHING), taking);
  }

  @Test
  void concurrentAnnouncementsStayWithinTheLimit() {
    JsonObject credential = minted(1_000);
    ApiClient job = job(credential);
    byte[] bytes = bytes(300, 1);
    List<HttpAnswer> answers =
        together(8, i -> job.post(FAMILY, publication(freshName(), bytes, "org")));
    List<JsonObject> taken =
        answers.stream().filter(a -> a.status() == 201).map(HttpAnswer::json).toList();
    assertEquals(3, taken.size());
    answers.stream()
        .filter(a -> a.status() != 201)
        .forEach(
            a -> assertEquals("max_bytes", a.refused(ErrorCode.TOKEN_LIMIT).getString("limit")));
    taken.forEach(t -> put(job, t.getString("id"), FilesFixture.TYPE, bytes).ok());
    assertEquals(900, listed(credential).getLong("published_bytes"));
    String name = freshName();
    job.post(FAMILY, publication(name, bytes(101, 1), "org")).refused(ErrorCode.TOKEN_LIMIT);
    for (int i = 0; i < 3; i++) {
      // An announcement replaces the previous one of its name.
      announce(job, publication(name, bytes(100, 1), "org"));
    }
    assertEquals(1_000, listed(credential).getLong("published_bytes"));
  }

  @Test
  void deletedItemsDoNotGiveBytesBack() {
    JsonObject credential = minted(1_000);
    JsonObject item = publish(job(credential), freshName(), bytes(600, 1), "org");
    alice.delete(item(item.getString("id"))).ok();
    assertEquals(600, listed(credential).getLong("published_bytes"));
    job(credential)
        .post(FAMILY, publication(freshName(), bytes(600, 1), "org"))
        .refused(ErrorCode.TOKEN_LIMIT);
  }

  @Test
  void aRevokedOneStopsInTheMiddleOfAnUpload() {
    JsonObject credential = minted(MUCH);
    ApiClient job = job(credential);
    Begun begun = Begun.with(job);
    byte[] bytes = bytes(1_000, 5);
    JsonObject announced =
        announce(job, publication(freshName(), bytes, "org").put("upload", "direct"));
    try (HeldRequest direct =
        new HeldRequest(
            bourse.service().baseUrl(),
            "PUT " + content(announced.getString("id")),
            bytes,
            "Content-Type: " + FilesFixture.TYPE,
            "Authorization: Bearer " + credential.getString("token"))) {
      revoke(credential).ok();
      direct.send();
      String answer = direct.answer();
      assertTrue(answer.startsWith("HTTP/1.1 4"), answer);
    }
    hasEnded(job, begun);
    assertEquals(
        "pending",
        alice.get(item(announced.getString("id"))).ok().getString("status"),
        "no byte was published");
    revoke(credential).refused(ErrorCode.NOT_FOUND);
    assertTrue(
        bourse.audit("acme", false).stream()
            .anyMatch(
                row ->
                    row.action().equals("oauth_revoke")
                        && row.detail().contains(credential.getString("credential_id"))));
  }

  @Test
  void theMemberCannotFinishWhatARevokedOneBegan() {
    JsonObject credential = minted(MUCH);
    Begun begun = Begun.with(job(credential));
    begun.rest().ok();
    revoke(credential).ok();
    String detail = begun.commit(alice).refused(ErrorCode.GONE).getString("detail");
    assertTrue(detail.contains("announce"), detail);
  }

  @Test
  void aJobAnnouncesNoEmptyFiles() {
    JsonObject refused =
        job(minted(MUCH))
            .post(FAMILY, publication(freshName(), new byte[0], "org"))
            .refused(ErrorCode.BAD_REQUEST);
    assertTrue(refused.getString("detail").startsWith("bytes: "), refused.encode());
    announce(alice, publication(freshName(), new byte[0], "org"));
  }

  @Test
  void aJobDoesNotSeeThatItMayDelete() {
    JsonObject item = publish(job(minted(MUCH)), freshName(), bytes(10, 1), "org");
    assertEquals(false, item.getBoolean("can_delete"));
    assertEquals(true, alice.get(item(item.getString("id"))).ok().getBoolean("can_delete"));
  }

  @Test
  void thePageThatSignsOutEverywhereListsIt() {
    minted(alice, order("listed before it ends", MUCH));
    String page =
        new String(
            alice.fetch("GET", "/sign-out/everywhere").body(),
            java.nio.charset.StandardCharsets.UTF_8);
    assertTrue(page.contains("listed before it ends"), page);
  }

  @Test
  void itIsNotAnApplication() {
    JsonObject credential = minted(MUCH);
    String id = credential.getString("credential_id");
    alice.delete("/api/console/applications/" + id).refused(ErrorCode.NOT_FOUND);
    publish(job(credential), freshName(), bytes(10, 1), "org");
  }

  @Test
  void itEndsWithItsNode() {
    ClusterClient train = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-train");
    String node = train.hold(1, 5).get(0);
    JsonObject other = order("elsewhere", MUCH).put("node", node);
    bourse.inSession("openlab", "carol").post(CREDENTIALS, other).refused(ErrorCode.UNKNOWN_NODE);
    alice
        .post(CREDENTIALS, order("none", MUCH).put("node", "192.0.2.9"))
        .refused(ErrorCode.UNKNOWN_NODE);

    JsonObject credential = minted(alice, order("run", MUCH).put("node", node));
    ApiClient job = job(credential);
    publish(job, freshName(), bytes(10, 1), "org");
    assertEquals(node, listed(credential).getString("node"));
    Begun begun = Begun.with(job);
    train.declare(0, 5);
    train.untilHeld(0);
    hasEnded(job, begun);
    String id = credential.getString("credential_id");
    assertEquals(
        List.of("system:market"),
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("oauth_revoke") && row.detail().contains(id))
            .map(row -> row.actor())
            .toList());
    assertTrue(
        listed(alice).stream()
            .noneMatch(
                one ->
                    one.getString("credential_id").equals(credential.getString("credential_id"))));
  }

  @Test
  void itEndsWithANodeOfAKubernetesClusterByName() {
    JsonObject cluster = new JsonObject().put("org", "acme").put("kind", "k8s");
    cluster.put("name", "acme-credentials").put("pool", "demo-h100");
    assertEquals(201, bourse.operator().post("/api/operator/clusters", cluster).status());
    JsonObject bid = new JsonObject().put("cluster", "acme-credentials").put("max_gpus", 8);
    bid.put("limit_price_per_gpu_hour", 5).put("expected_version", 0);
    ApiClient tenant = bourse.as("acme", "orgwide");
    tenant.put("/api/k8s/bid", bid).ok();
    Supplier<JsonArray> nodes =
        () -> tenant.get("/api/k8s/clusters/acme-credentials").ok().getJsonArray("nodes");
    until("a node is granted", () -> !nodes.get().isEmpty());
    String name = nodes.get().getJsonObject(0).getString("name");
    JsonObject order = order("run", MUCH).put("node", name);
    bourse.inSession("openlab", "carol").post(CREDENTIALS, order).refused(ErrorCode.UNKNOWN_NODE);
    JsonObject credential = minted(alice, order);
    assertEquals(name, listed(credential).getString("node"));
    Begun begun = Begun.with(job(credential));
    tenant.put("/api/k8s/bid", bid.put("max_gpus", 0).put("expected_version", 1)).ok();
    hasEnded(job(credential), begun);
  }

  @Test
  void itEndsWhenTheMemberLeaves() {
    ApiClient erin = joined("erin");
    JsonObject credential = minted(erin, order("training", MUCH));
    ApiClient job = job(credential);
    Begun begun = Begun.with(job);
    bourse.operator().delete("/api/operator/orgs/acme/members/erin").ok();
    hasEnded(job, begun);
  }

  @Test
  void itEndsWhenTheMemberIsSuspendedAndStaysEnded() {
    ApiClient frank = joined("frank");
    ApiClient job = job(minted(frank, order("training", MUCH)));
    Begun begun = Begun.with(job);
    String member = "/api/operator/orgs/acme/members/frank";
    bourse.operator().patch(member, new JsonObject().put("suspended", true)).ok();
    hasEnded(job, begun);
    bourse.operator().patch(member, new JsonObject().put("suspended", false)).ok();
    hasEnded(job, begun);
  }

  @Test
  void disconnectingEverythingEndsItToo() {
    ApiClient grace = joined("grace");
    ApiClient job = job(minted(grace, order("training", MUCH)));
    Begun begun = Begun.with(job);
    grace.delete("/api/console/applications").ok();
    hasEnded(job, begun);
  }

  @Test
  void signingOutEverywhereEndsItToo() {
    ApiClient nina = joined("nina");
    ApiClient job = job(minted(nina, order("training", MUCH)));
    Begun begun = Begun.with(job);
    nina.send("POST", "/api/console/sign-out-everywhere", null).ok();
    hasEnded(job, begun);
  }

  @Test
  void itReplacesOnlyWhatCredentialsOfTheMemberPublished() {
    String name = freshName();
    JsonObject first = publish(job(minted(MUCH)), name, bytes(10, 1), "org");
    JsonObject second = publish(job(minted(MUCH)), name, bytes(20, 1), "org");
    assertEquals(first.getString("id"), second.getString("id"));

    JsonObject own = publish(alice, freshName(), bytes(10, 1), "org");
    ApiClient job = job(minted(MUCH));
    conflict(
        "exists", job.post(FAMILY, publication(own.getString("filename"), bytes(20, 1), "org")));
    job.post(
            FAMILY,
            publication(freshName(), bytes(20, 1), "org").put("replace", own.getString("id")))
        .refused(ErrorCode.GONE);
    JsonObject draft =
        announce(alice, publication(freshName(), bytes(10, 1), "org").put("upload", "direct"));
    put(job, draft.getString("id"), FilesFixture.TYPE, bytes(10, 1)).refused(ErrorCode.GONE);
    JsonObject drafted =
        announce(
            job(minted(MUCH)),
            publication(freshName(), bytes(10, 1), "org").put("upload", "direct"));
    put(job, drafted.getString("id"), FilesFixture.TYPE, bytes(10, 1)).refused(ErrorCode.GONE);
  }

  @Test
  void onlyAMemberInFullRightMintsOne() {
    JsonObject order = order("x", MUCH);
    bourse.as("acme", "orgwide").post(CREDENTIALS, order).refused(ErrorCode.UNAUTHORIZED);
    bourse
        .with(McpClient.token(bourse, "acme", "alice", Set.of(Scope.ORG_WRITE)))
        .post(CREDENTIALS, order)
        .refused(ErrorCode.FORBIDDEN);
    bourse
        .with(McpClient.token(bourse, "acme", "alice", Set.of(Scope.CHECKPOINTS_WRITE)))
        .post(CREDENTIALS, order)
        .refused(ErrorCode.FORBIDDEN);
    for (String expiry :
        List.of(
            Times.rfc3339(clock.millis() + 30 * DAY + 60_000),
            Times.rfc3339(clock.millis() - 1_000),
            "tomorrow")) {
      alice
          .post(CREDENTIALS, order("x", MUCH).put("expires_at", expiry))
          .refused(ErrorCode.BAD_REQUEST);
    }
    alice.post(CREDENTIALS, order("x", 0)).refused(ErrorCode.BAD_REQUEST);
    minted(alice, order("y", 1).put("expires_at", Times.rfc3339(clock.millis() + 30 * DAY)));
    assertTrue(listed(bourse.inSession("acme", "bob")).isEmpty(), "other members do not see them");
    bourse
        .inSession("acme", "bob")
        .delete(CREDENTIALS + '/' + minted(1).getString("credential_id"))
        .refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void aMemberHasAtMostTwenty() {
    ApiClient heidi = joined("heidi");
    List<HttpAnswer> answers = together(24, i -> heidi.post(CREDENTIALS, order("job " + i, MUCH)));
    assertEquals(20, answers.stream().filter(a -> a.status() == 201).count());
    answers.stream().filter(a -> a.status() != 201).forEach(a -> conflict("limit", a));
    assertEquals(20, listed(heidi).size());
  }

  private static List<HttpAnswer> together(int calls, IntFunction<HttpAnswer> call) {
    List<CompletableFuture<HttpAnswer>> sent = new ArrayList<>();
    IntStream.range(0, calls)
        .forEach(i -> sent.add(CompletableFuture.supplyAsync(() -> call.apply(i))));
    return sent.stream().map(CompletableFuture::join).toList();
  }
}
