package dev.bourse.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ConnectionsTest {
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
    server.start();
  }

  @AfterEach
  void stop() {
    Connections.close();
    server.stop(0);
  }

  private void call() throws Refused {
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
    call();
    List<Thread> ours = waiting();
    assertFalse(ours.isEmpty(), "the JDK names the thread otherwise");
    Connections.close();
    for (Thread thread : ours) {
      thread.join(5_000);
      assertFalse(thread.isAlive(), thread.getName());
    }
  }

  @Test
  void aCallAfterwardsMakesOthers() throws Exception {
    call();
    Connections.close();
    call();
  }
}
