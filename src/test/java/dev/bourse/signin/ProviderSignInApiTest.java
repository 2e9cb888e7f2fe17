package dev.bourse.signin;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Browser;
import dev.bourse.testing.Collector;
import dev.bourse.testing.IdentityProvider;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import io.vertx.core.MultiMap;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Members sign in by an identity provider. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@OneEngine("What differs from sign-in by mail is the provider's part.")
class ProviderSignInApiTest {
  private static final String CALLBACK = "/sign-in/oidc/callback?";

  private static IdentityProvider provider;
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    provider = new IdentityProvider();
    bourse = RunningBourse.demo(provider.settings());
  }

  @AfterAll
  static void stop() {
    bourse.close();
    provider.close();
  }

  @BeforeEach
  void honest() {
    provider.claims = UnaryOperator.identity();
    provider.isSilent = false;
  }

  private static HttpResponse<String> walk(Browser browser) {
    String there = Browser.location(browser.get("/sign-in/oidc?return_to=%2Fdevice"));
    return browser.get(CALLBACK + provider.signIn(there));
  }

  @Test
  void aMemberComesInByTheProvider() {
    Browser alice = new Browser(bourse);
    assertTrue(alice.get("/sign-in").body().contains("Continue with Acme ID"));
    assertEquals("/device", Browser.location(walk(alice)));
    assertTrue(alice.get("/account").body().contains("alice@acme.example"));
  }

  @Test
  void aTraceTellsHowLongTheProviderTookAndNotWhatItWasAsked() {
    try (Collector collector = new Collector()) {
      List<String> settings = new ArrayList<>(List.of(provider.settings()));
      settings.addAll(List.of("trace.endpoint=" + collector.url(), "trace.sample=1"));
      try (RunningBourse traced = RunningBourse.demo(settings.toArray(String[]::new))) {
        Browser alice = new Browser(traced);
        String there = Browser.location(alice.get("/sign-in/oidc?return_to=%2Fdevice"));
        String answer = provider.signIn(there);
        assertEquals("/device", Browser.location(alice.get(CALLBACK + answer)));
        for (String name : List.of("sign-in discovery", "sign-in token")) {
          Collector.Told asked = collector.await(name, span -> span.name().equals(name));
          assertEquals(Collector.Told.CLIENT, asked.kind());
          assertFalse(asked.parentId().isEmpty());
        }
        MultiMap question = IdentityProvider.query(there.substring(there.indexOf('?') + 1));
        MultiMap given = IdentityProvider.query(answer);
        for (String secret :
            List.of(
                question.get("state"),
                question.get("nonce"),
                question.get("code_challenge"),
                given.get("code"),
                "alice@acme.example")) {
          assertFalse(collector.text().contains(secret), secret);
        }
      }
    }
  }

  @Test
  void theProviderIsAskedWithStateNonceAndPkce() {
    Browser visitor = new Browser(bourse);
    String there = Browser.location(visitor.get("/sign-in/oidc"));
    assertTrue(there.startsWith(provider.issuer() + "/authorize?"), there);
    MultiMap asked = IdentityProvider.query(there.substring(there.indexOf('?') + 1));
    assertEquals("S256", asked.get("code_challenge_method"));
    assertEquals(43, String.valueOf(asked.get("code_challenge")).length());
    assertEquals(43, String.valueOf(asked.get("nonce")).length());
    assertEquals("code", asked.get("response_type"));
    assertEquals("openid email profile", asked.get("scope"));
    assertEquals(bourse.service().baseUrl() + "/sign-in/oidc/callback", asked.get("redirect_uri"));
    String other = Browser.location(visitor.get("/sign-in/oidc"));
    assertFalse(other.equals(there), "each attempt has values of its own");
  }

  @Test
  void anAnswerToAnotherBrowsersQuestionIsRefused() {
    Browser victim = new Browser(bourse);
    String answer = provider.signIn(Browser.location(new Browser(bourse).get("/sign-in/oidc")));
    assertEquals(403, victim.get(CALLBACK + answer).statusCode());
    victim.get("/sign-in");
    assertEquals(403, victim.get(CALLBACK + answer).statusCode());
    assertFalse(victim.isSignedIn());
  }

  @Test
  void openRedirectAStateThatWasChangedIsRefused() {
    Browser visitor = new Browser(bourse);
    String there = Browser.location(visitor.get("/sign-in/oidc?return_to=%2Fdevice"));
    String answer = provider.signIn(there);
    String elsewhere =
        java.util.Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString("//evil.example".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    String changed = answer.substring(0, answer.lastIndexOf('.') + 1) + elsewhere;
    assertEquals(403, visitor.get(CALLBACK + changed).statusCode());
    for (String broken :
        new String[] {"code=a&state=", "code=a&state=a.b.c", "state=x", "code=x"}) {
      assertEquals(403, visitor.get(CALLBACK + broken).statusCode(), broken);
    }
    assertFalse(visitor.isSignedIn());
  }

  @Test
  void anAnswerWorksOnce() {
    Browser alice = new Browser(bourse);
    String answer = provider.signIn(Browser.location(alice.get("/sign-in/oidc")));
    assertEquals("/account", Browser.location(alice.get(CALLBACK + answer)));
    assertEquals(403, alice.get(CALLBACK + answer).statusCode());
  }

  @Test
  void anIdTokenThatIsNotForThisSignInIsRefused() {
    long past = System.currentTimeMillis() / 1_000 - 3_600;
    Map<String, UnaryOperator<JsonObject>> faults = new LinkedHashMap<>();
    faults.put("issuer", claims -> claims.put("iss", "https://evil.example"));
    faults.put("audience", claims -> claims.put("aud", "other"));
    faults.put("audiences", claims -> claims.put("aud", new JsonArray().add("bourse").add("o")));
    faults.put("party", claims -> claims.put("azp", "other"));
    faults.put("expiry", claims -> claims.put("exp", past));
    faults.put("nonce", claims -> claims.put("nonce", "other"));
    faults.put("no nonce", JsonObject::copy);
    faults.put("unverified", claims -> claims.put("email_verified", false));
    faults.put(
        "verified?",
        claims -> {
          claims.remove("email_verified");
          return claims;
        });
    faults.put(
        "no nonce",
        claims -> {
          claims.remove("nonce");
          return claims;
        });
    faults.forEach(
        (name, change) -> {
          provider.claims = change;
          Browser visitor = new Browser(bourse);
          int status = walk(visitor).statusCode();
          assertTrue(status == 403 || status == 503, name + " " + status);
          assertFalse(visitor.isSignedIn(), name);
        });
  }

  @Test
  void anAddressThatOnlyUnicodesRulesMakeAMembersIsRefused() {
    provider.claims = claims -> claims.put("email", "al\u0130ce@acme.example");
    Browser visitor = new Browser(bourse);
    assertEquals(422, walk(visitor).statusCode());
    provider.claims = claims -> claims.put("email", "alice@ac\u212ame.example");
    assertEquals(422, walk(visitor).statusCode());
    assertFalse(visitor.isSignedIn());
  }

  @Test
  void whomNoOrganizationAdmitsDoesNotComeIn() {
    provider.claims = claims -> claims.put("email", "nobody@nowhere.example");
    Browser visitor = new Browser(bourse);
    assertEquals(403, walk(visitor).statusCode());
    assertFalse(visitor.isSignedIn());
  }

  @Test
  void aProviderThatSaysNoIsTold() {
    Browser visitor = new Browser(bourse);
    HttpResponse<String> answer = visitor.get(CALLBACK + "error=access_denied&state=x&more=1");
    assertEquals(403, answer.statusCode());
    assertTrue(answer.body().contains("You are not signed in"), answer.body());
  }

  @Test
  void aProviderThatIsDownKeepsNothingFromStartingAndIsTold() {
    String[] settings;
    try (IdentityProvider gone = new IdentityProvider()) {
      settings = gone.settings();
    }
    try (RunningBourse alone = RunningBourse.demo(settings)) {
      Browser visitor = new Browser(alone);
      HttpResponse<String> answer = visitor.get("/sign-in/oidc");
      assertEquals(503, answer.statusCode(), answer.body());
      assertTrue(answer.body().contains("does not answer now"), answer.body());
      assertTrue(visitor.signedIn("alice@acme.example").isSignedIn(), "mail still works");
    }
  }

  @Test
  @Slow("the HTTP client's time-out of ten seconds has no clock of the test's own")
  void aProviderThatStallsIsGivenUpAfterTenSeconds() {
    try (IdentityProvider stalling = new IdentityProvider();
        RunningBourse alone = RunningBourse.demo(stalling.settings())) {
      stalling.isSilent = true;
      assertEquals(503, new Browser(alone).get("/sign-in/oidc").statusCode());
      until("the request's connection is closed", () -> stalling.connections() == 0);
      stalling.isSilent = false;
      assertEquals(
          303,
          new Browser(alone).get("/sign-in/oidc").statusCode(),
          "the provider is contacted again");
    }
  }
}
