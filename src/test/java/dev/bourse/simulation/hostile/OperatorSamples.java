package dev.bourse.simulation.hostile;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/** Requests of operators. Each uses up an organization, a pool or a machine of its own. */
final class OperatorSamples {
  private static final String ROOT = "/api/operator/";
  private static final byte[] BYTES = bytes(300, 2);

  private final HostileTarget world;
  private final RunningBourse bourse;
  private final ApiClient operator;

  OperatorSamples(HostileTarget world) {
    this.world = world;
    this.bourse = world.bourse();
    this.operator = bourse.operator();
  }

  void add() {
    created("orgs", org("hostile"));
    created("pools", pool("spare"));
    created(
        "clusters",
        new JsonObject().put("name", "hostile-vm").put("org", "hostile").put("pool", "spare"));
    addOrgs();
    addBilling();
    addPlatform();
    addClusters();
    addNodes();
    addReviews();
    addDocuments();
  }

  private JsonObject created(String path, JsonObject body) {
    HttpAnswer answer = operator.post(ROOT + path, body);
    if (answer.status() != 201) {
      throw new AssertionError(path + " " + body + " " + answer);
    }
    return answer.json();
  }

  private static JsonObject org(String id) {
    return new JsonObject().put("org_id", id).put("display", "H").put("kind", "standard");
  }

  private static JsonObject member(String username) {
    return new JsonObject()
        .put("username", username)
        .put("email", username + "@h.example")
        .put("name", "M");
  }

  private static JsonObject pool(String name) {
    return new JsonObject()
        .put("name", name)
        .put("site", "s")
        .put("provider", "simulated")
        .put("gpu_vendor", "v")
        .put("gpu_model", "m")
        .put("gpus_per_node", 8)
        .put("reserve_price_per_gpu_hour", 1.25)
        .put("max_price_cap_per_gpu_hour", 10)
        .put("detector_armed", true)
        .put("swaps_enabled", true)
        .put("self_service", false)
        .put("tenants", "login")
        .put("ssh_user", "u")
        .put("ssh_port", 22)
        .put("env", new JsonObject().put("A", "b"))
        .put("storage", new JsonObject().put("a", "/b"));
  }

  private void list(String operationId, Map<String, String> values) {
    world.add(
        operationId,
        s -> {
          AcceptedRequest sample = s.value("limit", "5");
          for (Map.Entry<String, String> value : values.entrySet()) {
            sample = sample.value(value.getKey(), value.getValue());
          }
          return sample;
        });
  }

  private void addOrgs() {
    Map<String, String> org = Map.of("org", "hostile");
    list("listOrgs", Map.of("after", "a", "held", "operator"));
    list("listOrgMembers", org);
    list("listJoinRules", org);
    list("listOrgTokens", org);
    world.add("createOrg", s -> s.json(org(world.fresh("org"))));
    world.add("readOrg", s -> s.value("org", "hostile"));
    world.add(
        "updateOrg",
        s ->
            s.value("org", "hostile")
                .json(new JsonObject().put("display", "H").put("kind", "standard")));
    world.add(
        "retireOrg",
        s -> s.value("org", created("orgs", org(world.fresh("going"))).getString("org_id")));
    world.add(
        "holdOrg",
        s ->
            s.value("org", "hostile")
                .json(new JsonObject().put("stage", "notice").put("reason", "r")));
    world.add("liftOrg", s -> s.value("org", "hostile"));
    world.add("addMember", s -> s.value("org", "hostile").json(member(world.fresh("m"))));
    world.add(
        "updateMember",
        s ->
            s.value("org", "hostile")
                .value("username", newMember())
                .json(new JsonObject().put("suspended", false).put("name", "N")));
    world.add("removeMember", s -> s.value("org", "hostile").value("username", newMember()));
    world.add(
        "addJoinRule",
        s ->
            s.value("org", "hostile")
                .json(
                    new JsonObject()
                        .put("kind", "domain")
                        .put("value", world.fresh("d") + ".example")));
    world.add("approveJoinRule", s -> s.value("org", "hostile").value("rule_id", newRule()));
    world.add("removeJoinRule", s -> s.value("org", "hostile").value("rule_id", newRule()));
    world.add(
        "inviteMember",
        s ->
            s.value("org", "hostile")
                .json(new JsonObject().put("email", world.fresh("i") + "@h.example")));
    world.add("mintToken", s -> s.value("org", "hostile").json(token()));
    world.add(
        "narrowToken",
        s ->
            s.value("org", "hostile")
                .value("token_id", newToken())
                .json(
                    new JsonObject()
                        .put(
                            "limits", new JsonObject().put("max_gpus", 8).put("max_lease", "8h"))));
    world.add("revokeToken", s -> s.value("org", "hostile").value("token_id", newToken()));
  }

  private String newMember() {
    return created("orgs/hostile/members", member(world.fresh("m"))).getString("username");
  }

  private String newRule() {
    JsonObject rule =
        new JsonObject().put("kind", "domain").put("value", world.fresh("r") + ".example");
    return created("orgs/hostile/rules", rule).getString("rule_id");
  }

  private JsonObject token() {
    return new JsonObject()
        .put("name", world.fresh("t"))
        .put("scopes", new JsonArray().add("capacity:read"))
        .put("cluster", "hostile-vm")
        .put("expires_at", "2999-01-01T00:00:00Z");
  }

  private String newToken() {
    return created("orgs/hostile/tokens", token()).getString("token_id");
  }

  private void addBilling() {
    world.add("readBilling", s -> s.value("org", "hostile"));
    list("listOrgUsage", Map.of("org", "hostile", "from", "2026-01-01T00:00:00Z"));
    list("listOrgLedger", Map.of("org", "hostile", "after", "1000"));
    world.add("listOrgStatements", s -> s.value("org", "hostile"));
    world.add(
        "readOrgStatement", s -> s.value("org", "hostile").value("month", "2026-01").refused());
    for (String id : List.of("creditBilling", "payBilling")) {
      world.add(
          id,
          s ->
              s.value("org", "hostile")
                  .json(
                      new JsonObject()
                          .put("amount_usd", 1.25)
                          .put("idempotency_key", world.fresh("k"))
                          .put("memo", "m")));
    }
    world.add(
        "limitBilling",
        s -> s.value("org", "hostile").json(new JsonObject().put("limit_usd", 100)));
    world.add("unlimitBilling", s -> s.value("org", "hostile"));
    world.add("verifyBilling", s -> s);
  }

  private void addPlatform() {
    list("listOperators", Map.of());
    world.add(
        "mintOperator",
        s ->
            s.json(
                new JsonObject()
                    .put("name", world.fresh("op"))
                    .put("read_only", false)
                    .put("site", "demo")
                    .put("expires_at", "2999-01-01T00:00:00Z")));
    world.add(
        "revokeOperator",
        s ->
            s.value(
                "token_id",
                created("operators", new JsonObject().put("name", world.fresh("op")))
                    .getString("token_id")));
    world.add("readStatus", s -> s);
    world.add("readClock", s -> s);
    world.add("runJob", s -> s.value("job", "delete-revocations"));
    world.add("readSwitches", s -> s);
    world.add(
        "writeSwitches",
        s -> {
          JsonObject armed = new JsonObject().put("capacity_writes_armed", true);
          operator.patch(ROOT + "switches", armed).ok();
          return s.json(armed);
        });
    for (String trail :
        List.of(
            "listPlatformActivity", "exportPlatformActivityCsv", "exportPlatformActivityNdjson")) {
      list(trail, Map.of("org", "acme", "reads", "0"));
    }
    world.add(
        "verifySeals",
        s ->
            s.value("org", "acme")
                .value("kind", "writes")
                .value("after", "0")
                .value("after_batch", "0"));
  }

  private void addClusters() {
    list("listClusters", Map.of("org", "acme", "pool", "demo-h100"));
    world.add(
        "createCluster",
        s ->
            s.json(
                new JsonObject()
                    .put("name", world.fresh("c"))
                    .put("org", "hostile")
                    .put("pool", "spare")
                    .put("kind", "vm")
                    .put("posture", "market")));
    world.add("readCluster", s -> s.value("cluster", "acme-train"));
    world.add(
        "updateCluster",
        s ->
            s.value("cluster", "hostile-vm")
                .json(
                    new JsonObject()
                        .put("posture", "market")
                        .put("writes_armed", true)
                        .put("maintenance", false)
                        .put("max_price_cap_per_gpu_hour", 10)
                        .put(
                            "environment",
                            new JsonObject().put("env", new JsonObject().put("A", "b")))));
    ClusterClient legacy = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-legacy");
    String held = legacy.untilHeld(2).get(0);
    String pin = ROOT + "clusters/acme-legacy/pins/" + held;
    world.add(
        "pinNode",
        s -> {
          operator.delete(pin);
          return s.value("cluster", "acme-legacy").value("public_ip", held);
        });
    world.add(
        "unpinNode",
        s -> {
          operator.send("PUT", pin, null);
          return s.value("cluster", "acme-legacy").value("public_ip", held);
        });
  }

  private String newNode() {
    String id = world.fresh("node");
    return created("pools/spare/nodes", new JsonObject().put("node_id", id)).getString("node_id");
  }

  private void addNodes() {
    list("listPools", Map.of());
    list("findNodes", Map.of("pool", "demo-h100", "site", "demo", "state", "free"));
    list("listNodes", Map.of("pool", "demo-h100", "status", "live"));
    world.add("createPool", s -> s.json(pool(world.fresh("pool"))));
    world.add("readPool", s -> s.value("pool", "demo-h100"));
    world.add("listPoolBidders", s -> s.value("pool", "demo-h100"));
    world.add(
        "updatePool",
        s -> {
          JsonObject changed = pool("spare");
          for (String fixed :
              List.of(
                  "name",
                  "site",
                  "provider",
                  "gpu_vendor",
                  "gpus_per_node",
                  "ssh_user",
                  "ssh_port")) {
            changed.remove(fixed);
          }
          changed.put("paused", true).put("pause_reason", "w");
          return s.value("pool", "spare").json(changed);
        });
    world.add(
        "addNode",
        s -> s.value("pool", "spare").json(new JsonObject().put("node_id", world.fresh("node"))));
    String node = newNode();
    world.add("readNode", s -> s.value("node_id", node));
    world.add(
        "updateNode", s -> s.value("node_id", node).json(new JsonObject().put("cordoned", false)));
    world.add("releaseNode", s -> s.value("node_id", node));
    world.add("retryNode", s -> s.value("node_id", node));
    world.add("reviewNodeHandovers", s -> s.value("node_id", node));
    world.add("rebaselineNode", s -> s.value("node_id", node).json(new JsonObject()).refused());
    world.add("retireNode", s -> s.value("node_id", newNode()));
    world.add(
        "evictNode",
        s ->
            s.value("node_id", node)
                .json(new JsonObject().put("reason", "r").put("cluster", "hostile-vm"))
                .refused());
    world.add(
        "replaceNodeHostKey",
        s ->
            s.value("node_id", node)
                .json(new JsonObject().put("host_key", RunningBourse.keyLine()))
                .refused());
    world.add(
        "endNodeReclaim",
        s -> s.value("node_id", node).json(new JsonObject().put("back_to_market", true)).refused());
  }

  /** Creates an open review of a new file. */
  private String review() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    String id =
        publish(carol, publication(world.fresh("public"), BYTES, "public"), BYTES).getString("id");
    return FilesFixture.review(bourse, id).getString("review_id");
  }

  /** Creates an open review of a new set. */
  private String setReview() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    String id =
        SetsFixture.publish(
                carol, world.fresh("set"), SetsFixture.folder("a/b.bin", BYTES), "public")
            .getString("id");
    return FilesFixture.review(bourse, id).getString("review_id");
  }

  private void addReviews() {
    list("listReviews", Map.of());
    String open = review();
    world.add("readReview", s -> s.value("review", open));
    world.add("downloadReview", s -> s.value("review", open).value("download", "1"));
    String ofSet = setReview();
    world.add(
        "fetchReviewFile",
        s ->
            s.value("review", ofSet)
                .value("sha256", FilesFixture.sha256(BYTES))
                .value("download", "1"));
    world.add("approveReview", s -> s.value("review", review()));
    world.add(
        "rejectReview",
        s -> s.value("review", review()).json(new JsonObject().put("reason", "too odd")));
  }

  private JsonObject document(String upload) {
    JsonObject body = publication(world.fresh("doc"), BYTES, "org").put("upload", upload);
    body.remove("visibility");
    HttpAnswer answer = operator.post(ROOT + "documents", body);
    if (answer.status() == 429) {
      for (JsonObject one :
          ClusterClient.objects(
              operator.get(ROOT + "documents?limit=500").ok().getJsonArray("documents"))) {
        if (one.getString("status").equals("pending")) {
          operator.delete(ROOT + "documents/" + one.getString("id"));
        }
      }
      answer = operator.post(ROOT + "documents", body);
    }
    return answer.json();
  }

  private void addDocuments() {
    list("listDocuments", Map.of("q", "doc"));
    world.add(
        "publishDocument",
        s -> {
          document("direct");
          JsonObject body =
              publication(world.fresh("doc"), BYTES, "org")
                  .put("upload", "direct")
                  .put("sha256", FilesFixture.sha256(BYTES))
                  .put("replace", true);
          body.remove("visibility");
          return s.json(body);
        });
    String kept = document("direct").getString("id");
    world.add("readDocument", s -> s.value("id", kept));
    world.add("deleteDocument", s -> s.value("id", document("direct").getString("id")));
    world.add(
        "sendDocument",
        s ->
            s.value("id", document("direct").getString("id"))
                .header("Content-Type", FilesFixture.TYPE)
                .bytes(BYTES));
    world.add(
        "commitDocument",
        s -> {
          JsonObject begun = document("resumable");
          operator.sendBytes("PUT", FilesFixture.path(begun.getString("session_url")), BYTES);
          return s.value("id", begun.getString("id"))
              .json(new JsonObject().put("bytes", BYTES.length));
        });
    list("listOrgCheckpoints", Map.of("org", "acme", "q", "a"));
    ApiClient bob = bourse.asMember("acme", "bob");
    String read =
        publish(bob, publication(world.fresh("bobs"), BYTES, "org"), BYTES).getString("id");
    world.add("readOrgCheckpoint", s -> s.value("id", read));
    world.add("checkOrgCheckpoint", s -> s.value("id", read));
    list("scrubCheckpoints", Map.of());
    list("listJobs", Map.of());
    list("trackCheckpointsMove", Map.of());
    world.add(
        "moveCheckpoints",
        s ->
            s.json(new JsonObject().put("from", "local").put("to", "s3://bourse/files")).refused());
    world.add(
        "deleteOrgCheckpoint",
        s ->
            s.value(
                "id",
                publish(bob, publication(world.fresh("bobs"), BYTES, "org"), BYTES)
                    .getString("id")));
  }
}
