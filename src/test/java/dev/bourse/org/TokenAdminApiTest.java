package dev.bourse.org;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Minting and revoking API tokens, by operators. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@ReplayedOnPostgres
class TokenAdminApiTest {
  private static final String ACME = "/api/operator/orgs/acme/tokens";
  private static final AtomicInteger MADE = new AtomicInteger();

  private static RunningBourse bourse;
  private static ApiClient operator;

  private String orgId;
  private String tokens;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    operator = bourse.operator();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  @BeforeEach
  void makeOrganization() {
    orgId = "org-" + MADE.incrementAndGet();
    tokens = "/api/operator/orgs/" + orgId + "/tokens";
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org(orgId)).status());
  }

  private static JsonObject order(String name, String... scopes) {
    return new JsonObject().put("name", name).put("scopes", new JsonArray(List.of(scopes)));
  }

  private static JsonObject minted(ApiClient operator, String path, JsonObject order) {
    HttpAnswer answer = operator.post(path, order);
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  private static JsonObject minted(String path, JsonObject order) {
    return minted(operator, path, order);
  }

  private static String detail(HttpAnswer refused) {
    return refused.refused(ErrorCode.BAD_REQUEST).getString("detail");
  }

  @Test
  void aMintedTokenWorksAtOnceAndMayDoWhatItLists() {
    JsonObject minted =
        minted(
            ACME,
            order("laptop", "capacity:read", "bid:read")
                .put("cluster", "acme-batch")
                .put("member", "alice")
                .put("expires_at", "2099-01-31T01:00:00+01:00"));
    JsonObject whoami = bourse.with(minted.getString("token")).get("/api/whoami").ok();
    assertEquals("acme", whoami.getString("org_id"));
    assertEquals(minted.getString("token_id"), whoami.getString("token_id"));
    assertEquals(
        List.of("bid:read", "capacity:read"), ClusterClient.texts(whoami.getJsonArray("scopes")));
    assertEquals("acme-batch", whoami.getString("cluster"));
    assertEquals("2099-01-31T00:00:00.000Z", whoami.getString("expires_at"));
    assertEquals("member:alice", minted.getString("created_by"));
    List<AuditRow> rows = bourse.audit("acme", false);
    AuditRow row =
        rows.stream()
            .filter(r -> r.detail().contains(minted.getString("token_id")))
            .findFirst()
            .orElseThrow();
    assertEquals(
        List.of("operator:first", "vm_token_mint", "acme"),
        List.of(row.actor(), row.action(), row.subject()));
    assertTrue(
        row.detail()
            .endsWith(
                " name=laptop scopes=[bid:read,capacity:read] cluster=acme-batch"
                    + " expires_at=2099-01-31T00:00:00.000Z created_by=member:alice"),
        row.detail());
  }

  @Test
  void aTokenForNoMemberIsTheOperators() {
    assertEquals("operator:first", minted(tokens, order("program")).getString("created_by"));
  }

  @Test
  void tokensAreListedNewestFirstWithoutTheirSecrets() {
    List<String> made = new ArrayList<>();
    for (String name : List.of("one", "two", "three")) {
      JsonObject token = minted(tokens, order(name));
      made.add(0, token.getString("token_id"));
      until(
          "the clock moves on",
          () -> System.currentTimeMillis() > token.getInstant("created_at").toEpochMilli());
    }
    operator.delete(tokens + "/" + made.get(1)).ok();
    JsonObject page = operator.get(tokens + "?limit=2").ok();
    assertTrue(page.getBoolean("more"));
    List<JsonObject> listed = ClusterClient.objects(page.getJsonArray("tokens"));
    assertEquals(made.subList(0, 2), listed.stream().map(t -> t.getString("token_id")).toList());
    assertEquals(null, listed.get(0).getValue("revoked_at"));
    assertFalse(listed.get(1).getString("revoked_at").isEmpty());
    JsonObject rest = operator.get(tokens + "?limit=2&after=" + made.get(1)).ok();
    assertEquals(made.get(2), rest.getJsonArray("tokens").getJsonObject(0).getString("token_id"));
    assertFalse(rest.getBoolean("more"));
    assertTrue(detail(operator.get(tokens + "?after=nothing")).startsWith("after: nothing"));
  }

  @Test
  void aBadOrderIsRefusedNamingTheFieldAndItsValue() {
    assertTrue(detail(operator.post(ACME, order("x", "root"))).startsWith("scopes[0]: root"));
    for (String name : List.of("", "a\tb", "x".repeat(64))) {
      assertTrue(detail(operator.post(ACME, order(name))).startsWith("name: "), name);
    }
    for (String cluster : List.of("globex-main", "nothing")) {
      String refusal = detail(operator.post(ACME, order("x").put("cluster", cluster)));
      assertTrue(refusal.startsWith("cluster: " + cluster), refusal);
    }
    for (String member : List.of("dave", "nobody")) {
      String refusal = detail(operator.post(ACME, order("x").put("member", member)));
      assertTrue(refusal.startsWith("member: " + member), refusal);
    }
    for (String time :
        List.of(
            "tomorrow, early in the day",
            "2020-01-01T00:00:00Z",
            Instant.now().toString(),
            "2099-01-01 00:00:00Z",
            "2099-01-01T00:00:00",
            "2099-02-30T00:00:00Z")) {
      String refusal = detail(operator.post(ACME, order("x").put("expires_at", time)));
      assertTrue(refusal.startsWith("expires_at: " + time), refusal);
    }
    assertTrue(
        detail(operator.post(ACME, new JsonObject().put("name", "x")))
            .startsWith("scopes is missing"));
  }

  @Test
  void anOrganizationHasAtMost500LiveTokens() {
    List<Statement> statements = new ArrayList<>();
    long now = System.currentTimeMillis();
    for (int i = 0; i < 499; i++) {
      statements.add(
          AccessStore.insert(
              new Token(
                  orgId + "-" + i,
                  orgId,
                  "t",
                  "00",
                  EnumSet.noneOf(Scope.class),
                  null,
                  "member:x",
                  now,
                  i == 0 ? now - 1 : null)));
    }
    await(bourse.database().commit(statements));
    minted(tokens, order("499th"));
    String last = minted(tokens, order("500th")).getString("token_id");
    JsonObject refusal = operator.post(tokens, order("one more")).refused(ErrorCode.CONFLICT);
    assertEquals("limit", refusal.getString("reason"));
    assertTrue(refusal.getString("detail").contains("500"));
    operator.delete(tokens + "/" + last).ok();
    minted(tokens, order("in its place"));
  }

  @Test
  void aRevokedTokensNextCallIsRefusedOnTheSameConnection() throws Exception {
    JsonObject minted = minted(tokens, order("x"));
    URI base = URI.create(bourse.service().baseUrl());
    try (Socket socket = new Socket(base.getHost(), base.getPort())) {
      socket.setSoTimeout(60_000);
      BufferedReader answers =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
      assertEquals(200, call(socket, answers, minted.getString("token")));
      operator.delete(tokens + "/" + minted.getString("token_id")).ok();
      assertEquals(401, call(socket, answers, minted.getString("token")));
    }
    List<AuditRow> rows = bourse.audit(orgId, false);
    AuditRow row = rows.get(rows.size() - 1);
    assertEquals(
        List.of(
            "operator:first",
            "vm_token_revoke",
            orgId,
            "token_id=" + minted.getString("token_id") + " name=x"),
        List.of(row.actor(), row.action(), row.subject(), row.detail()));
  }

  /** One whoami over an open connection; its status. */
  private static int call(Socket socket, BufferedReader answers, String token) throws Exception {
    socket
        .getOutputStream()
        .write(
            ("GET /api/whoami HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + token
                    + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
    int status = Integer.parseInt(answers.readLine().split(" ", -1)[1]);
    int length = 0;
    for (String line = answers.readLine(); !line.isEmpty(); line = answers.readLine()) {
      if (line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring("content-length:".length()).trim());
      }
    }
    for (int i = 0; i < length; i++) {
      assertTrue(answers.read() >= 0);
    }
    return status;
  }

  @Test
  void aTokenIsRevokedOnceAndOnlyAsItsOrganizations() {
    String tokenId = minted(tokens, order("x")).getString("token_id");
    int before = bourse.audit(orgId, false).size();
    operator.delete(ACME + "/" + tokenId).refused(ErrorCode.NOT_FOUND);
    operator.delete(tokens + "/nothing").refused(ErrorCode.NOT_FOUND);
    assertEquals(before, bourse.audit(orgId, false).size());
    operator.delete(tokens + "/" + tokenId).ok();
    operator.delete(tokens + "/" + tokenId).refused(ErrorCode.NOT_FOUND);
    assertEquals(before + 1, bourse.audit(orgId, false).size());
  }

  @Test
  void aTokenExpiresAtItsTime() {
    AtomicLong lifetime = new AtomicLong(1_500);
    ApiClient caller =
        Polls.until(
            "it is taken before it expires",
            () -> {
              String end = Instant.now().plusMillis(lifetime.getAndAdd(1_500)).toString();
              HttpAnswer minted = operator.post(tokens, order("brief").put("expires_at", end));
              // If minting came too late, no token exists and no request is made.
              return bourse.with(minted.status() == 201 ? minted.json().getString("token") : null);
            },
            brief -> brief.get("/api/whoami").status() == 200);
    until("it expires", () -> caller.get("/api/whoami").status() == 401);
  }

  @Test
  void tokensOfAWorldFileLeaveRowsToo() {
    List<AuditRow> rows =
        await(
            bourse
                .database()
                .read(
                    "SELECT ts, org_id, actor, action, subject, detail FROM audit"
                        + " WHERE org_id = 'globex' AND actor = 'system:operator' ORDER BY id",
                    List.of(),
                    row ->
                        new AuditRow(
                            row.integer("ts"),
                            row.text("org_id"),
                            row.text("actor"),
                            row.text("action"),
                            row.text("subject"),
                            row.text("detail"))));
    assertEquals(4, rows.size());
    for (AuditRow row : rows) {
      assertEquals("vm_token_mint globex", row.action() + " " + row.subject());
    }
    assertTrue(rows.get(1).detail().contains(" name=bound "), rows.get(1).detail());
  }

  /** The whole log of a process, and every file it wrote. */
  @Test
  void aSecretLeavesInItsAnswerAndNowhereElse() throws Exception {
    Path data = RunningBourse.newFolder();
    Path log = data.resolve("log");
    List<String> secrets = new ArrayList<>();
    try (ChildBourse child = ChildBourse.logging(data, List.of("port=0"), log)) {
      ApiClient first =
          new ApiClient(
              child.baseUrl(),
              new JsonObject(Files.readString(data.resolve("operator.json")))
                  .getString("operator_token"));
      JsonObject minted = minted(first, ACME, order("secret one", "capacity:read"));
      JsonObject colleague =
          minted(first, "/api/operator/operators", new JsonObject().put("name", "colleague"));
      for (JsonObject answer : List.of(minted, colleague)) {
        String token = answer.getString("token");
        secrets.add(token.substring(token.lastIndexOf('_') + 1));
      }
      new ApiClient(child.baseUrl(), minted.getString("token"))
          .get("/api/vm/capacity?cluster=acme-batch")
          .ok();
      new ApiClient(child.baseUrl(), colleague.getString("token")).get(ACME).ok();
      new ApiClient(child.baseUrl(), minted.getString("token") + "x")
          .get("/api/whoami")
          .refused(ErrorCode.UNAUTHORIZED);
      first.delete(ACME + "/" + minted.getString("token_id")).ok();
      child.terminate();
    }
    assertTrue(Files.size(log) > 0, "nothing was logged");
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String content = Files.readString(file, StandardCharsets.ISO_8859_1);
        for (String secret : secrets) {
          assertFalse(content.contains(secret), file + " holds a secret");
        }
      }
    }
  }
}
