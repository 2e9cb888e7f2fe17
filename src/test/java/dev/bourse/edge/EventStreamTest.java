package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.ProcessLimits;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams of server-sent events: their format, limits and end. */
class EventStreamTest {
  private static final String PATH = "/api/vm/events";

  private final AtomicLong skippedNanos = new AtomicLong();
  private final List<EventSource.Sink> sinks = new CopyOnWriteArrayList<>();
  private final AtomicInteger ended = new AtomicInteger();
  private EdgeFixture fixture;

  @BeforeEach
  void start() {
    start(ProcessLimits.ofProcess());
  }

  private void start(ProcessLimits room) {
    fixture =
        new EdgeFixture(
            new EdgeConfig(
                "127.0.0.1",
                0,
                "",
                0,
                0,
                0,
                Set.of(),
                new EdgeLimits(
                    room, 3_000, 60_000, 3_000, 512, 65_536, 500, DownloadPace.standard())),
            new Sources(
                Clock.systemUTC(), () -> System.nanoTime() + skippedNanos.get(), new Random(1)));
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Events(
                    sink -> {
                      sinks.add(sink);
                      return ended::incrementAndGet;
                    })));
  }

  @AfterEach
  void stop() {
    fixture.close();
  }

  /** A client that has opened the stream and reads on demand. */
  private final class Client implements AutoCloseable {
    private final Socket socket = new Socket();
    private final BufferedReader in;

    Client() {
      try {
        socket.setReceiveBufferSize(4_096);
        socket.setSoTimeout(60_000);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), fixture.port()));
        socket
            .getOutputStream()
            .write(
                ("GET " + PATH + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
        in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The next line; null at the end. */
    String line() {
      try {
        return in.readLine();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Reads up to a given line. */
    void readTo(String wanted) {
      String line = line();
      while (!wanted.equals(line)) {
        assertTrue(line != null, "the stream ended before '" + wanted + "'");
        line = line();
      }
    }

    boolean readsToItsEnd() {
      String line = line();
      while (line != null) {
        line = line();
      }
      return true;
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void send(int stream, Buffer event) {
    EventSource.Sink sink = sinks.get(stream);
    sink.loop().execute(() -> sink.send(event));
  }

  @Test
  void anEventReachesItsClientWhenItIsSent() {
    try (Client client = new Client()) {
      List<String> head = new ArrayList<>();
      for (String line = client.line(); !line.isEmpty(); line = client.line()) {
        head.add(line.toLowerCase(java.util.Locale.ROOT));
      }
      assertEquals("http/1.1 200 ok", head.get(0));
      assertTrue(head.contains("content-type: text/event-stream"), head.toString());
      assertTrue(head.contains("cache-control: no-store"), head.toString());
      client.readTo(":");
      until("it is open", () -> sinks.size() == 1);
      send(0, Buffer.buffer("event: a\ndata: 1\n\n"));
      client.readTo("data: 1");
      send(0, Buffer.buffer("event: b\ndata: 2\n\n"));
      client.readTo("data: 2");
      assertEquals(0, ended.get());
    }
    until("its end is noticed", () -> ended.get() == 1);
  }

  @Test
  void aHeadRequestOpensNone() {
    HttpResponse<String> answer = fixture.send("HEAD", PATH, null, "Authorization", "Bearer all");
    assertEquals(200, answer.statusCode());
    assertEquals(List.of(), sinks);
  }

  @Test
  void aClientThatDoesNotReadIsDroppedAndNobodyWaitsForIt() {
    try (Client stuck = new Client()) {
      until("the first is open", () -> sinks.size() == 1);
      try (Client reader = new Client()) {
        until("the second is open", () -> sinks.size() == 2);
        Buffer event = Buffer.buffer("data: " + "x".repeat(100_000) + "\n\n");
        int sent = 0;
        while (ended.get() == 0) {
          assertTrue(sent++ < 2_000, "it is never dropped");
          send(0, event);
          send(1, event);
          reader.readTo("data: " + "x".repeat(100_000));
        }
        send(1, Buffer.buffer("data: last\n\n"));
        reader.readTo("data: last");
        assertEquals(1, ended.get(), "the reader's goes on");
      }
    }
  }

  @Test
  void aClientThatTakesNothingIsDroppedInTimeHoweverOftenThereIsMore() {
    try (Client stuck = new Client()) {
      until("it is open", () -> sinks.size() == 1);
      Buffer event = Buffer.buffer("data: " + "x".repeat(100_000) + "\n\n");
      AtomicLong waiting = new AtomicLong();
      for (int sent = 0; waiting.get() == 0; sent++) {
        assertTrue(sent < 2_000, "its connection takes everything");
        EventSource.Sink sink = sinks.get(0);
        AtomicInteger done = new AtomicInteger();
        sink.loop()
            .execute(
                () -> {
                  sink.send(event);
                  waiting.set(fixture.edge.streamRoom().waitingBytes());
                  done.set(1);
                });
        until("it is sent", () -> done.get() == 1);
      }
      // A silent connection may live for a minute.
      for (int seconds = 0; seconds <= 120; seconds += 30) {
        send(0, Buffer.buffer("data: more\n\n"));
        skippedNanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
      }
      send(0, Buffer.buffer("data: more\n\n"));
      long begin = System.nanoTime();
      until("it is dropped", () -> ended.get() == 1);
      assertTrue(
          System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(30),
          "by the time since it took something, not since there was more");
    }
  }

  @Test
  void whatWaitsForSlowClientsTakesNoMoreThanTheProcessHasRoomFor() {
    fixture.close();
    start(ProcessLimits.ofProcess().withConnections(100, 100).withEventBytes(20_000));
    try (Client stuck = new Client()) {
      until("the first is open", () -> sinks.size() == 1);
      try (Client reader = new Client()) {
        until("the second is open", () -> sinks.size() == 2);
        AtomicLong most = new AtomicLong();
        Buffer event = Buffer.buffer("data: " + "x".repeat(10_000) + "\n\n");
        int sent = 0;
        while (ended.get() == 0) {
          assertTrue(sent++ < 20_000, "it is never dropped");
          EventSource.Sink sink = sinks.get(0);
          sink.loop()
              .execute(
                  () -> {
                    sink.send(event);
                    most.accumulateAndGet(fixture.edge.streamRoom().waitingBytes(), Math::max);
                  });
          send(1, event);
          reader.readTo("data: " + "x".repeat(10_000));
        }
        assertTrue(most.get() <= 3L * event.length(), most + " bytes waited");
        send(1, Buffer.buffer("data: last\n\n"));
        reader.readTo("data: last");
        assertEquals(1, ended.get(), "the reader's goes on");
      }
    }
    until("all is given back", () -> fixture.edge.streamRoom().waitingBytes() == 0);
  }

  @Test
  void whatWaitsIsSentWhenTheClientReadsOn() {
    try (Client slow = new Client()) {
      until("it is open", () -> sinks.size() == 1);
      EventSource.Sink sink = sinks.get(0);
      // In one turn of the loop, so that the later ones wait.
      Buffer large = Buffer.buffer("data: " + "x".repeat(200_000) + "\n\n");
      sink.loop()
          .execute(
              () -> {
                sink.send(large);
                sink.send(Buffer.buffer("data: second\n\n"));
                sink.send(Buffer.buffer("data: third\n\n"));
              });
      slow.readTo("data: second");
      slow.readTo("data: third");
      assertEquals(0, ended.get());
    }
  }

  @Test
  void everyFifteenSecondsACommentShowsThatItIsAlive() {
    try (Client client = new Client()) {
      client.readTo(":");
      skippedNanos.addAndGet(EventSender.BEAT_NANOS);
      client.readTo(":");
      skippedNanos.addAndGet(EventSender.BEAT_NANOS);
      client.readTo(":");
    }
  }

  @Test
  void aTokenHasSoManyAndNoMore() {
    List<Client> clients = new ArrayList<>();
    try {
      for (int i = 0; i < StreamRoom.MAX_PER_TOKEN; i++) {
        clients.add(new Client());
      }
      until("all are open", () -> sinks.size() == StreamRoom.MAX_PER_TOKEN);
      HttpResponse<String> refused = fixture.get(PATH);
      assertEquals(429, refused.statusCode());
      assertEquals("rate-limited", EdgeFixture.json(refused).getString("error"));
      assertFalse(EdgeFixture.header(refused, "retry-after").isEmpty());
      clients.remove(0).close();
      until("one is closed", () -> ended.get() == 1);
      clients.add(new Client());
      until("another is open", () -> sinks.size() == StreamRoom.MAX_PER_TOKEN + 1);
    } finally {
      clients.forEach(Client::close);
    }
  }

  @Test
  void whoeverFillsAStreamMayEndIt() {
    try (Client client = new Client()) {
      until("it is open", () -> sinks.size() == 1);
      EventSource.Sink sink = sinks.get(0);
      sink.loop().execute(sink::end);
      // The last of its chunks.
      client.readTo("0");
      assertEquals(1, ended.get());
    }
  }

  @Test
  void stoppingEndsTheStreamsAtOnce() {
    long longest = TimeUnit.SECONDS.toNanos(8);
    long took = stopWithStream();
    // One stop may be delayed on a busy machine; a stop that waits for the drain is slow each time.
    for (int again = 0; again < 2 && took >= longest; again++) {
      sinks.clear();
      ended.set(0);
      start();
      took = stopWithStream();
    }
    assertTrue(took < longest, "without the drain's wait");
  }

  /** Stops while a stream is open; returns how long that takes, in nanoseconds. */
  private long stopWithStream() {
    try (Client client = new Client()) {
      until("it is open", () -> sinks.size() == 1);
      long begin = System.nanoTime();
      fixture.close();
      assertTrue(client.readsToItsEnd());
      assertEquals(1, ended.get());
      return System.nanoTime() - begin;
    }
  }
}
