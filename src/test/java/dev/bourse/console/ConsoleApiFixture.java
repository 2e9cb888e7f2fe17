package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.Scope;
import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.DnsServer;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Organizations with members who manage them, on one service for a class of tests. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
abstract class ConsoleApiFixture {
  private static final AtomicInteger MADE = new AtomicInteger();

  protected static RunningBourse bourse;

  protected static ApiClient operator;

  /** The DNS server that the service uses for domain proofs. */
  protected static DnsServer dns;

  @BeforeAll
  protected static void start() {
    dns = DnsServer.start();
    bourse =
        RunningBourse.demo(
            "signin.tries-per-address=100000",
            "signin.mails-per-email=100000",
            "signin.dns-server=" + dns.setting());
    operator = bourse.operator();
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
    dns.close();
  }

  /** A new organization with these members, each with an address at its domain. */
  protected static String organization(String... usernames) {
    String orgId = "console-" + MADE.incrementAndGet();
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org(orgId)).status());
    for (String username : usernames) {
      JsonObject member =
          new JsonObject()
              .put("username", username)
              .put("email", username + '@' + orgId + ".example")
              .put("name", username + " the member");
      assertEquals(201, operator.post(path(orgId) + "/members", member).status());
    }
    return orgId;
  }

  protected static String path(String orgId) {
    return "/api/operator/orgs/" + orgId;
  }

  protected static void suspend(String orgId, String username) {
    operator
        .patch(path(orgId) + "/members/" + username, new JsonObject().put("suspended", true))
        .ok();
  }

  /** A member's application with these scopes. */
  protected static ApiClient application(String orgId, String username, Scope... scopes) {
    return bourse.with(McpClient.token(bourse, orgId, username, Set.of(scopes)));
  }

  /** The organization's trail entries of an action: actor, action and detail. */
  protected static List<String> trail(String orgId, String action) {
    return bourse.audit(orgId, false).stream()
        .filter(row -> row.action().equals(action))
        .map(ConsoleApiFixture::shown)
        .toList();
  }

  private static String shown(AuditRow row) {
    return row.actor() + " " + row.action() + " " + row.detail();
  }
}
