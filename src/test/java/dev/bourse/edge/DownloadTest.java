package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.blob.Reading;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stored bytes as answers. */
@SuppressWarnings("NullAway.Init") // JUnit fills in the folder.
class DownloadTest extends BytesFixture {
  @BeforeAll
  static void start() {
    fixture = serve(EdgeFixture.hasty());
  }

  private static final String ETAG = "\"abc\"";

  @TempDir static Path folder;

  /** Stored bytes that record their close. */
  private static final class Stored implements Reading {
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
    public Future<Void> close() {
      closed.incrementAndGet();
      return Future.succeededFuture();
    }
  }

  private static HttpResponse<byte[]> get(String... headers) {
    return send("GET", HttpRequest.BodyPublishers.noBody(), headers);
  }

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

  @ParameterizedTest
  @ValueSource(strings = {"Bytes=0-9", "BYTES=0-9", "bYtEs=0-9"})
  void theUnitOfARangeIsMeantInWhateverCase(String range) {
    store(true);
    HttpResponse<byte[]> answer = get("Range", range);

    assertEquals(206, answer.statusCode());
    assertArrayEquals(Arrays.copyOf(STORED, 10), answer.body());
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
                    new Reading() {
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
                      public Future<Void> close() {
                        closed.incrementAndGet();
                        return Future.succeededFuture();
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

  /** A chain of futures of all these pieces would overflow the stack at its end. */
  @Test
  void ofBytesInNoFileThereMayBeThousandsOfPieces() throws Exception {
    byte[] some = new byte[256 * 1024];
    AtomicInteger closed = new AtomicInteger();
    Reading large =
        new Reading() {
          @Override
          public long length() {
            return 1L << 30;
          }

          @Override
          public Optional<FileChannel> file() {
            return Optional.empty();
          }

          @Override
          public Future<Buffer> piece(long offset, int length) {
            // Later, like bytes from another machine.
            Promise<Buffer> piece = Promise.promise();
            Vertx.currentContext()
                .runOnContext(turn -> piece.complete(Buffer.buffer(some).slice(0, length)));
            return piece.future();
          }

          @Override
          public Future<Void> close() {
            closed.incrementAndGet();
            return Future.succeededFuture();
          }
        };
    fixture.behave(
        call -> Future.succeededFuture(new Answer.Download(large, "model/x", ETAG, Map.of())));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + fixture.port() + "/bytes")).build();
    assertEquals(
        200,
        HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.discarding())
            .statusCode());
    until("the bytes are closed", () -> closed.get() == 1);
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
