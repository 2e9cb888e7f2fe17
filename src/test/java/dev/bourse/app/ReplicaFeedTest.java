package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Members;
import dev.bourse.access.Operators;
import dev.bourse.access.Revocations;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.core.ErrorCode;
import dev.bourse.market.NodeStore;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.pools.settings.SwitchService;
import dev.bourse.sshkeys.SshKeyStore;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Changes committed by other processes take effect soon, despite lost messages and failures. */
@OneEngine("only PostgreSQL is shared by several services")
class ReplicaFeedTest {
  private String url = "";
  private RunningBourse bourse;

  /** The other process: it records its changes in the commit log, and never notifies. */
  private Connection other;

  /** How many groups it has stored. */
  private int groups;

  @BeforeEach
  void start() throws Exception {
    url = SharedPostgres.server().newStore();
    bourse = RunningBourse.demo("store.url=" + url);
    other = SharedPostgres.server().connect(url);
  }

  @AfterEach
  void stop() throws Exception {
    other.close();
    bourse.close();
  }

  private static void execute(Connection in, String sql) throws SQLException {
    try (java.sql.Statement statement = in.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Makes a change, and reports it in the same transaction. */
  private void change(String topic, String key, String sql) throws SQLException {
    execute(
        other,
        "BEGIN; "
            + sql
            + "; INSERT INTO commit_log (sender, seq, changes) VALUES ('other', "
            + ++groups
            + ", '"
            + topic
            + "\t"
            + key
            + "\t\t'); COMMIT");
  }

  private ClusterClient client() {
    return new ClusterClient(bourse.as("acme", "orgwide"), "acme", "acme-train");
  }

  private static boolean isRefused(ApiClient caller, String path) {
    return caller.get(path).status() == ErrorCode.UNAUTHORIZED.status();
  }

  @Test
  void everyTopicIsShownThoughNobodyNotifies() throws Exception {
    ClusterClient client = client();
    // In one transaction, because each would be found at the next poll of the feed.
    change(
        CapacityStore.CHANGED,
        "acme-train",
        "UPDATE cluster SET maintenance = 0, writes_armed = 0, revision = revision + 1"
            + " WHERE name = 'acme-train'");
    change(
        PoolStore.CHANGED, "demo-h100", "UPDATE pool SET cap_cents = 500 WHERE name = 'demo-h100'");
    change(
        SwitchService.CHANGED,
        "",
        "INSERT INTO switch (name, is_on) VALUES ('capacity-writes', 0)");
    change(
        SshKeyStore.CHANGED,
        "acme",
        "INSERT INTO ssh_key (key_id, org_id, name, public_key, fingerprint, created_at,"
            + " created_by) VALUES ('k1', 'acme', 'k', 'ssh-ed25519 AAAA', 'SHA256:x', 1, 'x')");
    change(NodeStore.CHANGED, "demo-h100", "UPDATE node SET cordoned = 1");
    change(
        SigningKeys.CHANGED,
        "new-key",
        "INSERT INTO signing_key (kid, public_jwk, made_at, expires_at) SELECT 'new-key',"
            + " replace(public_jwk, kid, 'new-key'), made_at, expires_at FROM signing_key");

    until("the cluster", () -> !client.state().getBoolean("writes_armed"));
    until("the pool", () -> client.state().getDouble("max_price_cap_per_gpu_hour") == 5);
    JsonObject switches = new JsonObject().put("capacity_writes_armed", false);
    until(
        "the switch",
        () ->
            switches
                .getBoolean("capacity_writes_armed")
                .equals(
                    bourse
                        .operator()
                        .get("/api/operator/switches")
                        .ok()
                        .getBoolean("capacity_writes_armed")));
    until(
        "the ssh key",
        () ->
            client.caller().get("/api/vm/orgs/acme/ssh-keys").ok().getJsonArray("keys").size()
                == 1);
    until(
        "the nodes",
        () ->
            client
                    .caller()
                    .get("/api/market/feed")
                    .ok()
                    .getJsonArray("pools")
                    .getJsonObject(0)
                    .getInteger("free_nodes")
                == 0);
    until(
        "the signing key",
        () -> bourse.with(null).get("/oauth/jwks.json").ok().getJsonArray("keys").size() == 2);
  }

  @Test
  void everyTopicOfWhoMayCallIsShownThoughNobodyNotifies() throws Exception {
    ApiClient orgwide = bourse.as("acme", "orgwide");
    ApiClient bare = bourse.as("acme", "bare");
    bare.get("/api/whoami").ok();
    ApiClient dave = bourse.asMember("globex", "dave");
    dave.get("/api/checkpoints").ok();
    ApiClient alice = bourse.asMember("acme", "alice");
    alice.get("/api/checkpoints").ok();
    ApiClient operator = bourse.operator();
    operator.get("/api/operator/switches").ok();
    String orgwideId = orgwide.actor().substring("token:".length());

    // In one transaction, because each would be found at the next poll of the feed.
    change(
        Tokens.ORGANIZATION_CHANGED,
        "acme",
        "UPDATE org SET display = 'Other Name' WHERE org_id = 'acme'");
    change(Members.CHANGED, "globex", "UPDATE member SET suspended_at = 1 WHERE username = 'dave'");
    change(
        Revocations.MEMBER_CHANGED,
        "acme/alice",
        "INSERT INTO member_cutoff VALUES ('acme', 'alice', 9999999999, 9999999999999)");
    change(
        Operators.CHANGED,
        bourse.operatorToken().split("_", -1)[1],
        "UPDATE operator_token SET revoked_at = 1");
    until(
        "the organization",
        () -> orgwide.get("/api/whoami").ok().getString("org_display").equals("Other Name"));
    until("the member", () -> isRefused(dave, "/api/checkpoints"));
    until("what a member had", () -> isRefused(alice, "/api/checkpoints"));
    until("the operator", () -> isRefused(operator, "/api/operator/switches"));

    change(
        Tokens.CHANGED,
        orgwideId,
        "UPDATE token SET revoked_at = 1 WHERE token_id = '" + orgwideId + "'");
    until("the token", () -> isRefused(orgwide, "/api/whoami"));
    change(
        Tokens.ORGANIZATION_CHANGED,
        "acme",
        "UPDATE token SET revoked_at = 1 WHERE org_id = 'acme'");
    until("all its tokens", () -> isRefused(bare, "/api/whoami"));
  }

  /** Ends all sessions of the service and blocks or allows new ones. */
  private void cutOff(boolean isCut) throws SQLException {
    String database = url.substring(url.lastIndexOf('/') + 1);
    SharedPostgres.server()
        .execute("/postgres", "ALTER DATABASE " + database + " WITH ALLOW_CONNECTIONS " + !isCut);
    if (isCut) {
      SharedPostgres.server()
          .execute(
              "/postgres",
              // A session ends after the signal; one in the middle of a commit would store it.
              "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '"
                  + database
                  + "' AND application_name LIKE 'bourse %'");
    }
  }

  // Takes seconds: two reads end by their time-out, which has to be long enough for a start.
  @Test
  void aDatabaseThatWasSetBackIsGoneByAfterTheSessionsCameBack() throws Exception {
    ClusterClient client = client();
    client.declare(0, 2);
    client.declare(0, 3);
    until("it is shown", () -> client.version() == 2);
    // Without sessions, as with a real restore: a commit of the service in between would be the
    // newest row of the log.
    cutOff(true);
    execute(
        other,
        "BEGIN; UPDATE cluster SET revision = 1, version = 1 WHERE name = 'acme-train';"
            + " DELETE FROM commit_log; COMMIT");
    cutOff(false);
    until("the earlier state is shown", () -> client.version() == 1);
    until("the next write succeeds", () -> client.put(client.order(0, 4)).status() == 200);
    assertEquals(2, client.version());
  }
}
