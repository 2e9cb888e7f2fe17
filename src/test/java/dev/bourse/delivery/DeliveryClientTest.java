package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests during the outage of a name server. */
@OneEngine("it has no store")
class DeliveryClientTest {
  private static final int AT_ONCE = 2;

  private final CountDownLatch over = new CountDownLatch(1);
  private final Vertx vertx = Vertx.vertx();
  private final DeliveryClient client =
      new DeliveryClient(
          vertx,
          new HttpClientOptions(),
          new DeliveryClient.Terms("tests", "Tests/1", AT_ONCE, 0, 60_000, "https://h.example/"),
          Set.of(),
          Traces.OFF,
          this::resolve);

  /** The name server does not answer for one host. */
  private InetAddress[] resolve(String host) throws UnknownHostException {
    if (host.equals("dead.example")) {
      try {
        over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    throw new UnknownHostException(host);
  }

  @AfterEach
  void close() {
    over.countDown();
    RunningBourse.await(client.close());
    RunningBourse.await(vertx.close());
  }

  private Future<Attempt> send(String url) {
    return client.send(
        new DeliveryClient.Message(HttpMethod.POST, url, Map.of(), Buffer.buffer("{}")));
  }

  private static void overloaded(Future<Optional<String>> asked) {
    assertThrows(AssertionError.class, () -> RunningBourse.await(asked));
    assertEquals(ErrorCode.OVERLOADED, assertInstanceOf(ApiException.class, asked.cause()).code());
  }

  @Test
  void addressesThatMembersNameHoldUpNoDelivery() {
    List<Future<Optional<String>>> asked = new ArrayList<>();
    for (int org = 0; org < 16; org++) {
      asked.add(client.findUnreachable("org" + org, "https://dead.example/"));
    }
    overloaded(client.findUnreachable("another", "https://h.example/"));
    assertEquals(
        "its host is not known, or has an address that is not public",
        RunningBourse.await(send("https://h.example/")).fault());
    over.countDown();
    asked.forEach(one -> assertTrue(RunningBourse.await(one).isPresent()));
  }

  @Test
  void anOrganizationHasOneAddressLookedUpAtATime() {
    Future<Optional<String>> first = client.findUnreachable("acme", "https://dead.example/");
    overloaded(client.findUnreachable("acme", "https://h.example/"));
    assertTrue(
        RunningBourse.await(client.findUnreachable("globex", "https://h.example/")).isPresent());
    over.countDown();
    assertTrue(RunningBourse.await(first).isPresent());
    assertTrue(
        RunningBourse.await(client.findUnreachable("acme", "https://h.example/")).isPresent());
  }

  @Test
  void anAttemptForWhichThereIsNoRoomIsNone() {
    List<Future<Attempt>> hanging = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      hanging.add(send("https://dead.example/"));
    }
    assertTrue(RunningBourse.await(send("https://h.example/")).isSkipped());
    over.countDown();
    hanging.forEach(one -> assertFalse(RunningBourse.await(one).isSkipped()));
  }

  /** A receiver may send its answer byte by byte, and never its end. */
  @Test
  void aSuccessIsKnownAtTheHeadOfAnAnswerThatDoesNotEnd() throws Exception {
    DeliveryClient local =
        new DeliveryClient(
            vertx,
            new HttpClientOptions(),
            new DeliveryClient.Terms("local", "Tests/1", 1, 0, 60_000, "https://h.example/"),
            Set.of("localhost"),
            Traces.OFF);
    try (ServerSocket receiver = new ServerSocket(0, 50, InetAddress.getByName("localhost"))) {
      receiver.setSoTimeout(60_000);
      Future<Attempt> attempt =
          local.send(
              new DeliveryClient.Message(
                  HttpMethod.POST,
                  "http://localhost:" + receiver.getLocalPort() + "/",
                  Map.of(),
                  Buffer.buffer("{}")));
      try (Socket connection = receiver.accept()) {
        String head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nx";
        for (byte one : head.getBytes(StandardCharsets.US_ASCII)) {
          connection.getOutputStream().write(one);
          connection.getOutputStream().flush();
        }
        assertTrue(RunningBourse.await(attempt).isDelivered());
      }
    } finally {
      RunningBourse.await(local.close());
    }
  }

  @Test
  void anAddressWithAHalfEscapeIsRefusedInWords() {
    assertNotNull(client.refusal("https://h.example/%zz"));
    assertNotNull(client.refusal("https://h.example/%"));
  }
}
