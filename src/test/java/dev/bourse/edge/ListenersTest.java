package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.internal.VertxInternal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/** The closing of the listening sockets. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ListenersTest {
  private static final int CLIENTS = 20;

  private final Vertx vertx = Vertx.vertx();
  private final Listeners listeners = new Listeners();
  private final List<Socket> clients = new ArrayList<>();
  private HttpServer server;

  @BeforeEach
  void start() throws Exception {
    server =
        await(
            vertx
                .createHttpServer()
                .connectionHandler(listeners::arrived)
                .requestHandler(request -> request.response().end())
                .listen(0, InetAddress.getLoopbackAddress().getHostAddress()));
  }

  @AfterEach
  void stop() throws Exception {
    for (Socket client : clients) {
      client.close();
    }
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
  }

  private Socket connect() throws IOException {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), server.actualPort());
    client.setSoTimeout(30_000);
    clients.add(client);
    return client;
  }

  private static void send(Socket client) throws IOException {
    client
        .getOutputStream()
        .write(
            "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
  }

  private static String status(Socket client) throws IOException {
    return new BufferedReader(
            new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))
        .readLine();
  }

  // The last client races the selector, and wins once in seven times if the fault is present.
  @RepeatedTest(20)
  void whoHasConnectedBeforeTheSocketIsClosedIsServedAndNobodyElse() throws Exception {
    Socket first = connect();
    send(first);
    assertEquals("HTTP/1.1 200 OK", status(first));

    CountDownLatch isBusy = new CountDownLatch(1);
    ((VertxInternal) vertx)
        .acceptorEventLoopGroup()
        .next()
        .execute(
            () -> {
              try {
                isBusy.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    List<Socket> waiting = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Socket client = connect();
      send(client);
      waiting.add(client);
    }
    Future<Void> closed = listeners.close();
    isBusy.countDown();
    await(closed);
    for (Socket client : waiting) {
      assertEquals("HTTP/1.1 200 OK", status(client));
    }
    assertThrows(ConnectException.class, this::connect);
  }
}
