package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.OrgApiFixture;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A demo service whose members sign in with browsers, for one class of tests at a time. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
abstract class SignInApiFixture {
  protected static final AtomicInteger MADE = new AtomicInteger();

  protected static RunningBourse bourse;

  protected static ApiClient operator;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.demo("signin.tries-per-address=100000", "signin.mails-per-email=100000");
    operator = bourse.operator();
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }

  protected static Browser browser() {
    return new Browser(bourse);
  }

  /** A new organization and its path below the operators' API. */
  protected static String organization() {
    String orgId = "signin-" + MADE.incrementAndGet();
    assertEquals(201, operator.post("/api/operator/orgs", OrgApiFixture.org(orgId)).status());
    return orgId;
  }

  protected static String path(String orgId) {
    return "/api/operator/orgs/" + orgId;
  }

  protected static void addMember(String orgId, String username, String email) {
    assertEquals(
        201,
        operator
            .post(
                path(orgId) + "/members",
                new JsonObject().put("username", username).put("email", email).put("name", "N."))
            .status());
  }

  protected static void addRule(String orgId, String kind, String value) {
    assertEquals(
        201,
        operator
            .post(path(orgId) + "/rules", new JsonObject().put("kind", kind).put("value", value))
            .status());
  }

  protected static List<String> actions(String orgId) {
    return bourse.audit(orgId, false).stream().map(AuditRow::action).toList();
  }

  protected static void invite(String orgId, String email) {
    int status =
        operator.post(path(orgId) + "/invitations", new JsonObject().put("email", email)).status();
    assertTrue(status == 200 || status == 201, String.valueOf(status));
  }
}
