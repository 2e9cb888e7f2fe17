package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a service is sent that neither its log nor its traces may tell: tokens, people's addresses,
 * and what bodies and files hold.
 */
public final class SentSecrets {
  /** In bodies and files. */
  public static final String CONTENT = "Zq7-the-content-of-a-body";

  private static final String PERSON = "zq7.person@members.acme.example";
  private static final String[] JSON = {"Content-Type", "application/json"};
  private static final String[] FORM = {"Content-Type", "application/x-www-form-urlencoded"};

  private final RunningBourse bourse;
  private final Map<String, String> tokens;
  private final String session;
  private final List<String> secrets = new ArrayList<>();

  public SentSecrets(RunningBourse bourse) {
    this.bourse = bourse;
    tokens =
        Map.of(
            "api", bourse.secret("acme", "orgwide"),
            "bare", bourse.secret("acme", "bare"),
            "member", bourse.memberToken("acme", "alice"),
            "operator", bourse.operatorToken(),
            "unknown", "brs_abcDEF123456_0123456789abcdefghijABCDEFGHIJ12345678");
    session = bourse.startSession("acme", "alice");
    secrets.addAll(List.of(CONTENT, PERSON, "alice@acme.example", session));
    secrets.addAll(tokens.values());
  }

  /** These are secrets, too. */
  public void add(Collection<String> more) {
    secrets.addAll(more);
  }

  /** The same. */
  public void add(String... more) {
    add(Arrays.asList(more));
  }

  /**
   * Asks for nearly every operation of the contracts as every kind of caller, and puts secrets
   * where none belongs.
   */
  public void send() {
    Map<String, ApiClient> callers = new TreeMap<>();
    tokens.forEach((name, token) -> callers.put(name, bourse.with(token)));
    callers.put("session", bourse.inSession(session));
    callers.put("nobody", bourse.with(null));
    byte[] foreign = bytes(new JsonObject().put(CONTENT, PERSON).put("email", PERSON).encode());
    for (ContractCase call : ContractCase.ALL) {
      String method = call.described().method();
      for (ApiClient caller : callers.values()) {
        // Nothing that ends what the others need.
        if (method.equals("DELETE") || call.path().matches(".*(/events|session|sign-out).*")) {
          continue;
        }
        caller.fetch(method, call.path(), bytes(call.body()), JSON);
        caller.fetch(method, call.path(), foreign, JSON);
      }
    }
    bourse
        .operator()
        .post(
            "/api/operator/orgs/acme/members",
            new JsonObject().put("username", "zq7").put("email", PERSON).put("name", CONTENT));
    tokens.values().forEach(this::misplace);
  }

  private void misplace(String token) {
    ApiClient nobody = bourse.with(null);
    nobody.fetch("GET", "/api/whoami?token=" + token, "X-Request-Id", token);
    nobody.fetch("GET", "/" + token + "/" + PERSON, "User-Agent", token);
    nobody.fetch("GET", "/api/whoami", "Cookie", "bourse=" + token);
    nobody.fetch("GET", "/api/whoami", "tracestate", "a=" + token, "traceparent", token);
    nobody.fetch("POST", "/sign-in", bytes("email=" + PERSON + "&csrf=" + token), FORM);
    nobody.fetch(
        "POST", "/oauth/token", bytes("grant_type=refresh_token&refresh_token=" + token), FORM);
  }

  /** Fails with what stands around it when a text has one of them. */
  public void assertNoneIn(String text) {
    for (String secret : secrets) {
      int at = text.indexOf(secret);
      assertFalse(
          at >= 0, () -> text.substring(Math.max(0, at - 300), Math.min(text.length(), at + 300)));
    }
  }

  private static byte[] bytes(@Nullable String text) {
    return (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
  }
}
