package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ThisProcess;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ContractCase;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a whole service logs, and what it never does. */
@EachEngine
class LogApiTest {
  private static final String[] JSON = {"Content-Type", "application/json"};
  private static final Pattern OF_STORE = Pattern.compile("slow.* [1-9]\\d* in the store, .*");
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("log.slow-request=1ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static HttpAnswer declare(int gpus, String requestId) {
    ApiClient acme = bourse.as("acme", "orgwide");
    JsonObject standing = acme.get("/api/vm/capacity?cluster=acme-train").ok();
    return acme.send(
        "PUT",
        "/api/vm/capacity",
        new JsonObject()
            .put("cluster", "acme-train")
            .put("max_gpus", gpus)
            .put("max_price_per_gpu_hour", 3)
            .put("expected_version", standing.getInteger("version"))
            .encode(),
        "X-Request-Id",
        requestId,
        JSON[0],
        JSON[1]);
  }

  @Test
  void aReclaimThatAMemberAskedForNamesTheRequest() {
    try (LogCapture log = new LogCapture()) {
      bourse
          .as("acme", "orgwide")
          .post(
              "/api/vm/orgs/acme/ssh-keys",
              new JsonObject()
                  .put("name", "laptop")
                  .put(
                      "public_key",
                      "ssh-ed25519"
                          + " AAAAC3NzaC1lZDI1NTE5AAAAIO5HSYbGle+1+jbrvq58563220rFhYCUQNl31W1Uv8xb"
                          + " alice@laptop"));
      declare(16, "up-1").ok();
      log.await(
          "the market's grants",
          line ->
              line.getString("message").contains("node granted × 2 (acme-train)")
                  && !line.containsKey("request_id"));
      declare(0, "down-1").ok();
      JsonObject line = log.await("node reclaimed, scale-down × 2 (acme-train)");
      assertEquals("down-1", line.getString("request_id"));
      assertEquals("acme", line.getString("org"));
      assertEquals("declareCapacity", line.getString("operation"));
    }
  }

  @Test
  void aSlowWriteIsToldWithTheTimeThatTheStoreTook() {
    try (LogCapture log = new LogCapture()) {
      JsonObject line =
          Polls.until(
                  "a write whose commit took a millisecond",
                  () -> {
                    declare(0, "slow").ok();
                    return log.lines().stream()
                        .filter(l -> "slow".equals(l.getString("request_id")))
                        .filter(l -> OF_STORE.matcher(l.getString("message")).matches())
                        .findFirst();
                  },
                  Optional::isPresent)
              .orElseThrow();
      assertEquals("declareCapacity", line.getString("operation"));
    }
  }

  @Test
  void sessionsOfTheDatabaseServerNameTheProcess() {
    if (!bourse.service().database().isShared()) {
      return;
    }
    List<String> names =
        RunningBourse.await(
            bourse
                .service()
                .database()
                .read(
                    "SELECT application_name FROM pg_stat_activity"
                        + " WHERE pid = pg_backend_pid()",
                    List.of(),
                    row -> row.text("application_name")));
    assertEquals(List.of("bourse " + ThisProcess.name()), names);
  }

  /** What is sent besides tokens, and must not be in the log either. */
  private static final String CONTENT = "Zq7-the-content-of-a-body";

  private static final String PERSON = "zq7.person@members.acme.example";

  @Test
  void noTokenNoAddressAndNoContentIsLogged() {
    Map<String, ApiClient> callers = new TreeMap<>();
    List<String> secrets = new ArrayList<>(List.of(CONTENT, PERSON, "alice@acme.example"));
    Map<String, String> tokens =
        Map.of(
            "api", bourse.secret("acme", "orgwide"),
            "bare", bourse.secret("acme", "bare"),
            "member", bourse.memberToken("acme", "alice"),
            "operator", bourse.operatorToken(),
            "unknown", "brs_abcDEF123456_0123456789abcdefghijABCDEFGHIJ12345678");
    tokens.forEach((name, token) -> callers.put(name, bourse.with(token)));
    secrets.addAll(tokens.values());
    String session = bourse.startSession("acme", "alice");
    secrets.add(session);
    callers.put("session", bourse.inSession(session));
    callers.put("nobody", bourse.with(null));
    try (LogCapture log = new LogCapture()) {
      for (ContractCase call : ContractCase.ALL) {
        String method = call.described().method();
        for (ApiClient caller : callers.values()) {
          // Nothing that ends what the others need.
          if (method.equals("DELETE") || call.path().matches(".*(/events|session|sign-out).*")) {
            continue;
          }
          caller.fetch(method, call.path(), bytes(call.body()), JSON);
          caller.fetch(
              method,
              call.path(),
              bytes("{\"" + CONTENT + "\":\"" + PERSON + "\",\"email\":\"" + PERSON + "\"}"),
              JSON);
        }
      }
      bourse
          .operator()
          .post(
              "/api/operator/orgs/acme/members",
              new JsonObject().put("username", "zq7").put("email", PERSON).put("name", CONTENT));
      for (String token : tokens.values()) {
        ApiClient nobody = bourse.with(null);
        nobody.fetch("GET", "/api/whoami?token=" + token, "X-Request-Id", token);
        nobody.fetch("GET", "/" + token + "/" + PERSON, "User-Agent", token);
        nobody.fetch("GET", "/api/whoami", "Cookie", "bourse=" + token);
        nobody.fetch(
            "POST",
            "/sign-in",
            bytes("email=" + PERSON + "&csrf=" + token),
            "Content-Type",
            "application/x-www-form-urlencoded");
        nobody.fetch(
            "POST",
            "/oauth/token",
            bytes("grant_type=refresh_token&refresh_token=" + token),
            "Content-Type",
            "application/x-www-form-urlencoded");
      }
      FilesFixture.publish(
          bourse.asMember("acme", "alice"),
          FilesFixture.freshName(),
          CONTENT.getBytes(StandardCharsets.UTF_8),
          "org");
      String said = log.text();
      for (String secret : secrets) {
        int at = said.indexOf(secret);
        assertFalse(
            at >= 0,
            () -> said.substring(Math.max(0, at - 300), Math.min(said.length(), at + 300)));
      }
      // The net under this rule was not needed either.
      assertFalse(said.contains("…@") || said.matches("(?s).*br[sorkv]_….*"), said);
      assertTrue(log.lines().size() > 20, "the calls were logged: " + log.lines().size());
    }
  }

  private static byte[] bytes(@Nullable String text) {
    return (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
  }
}
