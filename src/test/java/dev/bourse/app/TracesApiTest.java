package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.Collector;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.Polls;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SentSecrets;
import dev.bourse.testing.SetsFixture;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The traces of a whole service, and the data they must not contain. */
@ReplayedOnPostgres
class TracesApiTest {
  private static final String CALLER = "00f067aa0ba902b7";
  private static final String STATE = "/api/vm/capacity?cluster=acme-train";
  private static final String[] JSON = {"Content-Type", "application/json"};
  private static Collector collector;
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    collector = new Collector();
    bourse =
        RunningBourse.demo(
            "trace.endpoint=" + collector.url(),
            "trace.sample=1",
            "log.slow-request=1ms",
            "secret.key=" + "ab".repeat(32),
            "webhooks.private-hosts=localhost");
  }

  @AfterAll
  static void stop() {
    bourse.close();
    collector.close();
  }

  private static String parent(String traceId, String flags) {
    return "00-" + traceId + '-' + CALLER + '-' + flags;
  }

  private static HttpAnswer read(String requestId, String... headers) {
    List<String> all = new ArrayList<>(List.of("X-Request-Id", requestId));
    all.addAll(List.of(headers));
    return bourse.as("acme", "orgwide").send("GET", STATE, null, all.toArray(String[]::new));
  }

  private static HttpAnswer declare(String requestId, String... headers) {
    ApiClient acme = bourse.as("acme", "orgwide");
    List<String> all = new ArrayList<>(List.of("X-Request-Id", requestId, JSON[0], JSON[1]));
    all.addAll(List.of(headers));
    return acme.send(
        "PUT",
        "/api/vm/capacity",
        new JsonObject()
            .put("cluster", "acme-train")
            .put("max_gpus", 0)
            .put("max_price_per_gpu_hour", 3)
            .put("expected_version", acme.get(STATE).ok().getInteger("version"))
            .encode(),
        all.toArray(String[]::new));
  }

  @Test
  void aReadIsASpanOfItsClientsTrace() {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    read("get-1", "traceparent", parent(trace, "01")).ok();
    Collector.Told span = collector.awaitRequest("get-1");
    assertEquals(trace, span.traceId());
    assertEquals(CALLER, span.parentId());
    assertEquals(Collector.Told.SERVER, span.kind());
    assertEquals("readCapacity", span.name());
    assertEquals(
        Map.of(
            "http.request.method", "GET",
            "http.route", "/api/vm/capacity",
            "http.response.status_code", "200",
            "bourse.org", "acme",
            "bourse.request_id", "get-1"),
        span.attributes());
    assertFalse(span.failed());
  }

  @Test
  void aWriteHasWithinItWhatItWaitedFor() {
    declare("put-1").ok();
    Collector.Told span = collector.awaitRequest("put-1");
    assertEquals("declareCapacity", span.name());
    assertEquals("", span.parentId());
    List<Collector.Told> within = collector.within(span);
    Set<String> names = within.stream().map(Collector.Told::name).collect(Collectors.toSet());
    assertTrue(
        names.containsAll(Set.of("owner's queue", "store's queue", "store")), names.toString());
    for (Collector.Told wait : within) {
      assertEquals(span.traceId(), wait.traceId());
      assertTrue(span.beganNanos() <= wait.beganNanos(), wait.toString());
      assertTrue(wait.beganNanos() <= wait.endedNanos(), wait.toString());
      assertTrue(wait.endedNanos() <= span.endedNanos(), wait.toString());
    }
  }

  @Test
  void aRefusalIsNoFaultAndHasItsStatus() {
    bourse.with(null).send("GET", STATE, null, "X-Request-Id", "get-4");
    Collector.Told span = collector.awaitRequest("get-4");
    assertEquals("401", span.get("http.response.status_code"));
    assertEquals("", span.get("bourse.org"));
    assertFalse(span.failed());
  }

  @Test
  void whatReachesNoOperationTellsNothingOfWhatWasAsked() {
    bourse.with(null).send("BREW", "/nothing-of-the-kind", null, "X-Request-Id", "brew-1");
    Collector.Told span = collector.awaitRequest("brew-1");
    assertEquals("none", span.name());
    assertEquals(
        Map.of(
            "http.request.method", "_OTHER",
            "http.response.status_code", "404",
            "bourse.request_id", "brew-1"),
        span.attributes());
  }

  @Test
  void theLogHasTheIdOfATraceThatBeganHere() {
    try (LogCapture log = new LogCapture()) {
      JsonObject line =
          Polls.until(
                  "a write that took a millisecond",
                  () -> {
                    declare("slow").ok();
                    return log.lines().stream()
                        .filter(l -> "slow".equals(l.getString("request_id")))
                        .filter(l -> l.getString("message").startsWith("slow request"))
                        .findFirst();
                  },
                  Optional::isPresent)
              .orElseThrow();
      Collector.Told span =
          collector.await(
              "the span of the line",
              exported ->
                  exported.traceId().equals(line.getString("trace_id"))
                      && exported.parentId().isEmpty());
      assertEquals("slow", span.get("bourse.request_id"));
    }
  }

  @Test
  void aDeliveryIsToldWithItsStatusAndNotWhereItWent() {
    try (Receiver receiver = new Receiver(message -> 503)) {
      ApiClient member =
          bourse.with(
              McpClient.token(bourse, "acme", "alice", Set.of(Scope.ORG_READ, Scope.ORG_WRITE)));
      HttpAnswer made =
          member.post(
              "/api/console/webhooks",
              new JsonObject()
                  .put("url", receiver.url() + "/?key=Zq8")
                  .put("kinds", new JsonArray().add("grant")));
      assertEquals(201, made.status(), made.toString());
      JsonObject endpoint = made.json();
      member
          .post(
              "/api/console/webhooks/" + endpoint.getString("endpoint_id") + "/test",
              new JsonObject())
          .ok();
      Collector.Told span =
          collector.await("webhooks", exported -> exported.name().equals("webhooks"));
      assertEquals(Collector.Told.CLIENT, span.kind());
      assertTrue(span.failed());
      assertEquals(
          Map.of(
              "http.request.method", "POST",
              "http.response.status_code", "503",
              "error.type", "503"),
          span.attributes());
      assertFalse(collector.text().contains("Zq8"));
      assertFalse(collector.text().contains(endpoint.getString("secret")));
    }
  }

  @Test
  void noTokenNoAddressAndNoContentIsTold() {
    SentSecrets secrets = new SentSecrets(bourse);
    // Texts that occur in no request id.
    secrets.add("Zq7.", "Zq7-", "bob@acme.example");
    secrets.send();
    Map<String, byte[]> files =
        SetsFixture.folder("Zq7.txt", SentSecrets.CONTENT.getBytes(StandardCharsets.UTF_8));
    SetsFixture.Announced set =
        SetsFixture.announce(
            bourse.asMember("acme", "alice"),
            SetsFixture.publication(FilesFixture.freshName(), files, "org"));
    SetsFixture.send(bourse.with(null), set, files);
    secrets.add(set.session().substring(set.session().lastIndexOf('/') + 1));
    Browser bob = new Browser(bourse);
    String link = bob.askForLink("bob@acme.example", "");
    bob.follow(link);
    secrets.add(
        link.substring(link.lastIndexOf('/') + 1), link.substring(link.lastIndexOf('=') + 1));
    secrets.add(bob.cookies.values());

    read("the-last").ok();
    collector.awaitRequest("the-last");
    String exported = collector.text();
    secrets.assertNoneIn(exported);
    assertFalse(exported.contains("@") && exported.matches("(?s).*[a-z]@[a-z]+\\.example.*"));
    Set<String> keys =
        collector.told().stream()
            .flatMap(span -> span.attributes().keySet().stream())
            .collect(Collectors.toSet());
    assertTrue(
        Set.of(
                "http.request.method",
                "http.route",
                "http.response.status_code",
                "error.type",
                "bourse.org",
                "bourse.request_id",
                "bourse.waits_untold",
                "bourse.node")
            .containsAll(keys),
        keys.toString());
    Set<String> names =
        collector.told().stream().map(Collector.Told::name).collect(Collectors.toSet());
    assertTrue(names.size() > 50, "the calls were traced: " + names);
    assertTrue(names.contains("files"), names.toString());
  }

  @Test
  void aStopSendsWhatWaits() {
    try (Collector own = new Collector()) {
      RunningBourse other = RunningBourse.demo("trace.endpoint=" + own.url(), "trace.sample=1");
      other.as("acme", "orgwide").send("GET", STATE, null, "X-Request-Id", "last-1");
      other.close();
      assertTrue(
          own.told().stream().anyMatch(span -> span.get("bourse.request_id").equals("last-1")));
    }
  }
}
