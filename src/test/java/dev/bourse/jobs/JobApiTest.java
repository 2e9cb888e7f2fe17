package dev.bourse.jobs;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.Trails;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Background jobs as operators see and run them. */
@EachEngine
class JobApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    // Holds every job that needs confirmed time, on the embedded store.
    bourse = RunningBourse.withMarkets(1, "time.confirm-after=1h");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static JsonObject page(String query) {
    return bourse.operator().get("/api/operator/jobs" + query).ok();
  }

  private static JsonObject job(String name) {
    return ClusterClient.objects(page("?limit=500").getJsonArray("jobs")).stream()
        .filter(job -> job.getString("name").equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static HttpAnswer run(String name) {
    return bourse.operator().send("POST", "/api/operator/jobs/" + name + "/run", null);
  }

  private static void store(String sql, Object... parameters) {
    await(bourse.database().commit(List.of(Statement.of(sql, parameters))));
  }

  @Test
  void everyJobIsShownWithItsPeriodItsPlaceAndItsNextRun() {
    JsonObject shown = job("seal-audit-trail");
    assertEquals("sealing the audit trail", shown.getString("summary"));
    assertEquals("one-process", shown.getString("runs_in"));
    assertTrue(shown.getLong("period_ms") > 0, shown.encode());
    assertEquals("lease-holder", job("deliver-webhooks").getString("runs_in"));
    assertEquals("each-process", job("scrub-files").getString("runs_in"));
    until("it ran", () -> job("watch-clocks").getLong("runs") > 0);
    JsonObject ran = job("watch-clocks");
    assertEquals("succeeded", ran.getString("last_result"));
    assertNotNull(ran.getLong("last_duration_ms"));
    assertNotNull(ran.getString("last_success_at"));
    assertEquals(
        bourse.operator().get("/api/operator/status").ok().getString("process"),
        page("").getString("process"));
  }

  @Test
  void jobsAreListedByNameInPages() {
    List<String> names = new ArrayList<>();
    String after = "";
    while (after != null) {
      JsonObject page = page("?limit=10" + (after.isEmpty() ? "" : "&after=" + after));
      assertTrue(page.getJsonArray("jobs").size() <= 10, page.encode());
      ClusterClient.objects(page.getJsonArray("jobs"))
          .forEach(job -> names.add(job.getString("name")));
      after = page.getString("next");
    }
    assertEquals(new ArrayList<>(new TreeSet<>(names)), names);
    assertTrue(names.size() > 25, names::toString);
  }

  @Test
  void anOperatorRunsAJobAndTheTrailSaysSo() {
    until("the first run", () -> job("reencrypt-secrets").getLong("runs") > 0);
    long before = job("reencrypt-secrets").getLong("runs");
    JsonObject started = run("reencrypt-secrets").ok();
    assertEquals("reencrypt-secrets", started.getString("name"));
    until("it ran again", () -> job("reencrypt-secrets").getLong("runs") == before + 1);
    assertTrue(
        bourse.audit(Trails.PLATFORM, false).stream()
            .anyMatch(
                row ->
                    row.action().equals("job_run")
                        && row.detail().equals("reencrypt-secrets")
                        && row.actor().startsWith("operator:")),
        "the platform's trail");
  }

  @Test
  void membersAreMailedBeforeAClockIsConfirmed() {
    until("it ran", () -> job("mail-members").getLong("runs") > 0);
    assertEquals("succeeded", job("mail-members").getString("last_result"));
  }

  @Test
  void aJobThatIsUnknownIsNotFound() {
    assertEquals(
        "no job 'seal' here", run("seal").refused(ErrorCode.NOT_FOUND).getString("detail"));
  }

  @Test
  void aJobWithoutItsConditionIsRefusedWithTheReason() {
    if (bourse.database().isShared()) {
      until("there is a lease", () -> job("deliver-webhooks").getLong("runs") > 0);
      store(
          "UPDATE webhook_lease SET owner = ?, expires_at = %s + ? WHERE name = ?"
              .formatted(bourse.database().clockSql()),
          "process_other",
          30_000,
          "delivery");
      until("it is skipped", () -> job("deliver-webhooks").getString("holder") != null);
      assertEquals("other-process", job("deliver-webhooks").getString("skipped"));
      // During its turn, which comes once a second, it is refused because it runs.
      String reason = "is held by process_other";
      until(
          "it is refused for the lease",
          () ->
              run("deliver-webhooks")
                  .refused(ErrorCode.CONFLICT)
                  .getString("detail")
                  .contains(reason));
      until(
          "that is shown, too",
          () ->
              String.valueOf(job("deliver-webhooks").getString("cannot_run_because"))
                  .contains(reason));
      assertEquals(false, job("deliver-webhooks").getBoolean("can_run"));
    } else {
      until("it is skipped", () -> job("delete-revocations").getString("skipped") != null);
      JsonObject skipped = job("delete-revocations");
      assertEquals("no-confirmed-time", skipped.getString("skipped"));
      assertNull(skipped.getString("last_run_at"));
      String detail = run("delete-revocations").refused(ErrorCode.CONFLICT).getString("detail");
      assertTrue(detail.contains("needs confirmed time"), detail);
      assertEquals(detail, skipped.getString("cannot_run_because"));
      assertEquals(false, skipped.getBoolean("can_run"));
    }
  }
}
