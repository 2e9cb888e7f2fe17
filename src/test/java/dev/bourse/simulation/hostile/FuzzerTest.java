package dev.bourse.simulation.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Slow;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The fuzzer finds faults planted in a small service, and none in a sound one. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class FuzzerTest {
  private static final String ERROR = "{\"error\":\"bad-request\",\"detail\":\"no\"}";

  private static final JsonObject SOUND =
      new JsonObject().put("limit_price_per_gpu_hour", 3).put("expected_version", 0);

  /** Some answers are never complete, and each is waited for. */
  private static final int HASTE_MILLIS = 2_000;

  /** Longer than a machine stands still, in which a sound service would seem to be silent. */
  private static final int PATIENCE_MILLIS = 10_000;

  private final Map<String, String> stored = new ConcurrentHashMap<>(Map.of("table", "0"));
  private Vertx vertx;
  private HttpServer server;
  private BiConsumer<HttpServerRequest, String> behaviour;

  @BeforeEach
  void serve() {
    vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    server =
        vertx
            .createHttpServer()
            .requestHandler(
                request -> {
                  request.response().putHeader("X-Request-Id", "r");
                  request.response().putHeader("Content-Type", "application/json");
                  request.body().onSuccess(body -> behaviour.accept(request, body.toString()));
                })
            .invalidRequestHandler(
                request -> {
                  request.response().setStatusCode(400).putHeader("X-Request-Id", "r").end();
                  request.connection().close();
                })
            .listen(0, "127.0.0.1")
            .await();
  }

  @AfterEach
  void stop() {
    vertx.close().await();
  }

  /** Accepts exactly its sample, and rejects all else. */
  private static void soundly(HttpServerRequest request, String body) {
    boolean isKnown = request.path().equals("/api/k8s/bid") && body.equals(SOUND.encode());
    if (isKnown && request.method().name().equals("PUT")) {
      request.response().end("{}");
    } else if (request.path().equals("/api/k8s/bid")) {
      request.response().setStatusCode(422).end(ERROR);
    } else {
      request.response().setStatusCode(404).end("{\"error\":\"not-found\",\"detail\":\"no\"}");
    }
  }

  private static boolean isWhole(String body) {
    try {
      new JsonObject(body);
      return true;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Returns the findings about the service's own answers, without those about the library's. */
  private String findings(BiConsumer<HttpServerRequest, String> planted) throws IOException {
    return findings(planted, HASTE_MILLIS);
  }

  private String findings(BiConsumer<HttpServerRequest, String> planted, int patienceMillis)
      throws IOException {
    behaviour = planted;
    Target world = new Planted();
    try (LoopHoldProbe probe = new LoopHoldProbe(((VertxInternal) vertx).nettyEventLoopGroup());
        Fuzzer fuzzer = new Fuzzer(world, probe, 7, patienceMillis)) {
      for (Map.Entry<String, Supplier<AcceptedRequest>> sample : world.samples().entrySet()) {
        fuzzer.attack(sample.getKey(), sample.getValue(), new Fuzzer.Effort(25, 10));
      }
      assertEquals(Set.of("writeBid"), fuzzer.tried());
      assertEquals(
          Set.of("BODY", "PARAMETER", "HEADER", "FRAMING", "BYTES"), fuzzer.kinds("writeBid"));
      List<String> own =
          fuzzer.findings().stream().filter(one -> !one.contains("answered 501")).toList();
      longest = probe.longest().isEmpty() ? 0 : probe.longest().get(0).busyMillis();
      return String.join("\n", own);
    }
  }

  private double longest;

  /** The service as a world with one operation. */
  private final class Planted implements Target {
    @Override
    public int port() {
      return server.actualPort();
    }

    @Override
    public Map<String, Supplier<AcceptedRequest>> samples() {
      AttackedOperation bid =
          AttackedOperation.all().stream()
              .filter(o -> o.id().equals("writeBid"))
              .findFirst()
              .orElseThrow();
      return Map.of("writeBid", () -> AcceptedRequest.of(bid).json(SOUND));
    }

    @Override
    public void judge(String method, String target, int status, @Nullable String json) {
      if (status >= 400 && json != null && !json.contains("\"detail\"")) {
        throw new AssertionError("a refusal without detail");
      }
    }

    @Override
    public Map<String, String> stored() {
      return Map.copyOf(stored);
    }
  }

  @Test
  @Slow("waits for an answer that is never complete")
  void aSoundServiceIsNotAccused() throws IOException {
    assertEquals("", findings(FuzzerTest::soundly, PATIENCE_MILLIS));
  }

  @Test
  void aFaultOfTheServiceIsFoundWithWhatSendsItAgain() throws IOException {
    String found =
        findings(
            (request, body) -> {
              if (body.contains("max_gpus")) {
                request.response().setStatusCode(500).end(ERROR);
              } else {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("answered 500"), found);
    assertTrue(found.contains("printf 'PUT /api/k8s/bid HTTP/1.1"), found);
    assertTrue(found.contains("--seed 7 --only writeBid"), found);
  }

  @Test
  @Slow("waits until a request is counted as silent after 2 s")
  void silenceIsFound() throws IOException {
    AtomicBoolean wasSilent = new AtomicBoolean();
    String found =
        findings(
            (request, body) -> {
              if (!body.contains("max_gpus") || wasSilent.getAndSet(true)) {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("silent for 2000 ms"), found);
  }

  @Test
  void aConnectionThatIsCutWithoutAnAnswerIsFound() throws IOException {
    String found =
        findings(
            (request, body) -> {
              if (body.contains("max_gpus")) {
                request.connection().close();
              } else {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("closed without an answer"), found);
  }

  @Test
  void anAnswerOffTheContractIsFound() throws IOException {
    String found =
        findings(
            (request, body) -> {
              if (body.contains("max_gpus")) {
                request.response().setStatusCode(422).end("{\"error\":\"bad-request\"}");
              } else {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("off the contract: a refusal without detail"), found);
  }

  @Test
  void aRefusalThatLeavesSomethingBehindIsFound() throws IOException {
    String found =
        findings(
            (request, body) -> {
              if (body.contains("max_gpus")) {
                stored.merge("table", "1", String::concat);
                request.response().setStatusCode(422).end(ERROR);
              } else {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("something was written to [table]"), found);
  }

  @Test
  void aBodyOffItsSchemaThatIsAcceptedIsFound() throws IOException {
    String found =
        findings(
            (request, body) -> {
              if (isWhole(body) && request.path().equals("/api/k8s/bid")) {
                request.response().end("{}");
              } else {
                soundly(request, body);
              }
            });
    assertTrue(found.contains("accepted though its body is off the contract"), found);
  }

  @Test
  void aHeldEventLoopIsMeasured() throws IOException {
    findings(
        (request, body) -> {
          // Measures processor time, because other processes may interrupt it.
          ThreadMXBean threads = ManagementFactory.getThreadMXBean();
          long until =
              threads.getCurrentThreadCpuTime() + (body.contains("max_gpus") ? 60_000_000L : 0);
          while (threads.getCurrentThreadCpuTime() < until) {
            Thread.onSpinWait();
          }
          soundly(request, body);
        });
    assertTrue(longest > 25, "longest hold " + longest);
  }
}
