package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ThisProcess;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.Polls;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SentSecrets;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The log of a whole service, and the data it must not contain. */
@ReplayedOnPostgres
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
    if (!bourse.database().isShared()) {
      return;
    }
    List<String> names =
        RunningBourse.await(
            bourse
                .database()
                .read(
                    "SELECT application_name FROM pg_stat_activity"
                        + " WHERE pid = pg_backend_pid()",
                    List.of(),
                    row -> row.text("application_name")));
    assertTrue(
        names.get(0).startsWith("bourse " + ThisProcess.name() + " reader "), names.toString());
  }

  @Test
  void noTokenNoAddressAndNoContentIsLogged() {
    SentSecrets secrets = new SentSecrets(bourse);
    try (LogCapture log = new LogCapture()) {
      secrets.send();
      FilesFixture.publish(
          bourse.asMember("acme", "alice"),
          FilesFixture.freshName(),
          SentSecrets.CONTENT.getBytes(StandardCharsets.UTF_8),
          "org");
      String said = log.text();
      secrets.assertNoneIn(said);
      // The masking of the log was not needed either.
      assertFalse(said.contains("…@") || said.matches("(?s).*br[sorkv]_….*"), said);
      assertTrue(log.lines().size() > 20, "the calls were logged: " + log.lines().size());
    }
  }
}
