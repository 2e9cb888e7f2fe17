package dev.bourse.simulation.hostile;

import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.publish;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests of an organization's tokens and members: capacity, trails, bids, money and files. */
final class TenantSamples {
  private static final byte[] BYTES = bytes(300, 1);

  private final HostileTarget world;
  private final RunningBourse bourse;
  private final ApiClient alice;
  private @Nullable String kept;

  TenantSamples(HostileTarget world) {
    this.world = world;
    this.bourse = world.bourse();
    this.alice = bourse.asMember("acme", "alice");
  }

  void add() {
    ClusterClient client = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-train");
    client.hold(2, 3);
    addCapacity();
    addTrails();
    addMarket();
    addFiles();
    addFeed();
    addSets();
  }

  private static JsonObject declaration(long version) {
    return new JsonObject()
        .put("max_gpus", 8)
        .put("max_price_per_gpu_hour", 3)
        .put("expected_version", version)
        .put("release", new JsonArray())
        .put("cluster", "acme-batch");
  }

  private long version(String path) {
    return bourse.as("acme", "orgwide").get(path).ok().getLong("version");
  }

  private void addCapacity() {
    ClusterClient client = new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-train");
    world.add("readCapacity", s -> s.value("cluster", "acme-train"));
    world.add("readOutlook", s -> s.value("cluster", "acme-train"));
    world.add("readMetrics", s -> s.value("cluster", "acme-train"));
    String agent = bourse.nodeCredential("acme-legacy");
    world.addBare(
        "reportMetrics",
        s ->
            HostileTarget.bearing(s, agent)
                .json(
                    new JsonObject()
                        .put(
                            "gpus",
                            new JsonArray()
                                .add(
                                    new JsonObject()
                                        .put("index", 1)
                                        .put("utilization_percent", 5)))));
    world.addBare(
        "awaitNotice",
        s ->
            HostileTarget.bearing(s, agent)
                .value("last", "outbid-1764378000000:given:1125899906842677")
                .value("wait_s", "0"));
    world.add("listHostKeys", s -> s.value("cluster", "acme-train"));
    String held = client.active().get(0);
    world.add("readHandover", s -> s.value("public_ip", held));
    world.add("readAlerts", s -> s.value("cluster", "acme-train"));
    world.add(
        "writeAlerts",
        s ->
            s.json(
                new JsonObject()
                    .put("cluster", "acme-batch")
                    .put("rival_within_percent", 10)
                    .put("price_above_per_gpu_hour", 2.5)
                    .put("supply_under_nodes", 2)
                    .put("spend_above_usd", 40)
                    .put("lease_ends_within_s", 3_600)));
    for (String id : List.of("declareCapacity", "previewCapacity")) {
      world.add(id, s -> s.json(declaration(version("/api/vm/capacity?cluster=acme-batch"))));
    }
    world.add(
        "swapNode",
        s ->
            s.json(
                new JsonObject().put("node", client.active().get(0)).put("cluster", "acme-train")));
    world.add("drillNodes", s -> s.json(new JsonObject().put("cluster", "acme-train")));
    world.add("followEvents", s -> s.value("cluster", "acme-train"));
    world.add(
        "listActivity",
        s -> s.value("cluster", "acme-train").value("page", "0").value("who", "user"));
    world.add("readHistory", s -> s.value("cluster", "acme-train").value("hours", "24"));
    world.add("listSshKeys", s -> s.value("org", "acme"));
    world.add(
        "addSshKey",
        s ->
            s.value("org", "acme")
                .json(
                    new JsonObject()
                        .put("name", "laptop")
                        .put("public_key", RunningBourse.keyLine())
                        .put("cluster", "acme-batch")));
    world.add("revokeSshKey", s -> s.value("org", "acme").value("key_id", key()));
  }

  private String key() {
    return bourse
        .as("acme", "orgwide")
        .post(
            "/api/vm/orgs/acme/ssh-keys",
            new JsonObject().put("name", "k").put("public_key", RunningBourse.keyLine()))
        .json()
        .getString("key_id");
  }

  private void addTrails() {
    world.add("whoami", s -> s);
    world.add("readRoadmap", s -> s);
    world.add("scrapeMetrics", s -> s);
    world.add("listMembers", s -> s);
    world.add("listTokens", s -> s);
    world.add("revokeOwnToken", s -> HostileTarget.bearing(s, minted()));
    world.add(
        "listTokenActivity",
        s -> s.value("token_id", "self").value("reads", "1").value("limit", "5"));
    for (String trail :
        List.of("listOrgActivity", "exportOrgActivityCsv", "exportOrgActivityNdjson")) {
      world.add(trail, s -> s.value("reads", "0").value("limit", "5").value("before", "999"));
    }
  }

  private String minted() {
    return bourse
        .operator()
        .post(
            "/api/operator/orgs/acme/tokens",
            new JsonObject().put("name", world.fresh("t")).put("scopes", new JsonArray()))
        .json()
        .getString("token");
  }

  private void addMarket() {
    String span = "2026-01-01T00:00:00Z";
    world.add("readMarketFeed", s -> s);
    world.add("readMarketDepth", s -> s.value("pool", "demo-h100"));
    world.add(
        "readMarketQuote",
        s -> s.value("pool", "demo-h100").value("gpus", "8").value("price", "2.5"));
    world.add("readMarketHistory", s -> s.value("pool", "demo-h100").value("hours", "24"));
    world.add("readBalance", s -> s);
    for (String usage : List.of("listUsage", "exportUsageCsv")) {
      world.add(
          usage,
          s ->
              s.value("cluster", "acme-train")
                  .value("from", span)
                  .value("to", "2026-01-02T00:00:00Z"));
    }
    world.add(
        "readUsageWorking", s -> s.value("cluster", "acme-train").value("hour", span).refused());
    world.add("listStatements", s -> s);
    world.add("readStatement", s -> s.value("month", month()));
    world.add("exportStatementCsv", s -> s.value("month", month()));
    world.add("listLedger", s -> s.value("before", "1000").value("limit", "5"));
    world.add("listK8sClusters", s -> s.value("limit", "5").value("after", "a"));
    world.add("readK8sCluster", s -> s.value("name", "acme-k8s"));
    world.add("readBid", s -> s.value("cluster", "acme-k8s"));
    world.add(
        "writeBid",
        s ->
            s.json(
                new JsonObject()
                    .put("limit_price_per_gpu_hour", 3)
                    .put("max_gpus", 8)
                    .put("min_gpus", 8)
                    .put("auto_swap", false)
                    .put("release", new JsonArray())
                    .put("expected_version", version("/api/k8s/bid"))
                    .put("cluster", "acme-k8s")));
    world.add(
        "previewBid",
        s ->
            s.json(
                new JsonObject()
                    .put("limit_price_per_gpu_hour", 3)
                    .put("max_gpus", 8)
                    .put("min_gpus", 8)
                    .put("auto_swap", false)
                    .put("release", new JsonArray())
                    .put("expected_version", version("/api/k8s/bid"))
                    .put("cluster", "acme-k8s")));
    world.add("readBidOutlook", s -> s.value("cluster", "acme-k8s"));
    world.add(
        "swapK8sNode",
        s -> s.json(new JsonObject().put("node", "n").put("cluster", "acme-k8s")).refused());
    world.add("readK8sAlerts", s -> s.value("cluster", "acme-k8s"));
    world.add(
        "writeK8sAlerts",
        s ->
            s.json(
                new JsonObject()
                    .put("rival_within_percent", 10)
                    .put("price_above_per_gpu_hour", 2.5)
                    .put("supply_under_nodes", 2)
                    .put("spend_above_usd", 100)
                    .put("lease_ends_within_s", 3600)
                    .put("cluster", "acme-k8s")));
    world.add("followK8sEvents", s -> s.value("cluster", "acme-k8s"));
    world.add(
        "listK8sActivity",
        s -> s.value("cluster", "acme-k8s").value("page", "0").value("who", "user"));
    world.add("readK8sHistory", s -> s.value("cluster", "acme-k8s").value("hours", "24"));
    world.add("readK8sMetrics", s -> s.value("cluster", "acme-k8s"));
  }

  private String month() {
    List<JsonObject> all =
        ClusterClient.objects(
            bourse
                .as("acme", "orgwide")
                .get("/api/billing/statements")
                .ok()
                .getJsonArray("statements"));
    return all.get(0).getString("month");
  }

  /** Returns a file of alice's that is not deleted. */
  private String kept() {
    String known = kept;
    if (known == null || alice.get(FilesFixture.item(known)).status() != 200) {
      known = publish(alice, publication(world.fresh("kept"), BYTES, "org"), BYTES).getString("id");
      kept = known;
    }
    return known;
  }

  private JsonObject announced(String upload) {
    // Mutations may have announced files up to the storage limit.
    JsonObject publication = publication(world.fresh("file"), BYTES, "org").put("upload", upload);
    HttpAnswer answer = alice.post(FilesFixture.FAMILY, publication);
    if (answer.status() == 429) {
      makeRoom();
      return announce(alice, publication);
    }
    return answer.json();
  }

  private void makeRoom() {
    JsonArray all = alice.get(FilesFixture.FAMILY + "?limit=100").ok().getJsonArray("checkpoints");
    for (JsonObject one : ClusterClient.objects(all)) {
      if (!one.getString("status").equals("ready")) {
        alice.delete(FilesFixture.item(one.getString("id")));
      }
    }
  }

  private AcceptedRequest asAlice(AcceptedRequest sample) {
    return HostileTarget.bearing(sample, bourse.memberToken("acme", "alice"));
  }

  private void addFiles() {
    world.add("listCheckpoints", s -> s.value("scope", "org").value("q", "a").value("limit", "5"));
    world.add(
        "publishCheckpoint",
        s -> {
          announced("direct");
          return asAlice(s)
              .json(
                  publication(world.fresh("file"), BYTES, "org")
                      .put("upload", "resumable")
                      .put("sha256", FilesFixture.sha256(BYTES))
                      .put("replace", true));
        });
    world.add("readCheckpoint", s -> s.value("id", kept()));
    world.add("readCheckpointContent", s -> s.value("id", kept()).value("download", "1"));
    world.add("deleteCheckpoint", s -> asAlice(s).value("id", announced("direct").getString("id")));
    world.add(
        "writeCheckpointContent",
        s ->
            asAlice(s)
                .value("id", announced("direct").getString("id"))
                .header("Content-Type", FilesFixture.TYPE)
                .bytes(BYTES));
    world.add(
        "commitCheckpoint",
        s -> {
          JsonObject begun = announced("resumable");
          alice.sendBytes("PUT", path(begun.getString("session_url")), BYTES);
          return asAlice(s)
              .value("id", begun.getString("id"))
              .json(
                  new JsonObject()
                      .put("bytes", BYTES.length)
                      .put("sha256", FilesFixture.sha256(BYTES)));
        });
    world.add(
        "putUpload",
        s -> {
          String session = path(announced("resumable").getString("session_url"));
          return s.value("session", session.replaceAll(".*/", "")).bytes(BYTES);
        });
  }

  private static JsonObject set(String name, String visibility) {
    JsonObject file =
        new JsonObject()
            .put("path", "a/b.bin")
            .put("bytes", BYTES.length)
            .put("sha256", FilesFixture.sha256(BYTES));
    return new JsonObject()
        .put("title", "About " + name)
        .put("filename", name)
        .put("visibility", visibility)
        .put("files", new JsonArray().add(file));
  }

  /** Publishes a set of one file; returns its id. */
  private static String publishedSet(ApiClient member, JsonObject set) {
    JsonObject begun = member.post(FilesFixture.FAMILY + "/sets", set).json();
    String id = begun.getString("id");
    if (!begun.getJsonArray("missing").isEmpty()) {
      member.sendBytes("PUT", path(begun.getString("session_url")) + "/0", BYTES);
    }
    member
        .post(FilesFixture.item(id) + "/commit", new JsonObject().put("bytes", BYTES.length))
        .ok();
    return id;
  }

  private String publishedReadme(byte[] readme) {
    JsonObject file =
        new JsonObject()
            .put("path", "README.md")
            .put("bytes", readme.length)
            .put("sha256", FilesFixture.sha256(readme));
    JsonObject begun =
        alice
            .post(
                FilesFixture.FAMILY + "/sets",
                set(world.fresh("described"), "org").put("files", new JsonArray().add(file)))
            .json();
    alice.sendBytes("PUT", FilesFixture.path(begun.getString("session_url")) + "/0", readme).ok();
    alice
        .post(
            FilesFixture.item(begun.getString("id")) + "/commit",
            new JsonObject().put("bytes", readme.length))
        .ok();
    return begun.getString("id");
  }

  private void addSets() {
    String digest = FilesFixture.sha256(BYTES);
    String kept = publishedSet(alice, set(world.fresh("set"), "org"));
    world.add(
        "publishCheckpointSet",
        s -> {
          makeRoom();
          return asAlice(s).json(set(world.fresh("set"), "org").put("replace", true));
        });
    world.add(
        "readCheckpointFile",
        s -> s.value("id", kept).value("sha256", digest).value("download", "1"));
    byte[] readme = "# Read me\n".getBytes(StandardCharsets.UTF_8);
    String described = publishedReadme(readme);
    world.add("listCheckpointRevisions", s -> s.value("id", described));
    world.add("readCheckpointReadme", s -> s.value("id", described));
    world.add(
        "putUploadFile",
        s -> {
          JsonObject begun =
              alice.post(FilesFixture.FAMILY + "/sets", set(world.fresh("set"), "org")).json();
          return s.value("session", begun.getString("session_url").replaceAll(".*/", ""))
              .value("number", "0")
              .bytes(BYTES);
        });
    ApiClient carol = bourse.asMember("openlab", "carol");
    String open = publishedSet(carol, set(world.fresh("open-set"), "public"));
    FilesFixture.approve(bourse, open).ok();
    world.add(
        "readPublicCheckpointFile",
        s -> s.value("id", open).value("sha256", digest).value("download", "0"));
    world.add("preflightPublicCheckpointFile", s -> s.value("id", open).value("sha256", digest));
  }

  private void addFeed() {
    ApiClient carol = bourse.asMember("openlab", "carol");
    String id =
        publish(carol, publication(world.fresh("open"), BYTES, "public"), BYTES).getString("id");
    FilesFixture.approve(bourse, id).ok();
    world.add("listPublicCheckpoints", s -> s.value("q", "open").value("limit", "5"));
    world.add("preflightPublicCheckpoints", s -> s);
    for (String one :
        List.of(
            "readPublicCheckpoint",
            "preflightPublicCheckpoint",
            "preflightPublicCheckpointContent")) {
      world.add(one, s -> s.value("id", id));
    }
    world.add("readPublicCheckpointContent", s -> s.value("id", id).value("download", "0"));
  }
}
