package dev.bourse.app;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A demo service in which two members are signed in, for one class of tests at a time. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests of a class.
abstract class OAuthScene {
  static RunningBourse bourse;

  /** The cookie of the browser of acme's alice. */
  static String alice;

  /** The cookie of the browser of acme's bob. */
  static String bob;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = Application.signIn(bourse, "acme", "alice");
    bob = Application.signIn(bourse, "acme", "bob");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  /** What the bearer of an access token is answered. */
  static HttpAnswer files(JsonObject tokens) {
    return bourse.with(tokens.getString("access_token")).get("/api/checkpoints");
  }
}
