package dev.bourse.events;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.EventReader;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A stream ends soon after its caller loses access. */
@ReplayedOnPostgres
class SignedOutStreamsApiTest {
  /** Shorter than a heartbeat interval, at which a dead client would be noticed. */
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static EventReader inBrowser(String username) {
    return inBrowserOf(bourse.startSession("acme", username));
  }

  private static EventReader inBrowserOf(String secret) {
    return EventReader.inBrowser(bourse.service().baseUrl(), "bourse=" + secret, "acme-train");
  }

  /** Creates a member of acme for this test. */
  private static String member(String username) {
    ApiClient operator = bourse.operator();
    assertEquals(
        201,
        operator
            .post(
                "/api/operator/orgs/acme/members",
                new JsonObject()
                    .put("username", username)
                    .put("email", username + "@acme.example")
                    .put("name", username))
            .status());
    return username;
  }

  private static void endsSoon(EventReader stream) {
    long since = System.nanoTime();
    until("the stream has ended", stream::hasEnded);
    assertTrue(System.nanoTime() - since < SOON_NANOS);
  }

  @Test
  void aSessionThatEndsEndsItsStreamsAndNoOthers() {
    Browser eve = new Browser(bourse).signedIn(member("eve") + "@acme.example");
    String secret = Objects.requireNonNull(eve.cookies.get("bourse"));
    try (EventReader here = inBrowserOf(secret);
        EventReader elsewhere = inBrowser("eve");
        EventReader token =
            new EventReader(
                bourse.service().baseUrl(), bourse.secret("acme", "orgwide"), "acme-train", null)) {
      String csrf = Browser.field(eve.get("/account"), "csrf");
      eve.post("/sign-out", Map.of("csrf", csrf));
      endsSoon(here);
      assertFalse(elsewhere.hasEnded());
      assertFalse(token.hasEnded());
    }
  }

  @Test
  void signingOutEverywhereEndsTheStreamsOfEveryBrowser() {
    Browser frank = new Browser(bourse).signedIn(member("frank") + "@acme.example");
    try (EventReader here = inBrowserOf(Objects.requireNonNull(frank.cookies.get("bourse")));
        EventReader elsewhere = inBrowser("frank");
        EventReader other = inBrowser("alice")) {
      String csrf = Browser.field(frank.get("/account"), "csrf");
      frank.post("/sign-out/everywhere", Map.of("csrf", csrf));
      endsSoon(here);
      endsSoon(elsewhere);
      assertFalse(other.hasEnded());
    }
  }

  @Test
  void aMemberWhoIsSuspendedOrRemovedListensNoMore() {
    String grace = member("grace");
    String path = "/api/operator/orgs/acme/members/" + grace;
    try (EventReader browser = inBrowser(grace)) {
      assertEquals(
          200, bourse.operator().patch(path, new JsonObject().put("suspended", true)).status());
      endsSoon(browser);
    }
    String heidi = member("heidi");
    try (EventReader browser = inBrowser(heidi)) {
      bourse.operator().delete("/api/operator/orgs/acme/members/" + heidi).ok();
      endsSoon(browser);
    }
  }
}
