package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are bytes, and stored bytes as answers. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class BytesTest {
  private static final String CONTRACT =
      """
      openapi: 3.1.0
      info: {title: Bytes, version: 1.0.0, summary: Bytes.}
      servers: [{url: "https://api.bourse.dev"}]
      security: []
      paths:
        /bytes:
          get:
            operationId: getBytes
            responses: {"200": {description: Bytes.}}
          options:
            operationId: optionsOfBytes
            responses: {"204": {description: Nothing.}}
          put:
            operationId: putBytes
            requestBody: {required: true, content: {application/octet-stream: {}}}
            responses: {"200": {description: Taken.}}
      """;

  private static final byte[] STORED = bytes(1_000_003);
  private static final String ETAG = "\"abc\"";

  private static EdgeFixture fixture;

  @TempDir static Path folder;

  /** Stored bytes, told of when they are closed. */
  private static final class Stored implements Bytes {
    final AtomicInteger closed = new AtomicInteger();
    private final Optional<FileChannel> file;

    Stored(boolean inFile) {
      try {
        file =
            inFile
                ? Optional.of(FileChannel.open(Files.write(folder.resolve("stored"), STORED)))
                : Optional.empty();
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }

    @Override
    public long length() {
      return STORED.length;
    }

    @Override
    public Optional<FileChannel> file() {
      return file;
    }

    @Override
    public Future<Buffer> piece(long offset, int length) {
      return Future.succeededFuture(
          Buffer.buffer(
              Arrays.copyOfRange(STORED, Math.toIntExact(offset), (int) offset + length)));
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  @BeforeAll
  static void serve() {
    fixture =
        new EdgeFixture(
            EdgeFixture.hasty(),
            Sources.system(),
            null,
            List.of(Contract.parse("bytes", ContractFiles.json(new StringReader(CONTRACT)))));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static void until(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, "not in time: " + what);
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static HttpResponse<byte[]> send(
      String method, HttpRequest.BodyPublisher body, String... headers) {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.port() + "/bytes"))
              .method(method, body);
      if (headers.length > 0) {
        request.headers(headers);
      }
      return fixture.client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static HttpResponse<byte[]> get(String... headers) {
    return send("GET", HttpRequest.BodyPublishers.noBody(), headers);
  }

  private static HttpResponse<byte[]> put(byte[] body) {
    return send("PUT", HttpRequest.BodyPublishers.ofByteArray(body));
  }

  /** The head of a PUT that announces so many bytes. */
  private static String head(int length, String... headers) {
    List<String> lines =
        new ArrayList<>(List.of("PUT /bytes HTTP/1.1", "Host: x", "Content-Length: " + length));
    lines.addAll(List.of(headers));
    return String.join("\r\n", lines) + "\r\n\r\n";
  }

  private static Future<Answer> tell(Future<Long> read) {
    return read.map(total -> Answer.ok(new JsonObject().put("bytes", total)));
  }

  // Bodies

  @ParameterizedTest
  @ValueSource(ints = {1, 4_095, 65_536, 262_144, 1_048_576})
  void aBodyArrivesInBlocksOfTheSizeAskedForWithAShorterLastOne(int blockBytes) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    List<Integer> sizes = new ArrayList<>();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        blockBytes,
                        (bytes, from, to) -> {
                          all.write(bytes, from, to - from);
                          sizes.add(to - from);
                          return Future.succeededFuture();
                        })));
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
          return tell(call.bytes().read(1024, (bytes, from, to) -> Future.succeededFuture()));
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
    List<Promise<Void>> taking = Collections.synchronizedList(new ArrayList<>());
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        16_384,
                        (bytes, from, to) -> {
                          Promise<Void> taken = Promise.promise();
                          taking.add(taken);
                          return taken.future();
                        })));
    CompletableFuture<HttpResponse<byte[]>> answer =
        CompletableFuture.supplyAsync(() -> put(STORED));
    until("four blocks wait", () -> taking.size() >= 4);
    int blocks = (STORED.length + 16_383) / 16_384;
    for (int taken = 0; taken < blocks; taken++) {
      int before = taken;
      until("a block waits", () -> taking.size() > before);
      assertFalse(answer.isDone());
      // What was on its way when the fourth block was full may fill a few more.
      assertTrue(taking.size() - taken <= 4 + 5, taking.size() + " while " + taken);
      taking.get(taken).complete();
    }
    assertEquals(200, answer.get(20, TimeUnit.SECONDS).statusCode());
    assertEquals(blocks, taking.size());
  }

  @Test
  void aSinkThatRefusesEndsTheUploadWithItsRefusal() throws Exception {
    AtomicInteger offered = new AtomicInteger();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        1_024,
                        (bytes, from, to) ->
                            offered.incrementAndGet() == 3
                                ? Future.failedFuture(
                                    ApiError.of(ErrorCode.TOO_LARGE, "no more of this"))
                                : Future.succeededFuture())));
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
  void aClientThatLeavesInTheMidstIsTold() throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    AtomicInteger taken = new AtomicInteger();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        1_000,
                        (bytes, from, to) -> {
                          taken.addAndGet(to - from);
                          return Future.succeededFuture();
                        })
                    .onFailure(failure::complete)));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(50000));
      client.send(new byte[2_500]);
      until("two blocks are taken", () -> taken.get() == 2_000);
    }
    assertTrue(failure.get(20, TimeUnit.SECONDS) instanceof Inbound.ClientGone);
    assertEquals(2_500, taken.get(), "what began a block is handed over too");
  }

  @Test
  void aClientThatLeavesInTheMidstIsNoFaultOfTheService() throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    AtomicInteger taken = new AtomicInteger();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(
                        1_000,
                        (bytes, from, to) -> {
                          taken.addAndGet(to - from);
                          return Future.succeededFuture();
                        })
                    // In the loop's next turn, when the edge is through with it.
                    .onFailure(
                        e -> Vertx.currentContext().runOnContext(later -> failure.complete(e)))));
    PrintStream console = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      try (RawClient client = new RawClient(fixture.port())) {
        client.send(head(50000));
        client.send(new byte[2_500]);
        until("two blocks are taken", () -> taken.get() == 2_000);
      }
      failure.get(20, TimeUnit.SECONDS);
    } finally {
      System.setErr(console);
    }
    assertEquals("", log.toString(StandardCharsets.UTF_8));
  }

  @Test
  void aBodyThatStopsArrivingIsGivenUp() throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    fixture.behave(
        call ->
            tell(
                call.bytes()
                    .read(1_000, (bytes, from, to) -> Future.succeededFuture())
                    .onFailure(failure::complete)));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(50000));
      client.send(new byte[1_500]);
      String answer = client.untilClosed();
      assertTrue(answer.startsWith("HTTP/1.1 408 "), answer);
    }
    assertTrue(failure.get(20, TimeUnit.SECONDS) instanceof Inbound.ClientGone);
  }

  @Test
  void aRefusalBeforeReadingIsAnsweredWithoutTheBody() throws Exception {
    fixture.behave(call -> Future.failedFuture(ApiError.of(ErrorCode.NOT_FOUND, "no such upload")));
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
                                .read(1_024, (bytes, from, to) -> Future.succeededFuture()))));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(head(5, "Expect: 100-continue"));
      assertFalse(client.isClosedSoon(100));
      fixture.vertx.runOnContext(go -> wanted.complete());
      client.until("HTTP/1.1 100 Continue");
      client.send("12345");
      client.until("{\"bytes\":5}");
    }
  }

  // Answers

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, 0",
    "bytes=0-99, 0, 99",
    "bytes=500000-500999, 500000, 500999",
    "bytes=1000002-, 1000002, 1000002",
    "bytes=999000-, 999000, 1000002",
    "bytes=-1, 1000002, 1000002",
    "bytes=-1000, 999003, 1000002",
    "bytes=-99999999, 0, 1000002",
    "bytes=1000-99999999, 1000, 1000002",
  })
  void aRangeIsAnsweredWithTheseBytes(String range, int first, int last) {
    for (boolean inFile : new boolean[] {true, false}) {
      Stored stored = store(inFile);
      HttpResponse<byte[]> answer = get("Range", range);

      assertEquals(206, answer.statusCode());
      assertEquals(
          "bytes " + first + "-" + last + "/" + STORED.length,
          EdgeFixture.header(answer, "content-range"));
      assertArrayEquals(Arrays.copyOfRange(STORED, first, last + 1), answer.body());
      until("the bytes are closed", () -> stored.closed.get() == 1);
    }
  }

  private static Stored store(boolean inFile) {
    Stored stored = new Stored(inFile);
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Download(stored, "model/x", ETAG, Map.of("X-More", "yes"))));
    return stored;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bytes=1-0",
        "bytes=a-b",
        "bytes=",
        "bytes=-",
        "items=0-1",
        "0-1",
        "bytes=0-1,5-9",
        "bytes=--1"
      })
  void aRangeThatCannotBeReadAndSeveralAtOnceAreAnsweredWithAll(String range) {
    store(true);
    HttpResponse<byte[]> answer = get("Range", range);

    assertEquals(200, answer.statusCode());
    assertArrayEquals(STORED, answer.body());
  }

  @ParameterizedTest
  @ValueSource(strings = {"bytes=1000003-", "bytes=1000003-1000004", "bytes=-0"})
  void aRangeBeyondTheEndIsRefusedWithTheLength(String range) {
    Stored stored = store(true);
    HttpResponse<byte[]> answer = get("Range", range);

    assertEquals(416, answer.statusCode());
    assertEquals("bytes */1000003", EdgeFixture.header(answer, "content-range"));
    until("the bytes are closed", () -> stored.closed.get() == 1);
  }

  @Test
  void aRangeCountsOnlyForTheVersionTheClientHas() {
    store(true);
    assertEquals(206, get("Range", "bytes=0-9", "If-Range", ETAG).statusCode());
    assertEquals(200, get("Range", "bytes=0-9", "If-Range", "\"other\"").statusCode());
    assertEquals(
        200, get("Range", "bytes=0-9", "If-Range", "Sat, 21 Nov 2026 10:00:00 GMT").statusCode());
  }

  @Test
  void theWholeCarriesItsHeadersAndHeadThemAlone() {
    Stored stored = store(true);
    HttpResponse<byte[]> whole = get();
    HttpResponse<byte[]> head = send("HEAD", HttpRequest.BodyPublishers.noBody());
    for (HttpResponse<byte[]> answer : List.of(whole, head)) {
      assertEquals(200, answer.statusCode());
      assertEquals("model/x", EdgeFixture.header(answer, "content-type"));
      assertEquals("1000003", EdgeFixture.header(answer, "content-length"));
      assertEquals(ETAG, EdgeFixture.header(answer, "etag"));
      assertEquals("bytes", EdgeFixture.header(answer, "accept-ranges"));
      assertEquals("no-store", EdgeFixture.header(answer, "cache-control"));
      assertEquals("nosniff", EdgeFixture.header(answer, "x-content-type-options"));
      assertEquals("yes", EdgeFixture.header(answer, "x-more"));
    }
    assertArrayEquals(STORED, whole.body());
    assertEquals(0, head.body().length);
    until("both are closed", () -> stored.closed.get() == 2);
  }

  @Test
  void whatTheClientHasIsNotSentAgain() {
    store(true);
    HttpResponse<byte[]> answer = get("If-None-Match", ETAG);

    assertEquals(304, answer.statusCode());
    assertEquals(0, answer.body().length);
  }

  @Test
  void aClientThatStopsTakingAFileIsCutOffAndTheFileClosed() throws Exception {
    Path large = folder.resolve("large");
    try (FileChannel file =
        FileChannel.open(
            large,
            java.nio.file.StandardOpenOption.CREATE,
            java.nio.file.StandardOpenOption.WRITE)) {
      file.write(java.nio.ByteBuffer.wrap(new byte[] {1}), 1L << 30);
    }
    AtomicInteger closed = new AtomicInteger();
    FileChannel file = FileChannel.open(large);
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Download(
                    new Bytes() {
                      @Override
                      public long length() {
                        return 1L << 30;
                      }

                      @Override
                      public Optional<FileChannel> file() {
                        return Optional.of(file);
                      }

                      @Override
                      public Future<Buffer> piece(long offset, int length) {
                        return Future.failedFuture("it is a file");
                      }

                      @Override
                      public void close() {
                        closed.incrementAndGet();
                      }
                    },
                    "model/x",
                    ETAG,
                    Map.of())));
    try (RawClient client = new RawClient(fixture.port())) {
      client.send("GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n");
      client.until("model/x");
      until("the file is closed", () -> closed.get() == 1);
    }
  }

  @Test
  void anAnswerWithoutABodyHasItsHeaders() throws ExecutionException {
    fixture.behave(
        call -> Future.succeededFuture(new Answer.Empty(204, Map.of("X-Allowed", "all"))));
    HttpResponse<byte[]> answer = send("OPTIONS", HttpRequest.BodyPublishers.noBody());

    assertEquals(204, answer.statusCode());
    assertEquals("all", EdgeFixture.header(answer, "x-allowed"));
  }
}
