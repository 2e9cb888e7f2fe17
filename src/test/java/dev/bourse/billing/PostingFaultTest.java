package dev.bourse.billing;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Times;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Scrape;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An organization whose usage cannot be posted does not block the others. */
@EachEngine
class PostingFaultTest {
  private static final long HOUR = 3_600_000;
  private static final long DOLLAR = 1_000_000;
  private static final int GPUS = 8;

  /** Three hours ago; both organizations held a node from its beginning, for two hours. */
  private final long hour = System.currentTimeMillis() / HOUR * HOUR - 3 * HOUR;

  private static RunningBourse start() {
    String world = TestMarket.world(1).replaceAll("(?m)^ *- \\{name: s1-red-fixed.*$", "");
    return RunningBourse.world(world, "billing.check-interval=20ms");
  }

  private List<Statement> past() {
    List<Statement> past = new ArrayList<>();
    past.add(
        Statement.of(
            "INSERT INTO price_point (pool, ts, clearing_cents, cents_millis, priced_millis)"
                + " VALUES ('s1', ?, 100, 0, 0)",
            hour - HOUR));
    int node = 0;
    for (String cluster : List.of("s1-blue", "s1-red-a")) {
      past.add(
          Statement.of(
              "INSERT INTO activity (ts, cluster, kind, actor, who, max_gpus, ceiling_cents)"
                  + " VALUES (?, ?, 'request', 'token:x', 'user', 8, 200)",
              hour - HOUR,
              cluster));
      past.add(
          Statement.of(
              "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state, granted_at,"
                  + " active_at, grant_ceiling_cents, pinned, nomination, key_ids, reclaim_reason,"
                  + " reclaim_at, gone_at) VALUES (?, ?, ?, 0, 'RECLAIMING', ?, ?, 200, 0, 0, '',"
                  + " 'SCALE_DOWN', ?, ?)",
              "alc_" + cluster,
              cluster,
              "s1-0000" + ++node,
              hour,
              hour,
              hour + 2 * HOUR,
              hour + 2 * HOUR));
    }
    return past;
  }

  /** A line already exists where blue's first hour belongs, so the store rejects its posting. */
  private Statement fault() {
    return Statement.of(
        "INSERT INTO usage_line (org_id, hour, cluster, gpu_millis, cent_gpu_millis,"
            + " amount_micros) VALUES ('s1-blue', ?, 's1-blue', 0, 0, 0)",
        hour);
  }

  private long postedLines(ApiClient caller) {
    return lines(caller).stream().filter(line -> line.getBoolean("posted")).count();
  }

  private List<JsonObject> lines(ApiClient caller) {
    return ClusterClient.objects(
        caller
            .get("/api/billing/usage?from=" + Times.rfc3339(hour - HOUR))
            .ok()
            .getJsonArray("lines"));
  }

  private static double failures(RunningBourse bourse) {
    return Scrape.of(bourse.service().signals()).sum("bourse_usage_posting_failures_total");
  }

  private static void repair(RunningBourse bourse) {
    await(
        bourse
            .database()
            .commit(List.of(Statement.of("DELETE FROM usage_line WHERE org_id = 's1-blue'"))));
  }

  private static JsonObject balance(ApiClient caller) {
    return caller.get("/api/billing/balance").ok();
  }

  @Test
  void anOrganizationThatCannotBePostedKeepsNobodyElseWaitingAndCatchesUp() {
    try (RunningBourse bourse = start()) {
      ApiClient blue = bourse.as("s1-blue", "orgwide");
      ApiClient red = bourse.as("s1-red", "orgwide");
      List<Statement> past = past();
      past.add(fault());
      await(bourse.database().commit(past));
      until("both hours of the other are posted", () -> postedLines(red) == 2);

      until("its failure shows", () -> failures(bourse) > 0);
      JsonObject waiting = balance(blue);
      assertEquals(Times.rfc3339(hour), waiting.getString("posted_through"));
      assertEquals(1_000_000 * DOLLAR, waiting.getLong("posted_micros"));
      assertEquals(2 * GPUS * DOLLAR, waiting.getLong("accrued_micros"), "it still counts");
      assertEquals(0, postedLines(blue));

      repair(bourse);
      until("it catches up", () -> postedLines(blue) == 2);
      for (ApiClient caller : List.of(blue, red)) {
        assertEquals((1_000_000 - 2 * GPUS) * DOLLAR, balance(caller).getLong("posted_micros"));
        assertEquals(0, balance(caller).getLong("accrued_micros"));
      }
      assertTrue(bourse.operator().get("/api/operator/ledger").ok().getBoolean("sound"));
    }
  }

  @Test
  void whatIsNotPostedIsListedPageByPageAndByWholeHours() {
    try (RunningBourse bourse = start()) {
      ApiClient blue = bourse.as("s1-blue", "orgwide");
      List<Statement> past = past();
      past.add(fault());
      await(bourse.database().commit(past));
      until("its failure shows", () -> failures(bourse) > 0);
      List<JsonObject> all = lines(blue);
      assertEquals(2, all.size(), all.toString());

      String from = "/api/billing/usage?from=" + Times.rfc3339(hour - HOUR);
      JsonObject first = blue.get(from + "&limit=1").ok();
      assertEquals(all.subList(0, 1), ClusterClient.objects(first.getJsonArray("lines")));
      JsonObject second = blue.get(from + "&limit=1&after=" + first.getString("next")).ok();
      assertEquals(all.subList(1, 2), ClusterClient.objects(second.getJsonArray("lines")));
      assertEquals(false, second.getBoolean("more"));

      JsonObject begun = blue.get(from + "&to=" + Times.rfc3339(hour + 1)).ok();
      assertEquals(
          all.subList(0, 1), ClusterClient.objects(begun.getJsonArray("lines")), "not cut short");
      JsonObject none = blue.get(from + "&to=" + Times.rfc3339(hour)).ok();
      assertEquals(List.of(), ClusterClient.objects(none.getJsonArray("lines")));
    }
  }
}
