package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Scrape;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The metrics of a service, and their agreement with the guide. */
@EachEngine
class SignalsTest {
  private static RunningBourse bourse;
  private static TestMarket market;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.withMarkets(4);
    market = bourse.market();
    ClusterClient red = market.redA();
    red.addKey();
    red.hold(2, 2.0);
    red.declare(1, 2.0);
    RunningBourse.until("reclaimed", () -> red.allocations().size() == 1);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static Scrape scrape() {
    return Scrape.of(bourse.service().signals());
  }

  private static String text(String path) {
    return new String(bourse.with(null).fetch("GET", path).body(), StandardCharsets.UTF_8);
  }

  private static Set<String> guide() {
    return found(
        "(?m)^\\| `([a-z_]+)` \\| (?:counter|gauge|histogram) ", text("/docs/guides/signals.md"));
  }

  /** Metrics without series until something fails or is used. */
  private static final Set<String> NOT_YET =
      Set.of(
          "bourse_market_tick_failures_total",
          "bourse_clock_skew_seconds",
          "bourse_http_proxy_headers_refused_total",
          "bourse_tls_certificate_expiry_seconds");

  @Test
  void theGuideHasWhatIsPrintedAndNothingElse() {
    Set<String> guide = guide();
    Set<String> printed = scrape().names();
    assertEquals(Set.of(), without(printed, guide), "printed, and not in the guide");
    assertEquals(
        Set.of(), without(without(guide, printed), NOT_YET), "documented but never exported");
  }

  private static Set<String> without(Set<String> some, Set<String> others) {
    Set<String> left = new TreeSet<>(some);
    left.removeAll(others);
    return left;
  }

  /** Metrics of features that may be absent here: the feed of PostgreSQL, the embedded store. */
  private static final Set<String> ELSEWHERE =
      Set.of("bourse_changes_known_age_seconds", "bourse_store_log_bytes");

  @Test
  void alertsGoByNumbersThatThereAreAndHaveARunbookEach() throws IOException {
    String rules = Files.readString(Path.of("conf/alerts.yaml"));
    Set<String> named = found("\\b((?:bourse|process|jvm)_[a-z_]+)\\b", rules);
    named.removeIf(name -> guide().contains(name));
    assertEquals(Set.of(), without(named, ELSEWHERE));
    Set<String> alerts = found("- alert: (\\w+)", rules);
    assertTrue(alerts.size() >= 15, alerts.toString());
    assertEquals(
        alerts,
        found("(?m)^### (Bourse\\w+)$", text("/docs/guides/operators.md")),
        "alerts and their runbooks in the operators' guide");
    String page = text("/docs/guides/operators");
    found("runbook: /docs/guides/operators#(\\w+)", rules)
        .forEach(id -> assertTrue(page.contains("id=\"" + id + "\""), id));
  }

  @Test
  void dashboardsShowNumbersAndLabelsThatThereAre() throws IOException {
    Set<String> labels = new TreeSet<>(Set.of("instance", "le", "job"));
    labels.addAll(found("(?m)^\\| `([a-z]+)` \\| [^|]+ \\|$", text("/docs/guides/signals.md")));
    List<Path> files;
    try (Stream<Path> all = Files.list(Path.of("conf/dashboards"))) {
      files = all.toList();
    }
    assertEquals(5, files.size());
    for (Path file : files) {
      JsonArray panels = new JsonObject(Files.readString(file)).getJsonArray("panels");
      assertTrue(panels.size() >= 6, file::toString);
      for (Object panel : panels) {
        for (Object target : ((JsonObject) panel).getJsonArray("targets")) {
          String shown = ((JsonObject) target).getString("expr");
          Set<String> names = found("\\b((?:bourse|process|jvm)_[a-z_]+)\\b", shown);
          names.removeIf(name -> guide().contains(name.replaceAll("_(bucket|sum|count)$", "")));
          assertEquals(Set.of(), without(names, ELSEWHERE), shown);
          String grouped = String.join(",", found("by \\(([^)]*)\\)", shown));
          String said = ((JsonObject) target).getString("legendFormat");
          Set<String> used = found("([a-z]+)", grouped);
          Set<String> documented = found("\\{\\{([a-z]+)}}", said);
          assertEquals(Set.of(), without(used, labels), shown);
          assertEquals(Set.of(), without(documented, labels), said);
          if (!grouped.isEmpty()) {
            assertEquals(without(used, Set.of("le")), documented, "one line for each: " + shown);
          }
        }
      }
    }
  }

  private static Set<String> found(String pattern, String text) {
    Set<String> found = new TreeSet<>();
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }

  @Test
  void anIdleServicePrintsNoSeriesOfOperationsThatNobodyCalled() {
    try (RunningBourse idle = RunningBourse.withMarkets(1)) {
      Scrape scrape = Scrape.of(idle.service().signals());
      assertFalse(scrape.has("bourse_http_requests_total"));
      assertFalse(scrape.has("bourse_http_request_seconds_count"));
      assertTrue(scrape.lines().size() < 500, () -> scrape.lines().size() + " lines");
    }
  }

  @Test
  void noLabelNamesAClusterAnOrganizationOrAnAddress() {
    for (String line : scrape().lines()) {
      assertFalse(line.contains(market.red()) || line.contains("198.18."), line);
    }
  }

  @Test
  void grantsAndReclaimsAreCountedByPool() {
    Scrape scrape = scrape();
    String pool = "pool=\"" + market.name() + "\"";
    assertEquals(2, scrape.sum("bourse_cluster_events_total", pool, "kind=\"granted\""));
    assertEquals(1, scrape.sum("bourse_reclaims_total", pool, "reason=\"scale-down\""));
    assertEquals(1, scrape.sum("bourse_allocations", pool, "state=\"active\""));
    assertEquals(0, scrape.sum("bourse_pending_nodes", pool));
    assertEquals(2, scrape.sum("bourse_node_work_seconds_count", pool, "kind=\"provision\""));
    assertEquals(1, scrape.sum("bourse_node_work_seconds_count", pool, "kind=\"reclaim\""));
  }

  @Test
  void theMarketTellsItsTicksItsLeaseItsNodesAndItsPrice() {
    Scrape scrape = scrape();
    String pool = "pool=\"" + market.name() + "\"";
    assertTrue(scrape.sum("bourse_market_tick_seconds_count", pool) > 0);
    assertEquals(1, scrape.sum("bourse_market_lease_held", pool));
    assertEquals(1, scrape.sum("bourse_market_lease_epoch", pool));
    assertEquals(TestMarket.NODES, scrape.sum("bourse_pool_nodes", pool, "state=\"usable\""));
    assertEquals(TestMarket.NODES, scrape.sum("bourse_node_health", pool, "state=\"unknown\""));
    assertEquals(0, scrape.sum("bourse_node_health", pool, "state=\"failed\""));
    assertEquals(1.0, scrape.sum("bourse_market_clearing_price_dollars", pool));
    assertEquals(TestMarket.NODES, scrape.sum("bourse_market_supply_nodes", pool));
    assertTrue(scrape.sum("bourse_market_quote_age_seconds", pool) < 60);
  }

  @Test
  void theStoreTellsItsCommitsAndReads() {
    Scrape scrape = scrape();
    assertTrue(scrape.sum("bourse_store_commit_seconds_count") > 0);
    assertTrue(
        scrape.sum("bourse_store_group_commits_sum")
            >= scrape.sum("bourse_store_commit_seconds_count"));
    assertTrue(scrape.sum("bourse_store_read_wait_seconds_count") > 0);
    assertTrue(scrape.has("bourse_store_answered_age_seconds", "kind=\"written\""));
  }
}
