package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.ByteSource;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Incoming bodies of bytes. */
class InboundBodyTest extends BytesFixture {
  /** With the service's deadlines, because a busy machine may send a body late. */
  @BeforeAll
  static void start() {
    fixture = serve(EdgeFixture.unlimited());
  }

  private static HttpResponse<byte[]> put(byte[] body) {
    return send("PUT", HttpRequest.BodyPublishers.ofByteArray(body));
  }

  /** The head of a PUT that announces this many bytes. */
  private static String head(int length, String... headers) {
    List<String> lines =
        new ArrayList<>(List.of("PUT /bytes HTTP/1.1", "Host: x", "Content-Length: " + length));
    lines.addAll(List.of(headers));
    return String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static Future<Answer> tell(Future<Long> read) {
    return read.map(total -> Answer.ok(new JsonObject().put("bytes", total)));
  }

  /** The operation takes its body in blocks of this size and reports the length. */
  private static void taking(int blockBytes, ByteSource.Sink sink) {
    fixture.behave(call -> tell(call.bytes().read(blockBytes, Long.MAX_VALUE, sink)));
  }

  /** The same, but reports failures in the loop's next turn, after the edge has finished. */
  private static CompletableFuture<Throwable> failing(int blockBytes, ByteSource.Sink sink) {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(blockBytes, Long.MAX_VALUE, sink)
                    .onFailure(
                        e -> Vertx.currentContext().runOnContext(later -> failure.complete(e)))));
    return failure;
  }

  private static Future<Void> taken() {
    return Future.succeededFuture();
  }

  private static Future<Void> refused() {
    return Future.failedFuture(ApiException.of(ErrorCode.TOO_LARGE, "no more of this"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4_095, 65_536, 262_144, 1_048_576})
  void aBodyArrivesInBlocksOfTheSizeAskedForWithAShorterLastOne(int blockBytes) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    List<Integer> sizes = new ArrayList<>();
    taking(
        blockBytes,
        (bytes, from, to) -> {
          all.write(bytes, from, to - from);
          sizes.add(to - from);
          return taken();
        });
    byte[] sent = Arrays.copyOf(STORED, blockBytes == 1 ? 3_000 : STORED.length);
    HttpResponse<byte[]> answer = put(sent);

    assertEquals(200, answer.statusCode());
    assertEquals(sent.length, new JsonObject(Buffer.buffer(answer.body())).getInteger("bytes"));
    assertArrayEquals(sent, all.toByteArray());
    assertEquals(
        Collections.nCopies(sent.length / blockBytes, blockBytes),
        sizes.subList(0, sent.length / blockBytes));
  }

  @Test
  void lengthAndTypeAreToldBeforeAnythingIsRead() {
    List<OptionalLong> lengths = new ArrayList<>();
    fixture.behave(
        call -> {
          lengths.add(call.bytes().length());
          assertEquals(Optional.of("model/x"), call.bytes().contentType());
          return tell(call.bytes().read(1024, Long.MAX_VALUE, (bytes, from, to) -> taken()));
        });
    assertEquals(
        200,
        send("PUT", HttpRequest.BodyPublishers.ofByteArray(new byte[10]), "Content-Type", "model/x")
            .statusCode());
    assertEquals(
        200,
        send(
                "PUT",
                HttpRequest.BodyPublishers.ofInputStream(
                    () -> new java.io.ByteArrayInputStream(new byte[10])),
                "Content-Type",
                "model/x")
            .statusCode());
    assertEquals(List.of(OptionalLong.of(10), OptionalLong.empty()), lengths);
  }

  @Test
  void theClientWaitsWhileFourBlocksAreNotTaken() throws Exception {
    List<Promise<Void>> waiting = Collections.synchronizedList(new ArrayList<>());
    taking(
        16_384,
        (bytes, from, to) -> {
          Promise<Void> taken = Promise.promise();
          waiting.add(taken);
          return taken.future();
        });
    CompletableFuture<HttpResponse<byte[]>> answer =
        CompletableFuture.supplyAsync(() -> put(STORED));
    until("four blocks wait", () -> waiting.size() >= 4);
    int blocks = (STORED.length + 16_383) / 16_384;
    for (int taken = 0; taken < blocks; taken++) {
      int before = taken;
      until("a block waits", () -> waiting.size() > before);
      assertFalse(answer.isDone());
      // Bytes in transit when the fourth block was full may fill a few more.
      assertTrue(waiting.size() - taken <= 4 + 5, waiting.size() + " while " + taken);
      waiting.get(taken).complete();
    }
    assertEquals(200, answer.get(60, TimeUnit.SECONDS).statusCode());
    assertEquals(blocks, waiting.size());
  }

  @Test
  void aSinkThatRefusesEndsTheUploadWithItsRefusal() throws Exception {
    AtomicInteger offered = new AtomicInteger();
    taking(1_024, (bytes, from, to) -> offered.incrementAndGet() == 3 ? refused() : taken());
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(100000000));
      client.send(new byte[100_000]);
      String answer = client.untilClosed();
      assertTrue(answer.startsWith("HTTP/1.1 413 "), answer);
      assertTrue(answer.contains("no more of this"), answer);
    }
    assertEquals(3, offered.get());
  }

  @Test
  void whatGoesBeyondTheBytesExpectedIsHandedOverAtItsFirstByte() throws Exception {
    List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        1_000,
                        2_500,
                        (bytes, from, to) -> {
                          sizes.add(to - from);
                          return sizes.size() == 3 ? refused() : taken();
                        })));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send("PUT /bytes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
      client.send("9c5\r\n").send(new byte[2_501]).send("\r\n");
      String answer = client.untilClosed();
      assertTrue(answer.contains("no more of this"), answer);
    }
    assertEquals(List.of(1_000, 1_000, 501), sizes);
  }

  @Test
  void aClientThatLeavesInTheMidstIsTold() throws Exception {
    AtomicInteger taken = new AtomicInteger();
    Throwable failure = leaveInTheMidst(taken);
    assertTrue(failure instanceof InboundBody.ClientDisconnectedException);
    assertEquals(2_500, taken.get(), "what began a block is handed over too");
  }

  @Test
  void aClientThatLeavesInTheMidstIsNoFaultOfTheService() throws Exception {
    PrintStream console = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      leaveInTheMidst(new AtomicInteger());
    } finally {
      System.setErr(console);
    }
    // Vert.x may report it on a machine that suspended the process.
    List<String> told =
        log.toString(StandardCharsets.UTF_8)
            .lines()
            .filter(line -> !line.contains("BlockedThreadChecker"))
            .toList();
    assertEquals(List.of(), told);
  }

  /**
   * A client disconnects after two and a half blocks; returns the failure that the operation gets.
   *
   * @param taken counts the bytes the operation takes
   */
  private static Throwable leaveInTheMidst(AtomicInteger taken) throws Exception {
    CompletableFuture<Throwable> failure =
        failing(
            1_000,
            (bytes, from, to) -> {
              taken.addAndGet(to - from);
              return taken();
            });
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(50000));
      client.send(new byte[2_500]);
      until("two blocks are taken", () -> taken.get() == 2_000);
    }
    return failure.get(60, TimeUnit.SECONDS);
  }

  @Test
  void aClientThatLeavesBeforeItsBodyIsTakenIsKnownToHaveLeft() throws Exception {
    CompletableFuture<ByteSource> waiting = new CompletableFuture<>();
    fixture.behave(
        call -> {
          waiting.complete(call.bytes());
          return Promise.<Answer>promise().future();
        });
    ByteSource body;
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(50000));
      body = waiting.get(60, TimeUnit.SECONDS);
      body.requireSender();
    }
    until("it is known", () -> hasLeft(body));
  }

  private static boolean hasLeft(ByteSource body) {
    try {
      body.requireSender();
      return false;
    } catch (InboundBody.ClientDisconnectedException gone) {
      return true;
    }
  }

  @Test
  void bodiesThatNobodyTakesYetWaitInTheNetworkAndNotInMemory() throws Exception {
    int clients = 100;
    AtomicInteger entered = new AtomicInteger();
    fixture.behave(
        call ->
            entered.incrementAndGet() > clients
                ? Future.succeededFuture(Answer.ok(new JsonObject()))
                : Promise.<Answer>promise().future());
    BufferPoolMXBean direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .filter(pool -> pool.getName().equals("direct"))
            .findFirst()
            .orElseThrow();
    long before = direct.getMemoryUsed();
    List<SocketChannel> open = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        SocketChannel client = SocketChannel.open();
        open.add(client);
        client.setOption(StandardSocketOptions.SO_SNDBUF, 65_536);
        client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), fixture.port()));
        client.write(ByteBuffer.wrap(head(500_000_000).getBytes(StandardCharsets.US_ASCII)));
        client.configureBlocking(false);
      }
      until("all have entered", () -> entered.get() == clients);
      // Each loop gets a turn between two rounds.
      until("nothing more is read", () -> sent(open) == 0 && put(new byte[10]).statusCode() == 200);
      long held = direct.getMemoryUsed() - before;
      assertTrue(held < clients * 100_000L, held + " bytes are held of " + clients + " bodies");
    } finally {
      for (SocketChannel client : open) {
        client.close();
      }
    }
  }

  /** Sends as much as the network takes now, and returns how much. */
  private static long sent(List<SocketChannel> clients) {
    long all = 0;
    try {
      for (SocketChannel client : clients) {
        all += client.write(ByteBuffer.allocate(1_000_000));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }

  @Test
  void aBodyThatStopsArrivingIsGivenUp() throws Exception {
    EdgeFixture patient = fixture;
    try (EdgeFixture hasty = serve(EdgeFixture.hasty())) {
      fixture = hasty;
      CompletableFuture<Throwable> failure = failing(1_000, (bytes, from, to) -> taken());
      try (RawClient client = new RawClient(fixture.port())) {
        client.send(head(50000));
        client.send(new byte[1_500]);
        String answer = client.untilClosed();
        assertTrue(answer.startsWith("HTTP/1.1 408 "), answer);
      }
      assertTrue(
          failure.get(60, TimeUnit.SECONDS) instanceof InboundBody.ClientDisconnectedException);
    } finally {
      fixture = patient;
    }
  }

  @Test
  void aRefusalBeforeReadingIsAnsweredWithoutTheBody() throws Exception {
    fixture.behave(
        call -> Future.failedFuture(ApiException.of(ErrorCode.NOT_FOUND, "no such upload")));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(50000, "Expect: 100-continue"));
      String answer = client.until("no such upload");
      assertTrue(answer.startsWith("HTTP/1.1 404 "), answer);
    }
  }

  @Test
  void aClientThatAsksIsToldToGoOnOnceTheBodyIsWanted() throws Exception {
    Promise<Void> wanted = Promise.promise();
    fixture.behave(
        call ->
            wanted
                .future()
                .compose(
                    go ->
                        tell(
                            call.bytes()
                                .read(1_024, Long.MAX_VALUE, (bytes, from, to) -> taken()))));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(5, "Expect: 100-continue"));
      assertFalse(client.isClosedSoon(100));
      fixture.vertx.runOnContext(go -> wanted.complete());
      client.until("HTTP/1.1 100 Continue");
      client.send("12345");
      client.until("{\"bytes\":5}");
    }
  }
}
