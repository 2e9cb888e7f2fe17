package dev.bourse.testing;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A demo service in which two members are signed in, for one class of tests at a time. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
public abstract class OAuthApiFixture {
  protected static RunningBourse bourse;

  /** The cookie of the browser of acme's alice. */
  protected static String alice;

  /** The cookie of the browser of acme's bob. */
  protected static String bob;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.demo();
    alice = OAuthApplication.signIn(bourse, "acme", "alice");
    bob = OAuthApplication.signIn(bourse, "acme", "bob");
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }

  /** What the bearer of an access token is answered. */
  protected static HttpAnswer files(JsonObject tokens) {
    return bourse.with(tokens.getString("access_token")).get("/api/checkpoints");
  }
}
