package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Guessing is slow, and what depends on how the service is set up. */
@OneEngine("What is counted is in memory, and cookies are named by the configuration.")
class SignInThrottleTest {
  private static void tooMany(HttpResponse<String> answer) {
    assertEquals(429, answer.statusCode(), answer.body());
    assertTrue(
        Long.parseLong(answer.headers().firstValue("retry-after").orElse("0")) > 0, "Retry-After");
    assertTrue(answer.body().contains("Too many attempts"), answer.body());
  }

  @Test
  void throttledGuessingLinksAreTriedSoOftenFromOneAddress() {
    try (RunningBourse bourse = RunningBourse.demo("signin.tries-per-address=3")) {
      Browser guesser = new Browser(bourse);
      for (int i = 0; i < 3; i++) {
        assertEquals(410, guesser.get("/sign-in/link?token=guess" + i).statusCode());
      }
      tooMany(guesser.get("/sign-in/link?token=guess"));
      tooMany(guesser.post("/sign-in/link", Map.of("token", "guess")));
      tooMany(guesser.post("/sign-in", Map.of("email", "alice@acme.example")));
    }
  }

  @Test
  void anOfficeOfAHundredSignsInFromOneAddressWithinAQuarterOfAnHour() {
    try (RunningBourse bourse = RunningBourse.demo("limits.edge-per-minute=0")) {
      Browser office = new Browser(bourse);
      int tries = 0;
      while (office.get("/sign-in/link?token=x").statusCode() == 410) {
        // It fills up again meanwhile, by one in three seconds.
        assertTrue(++tries < 3_000, "not throttled");
      }
      assertTrue(tries >= 300, "throttled after " + tries);
      tooMany(office.get("/sign-in/link?token=x"));
    }
  }

  @Test
  void throttledGuessingAnAddressIsMailedSoOftenKnownOrNot() {
    try (RunningBourse bourse = RunningBourse.demo("signin.mails-per-email=2")) {
      for (String email : new String[] {"alice@acme.example", "nobody@nowhere.example"}) {
        Browser visitor = new Browser(bourse);
        String csrf = Browser.field(visitor.get("/sign-in"), "csrf");
        for (int i = 0; i < 2; i++) {
          assertEquals(
              303, visitor.post("/sign-in", Map.of("csrf", csrf, "email", email)).statusCode());
        }
        tooMany(
            visitor.post(
                "/sign-in",
                Map.of("csrf", csrf, "email", email.toUpperCase(java.util.Locale.ROOT))));
      }
    }
  }

  @Test
  void cookieFlagsBehindTlsTheCookieIsSecureAndOfThisHostAlone() {
    int port = freePort();
    try (RunningBourse bourse =
        RunningBourse.demo(
            "base-url=https://bourse.example", "port=" + port, "management.port=0")) {
      Browser alice = new Browser(bourse, "http://127.0.0.1:" + port);
      HttpResponse<String> entered = alice.follow(alice.askForLink("alice@acme.example", ""));
      String cookie = entered.headers().allValues("set-cookie").get(0);
      assertTrue(
          cookie.matches(
              "__Host-bourse=[0-9A-Za-z]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800;"
                  + " Secure"),
          cookie);
      assertTrue(alice.isSignedIn());
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
