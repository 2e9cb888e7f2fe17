package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Ports;
import dev.bourse.testing.Browser;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Throttling of guesses, and settings of sign-in. */
@OneEngine("What is counted is in memory, and cookies are named by the configuration.")
class SignInThrottleTest {
  /**
   * The number of networks that can use up the links for one address; the test uses twice as many.
   */
  private static final int NETWORKS = 4;

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
      HttpResponse<String> last = office.get("/sign-in/link?token=x");
      while (last.statusCode() == 410) {
        // The bucket refills meanwhile, by one in three seconds.
        assertTrue(++tries < 3_000, "not throttled");
        last = office.get("/sign-in/link?token=x");
      }
      assertTrue(tries >= 300, "throttled after " + tries);
      tooMany(last);
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
  void aStrangerWhoAsksForSomebodysLinksKeepsNobodyFromSigningIn() {
    try (RunningBourse bourse =
        RunningBourse.demo("signin.mails-per-email=2", "proxies=127.0.0.1")) {
      Browser stranger = new Browser(bourse).from("192.0.2.1");
      String first = stranger.askForLink("alice@acme.example", "");
      stranger.askForLink("alice@acme.example", "");
      tooMany(askAgain(stranger, "alice@acme.example"));
      Browser alice = new Browser(bourse).from("198.51.100.1");
      alice.signedIn("alice@acme.example");
      assertTrue(alice.isSignedIn());
      // Strangers from any networks use up all links for the address.
      int mailed = 3;
      for (int network = 2; mailed < 2 * NETWORKS; mailed++, network++) {
        new Browser(bourse).from("192.0.2." + network).askForLink("alice@acme.example", "");
      }
      Browser again = new Browser(bourse).from("198.51.100.2");
      assertEquals("/sign-in/sent", Browser.location(askAgain(again, "alice@acme.example")));
      Browser bob = new Browser(bourse).from("198.51.100.2").signedIn("bob@acme.example");
      assertTrue(bob.isSignedIn(), "mails go out in order, so that hers would be there");
      assertEquals(mailed, again.mails("alice@acme.example").size());
      assertEquals("/account", Browser.location(again.follow(first)), "what she has works");
    }
  }

  private static HttpResponse<String> askAgain(Browser browser, String email) {
    String csrf = Browser.field(browser.get("/sign-in"), "csrf");
    return browser.post("/sign-in", Map.of("csrf", csrf, "email", email));
  }

  @Test
  void cookieFlagsBehindTlsTheCookieIsSecureAndOfThisHostAlone() {
    int port = Ports.free();
    try (RunningBourse bourse =
        RunningBourse.demo("base-url=https://bourse.example", "port=" + port)) {
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
}
