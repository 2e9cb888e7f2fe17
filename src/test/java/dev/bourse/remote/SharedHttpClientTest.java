package dev.bourse.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.bourse.core.Text;
import io.vertx.core.json.JsonObject;
import java.lang.ref.Reference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SharedHttpClientTest {
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private HttpServer server;

  @BeforeEach
  void serve() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] answer = "{\"ok\":true}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.setExecutor(threads);
    server.start();
  }

  @AfterEach
  void stop() {
    SharedHttpClient.close();
    server.stop(0);
    threads.shutdownNow();
  }

  private void call() throws RefusedException {
    String url = "http://localhost:" + server.getAddress().getPort();
    assertEquals(
        true, new Service(url, Credential.NONE).call("GET", "/", null).getBoolean("ok"), url);
  }

  private static List<Thread> waiting() {
    Thread[] threads = new Thread[Thread.activeCount() + 16];
    Thread.enumerate(threads);
    return Stream.of(threads)
        .filter(Objects::nonNull)
        .filter(thread -> thread.getName().contains("SelectorManager"))
        .toList();
  }

  @Test
  void noThreadOfTheirsKeepsAnExitingProcessWaiting() throws Exception {
    SharedHttpClient.close();
    // The JDK ends the thread of a client that was collected, so one client is kept.
    List<Thread> before = waiting();
    HttpClient another = HttpClient.newHttpClient();
    try {
      List<Thread> others = waiting();
      Thread kept =
          others.stream().filter(thread -> !before.contains(thread)).findFirst().orElseThrow();
      call();
      List<Thread> ours = waiting().stream().filter(thread -> !others.contains(thread)).toList();
      assertFalse(ours.isEmpty(), "the JDK names the thread otherwise");
      SharedHttpClient.close();
      assertTrue(kept.isAlive(), "a client that is not shared is not closed");
      for (Thread thread : ours) {
        thread.join(60_000);
        assertFalse(thread.isAlive(), thread.getName());
      }
    } finally {
      Reference.reachabilityFence(another);
    }
  }

  @Test
  void anAnswerWhoseBodyStandsStillEndsAsOneThatDoesNotCome() {
    CountDownLatch end = new CountDownLatch(1);
    server.createContext(
        "/stalled",
        exchange -> {
          exchange.sendResponseHeaders(200, 10);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          try (exchange) {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    String url = "http://localhost:" + server.getAddress().getPort();
    Service service = new Service(url, Credential.NONE);
    try {
      for (BodyHandler<?> handler :
          List.<BodyHandler<?>>of(BodyHandlers.ofString(), BodyHandlers.discarding())) {
        Service.Request request = Service.Request.of("GET", url + "/stalled", Map.of());
        RefusedException refused =
            assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () ->
                    assertThrows(
                        RefusedException.class,
                        () -> service.open(request, handler, Duration.ofMillis(300))));
        assertEquals(ExitCode.UNAVAILABLE, refused.exitCode());
        assertTrue(refused.getMessage().contains("(no answer in time)"), refused.getMessage());
      }
    } finally {
      end.countDown();
    }
  }

  @Test
  void noControlCharacterOfAnAnswerReachesTheTerminal() {
    for (char c : "\u0007\u001b\u007f\u0085\u009b\u009d".toCharArray()) {
      assertEquals("a?b", Table.cell("a" + c + "b"));
      assertEquals("a?b", Text.plain("a" + c + "b"));
      JsonObject told = new JsonObject().put("error", "bad-request").put("detail", "a" + c + "b");
      RefusedException refused =
          new Service("http://localhost", Credential.NONE)
              .refusal(400, HttpHeaders.of(Map.of(), (name, value) -> true), told.encode());
      assertEquals("bad-request: a?b", refused.getMessage());
    }
  }

  @Test
  void aCallAfterwardsMakesOthers() throws Exception {
    call();
    SharedHttpClient.close();
    call();
  }
}
