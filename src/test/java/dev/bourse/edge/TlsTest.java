package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.blob.Reading;
import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.tls.TlsFixture;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.Certificates.Pem;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS by the service itself: its protocols, its limits, and a new certificate. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
class TlsTest {
  private static Pem pem;
  private static SSLContext trust;

  private final Path folder;
  private final List<AutoCloseable> open = new ArrayList<>();

  TlsTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void make() {
    pem = Certificates.make("EC", 30);
    trust = Certificates.trusting(pem);
  }

  @AfterEach
  void close() throws Exception {
    // Clients first: a server that is closed waits for connections whose handshake is not done.
    Collections.reverse(open);
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private EdgeFixture serve(EdgeConfig config) throws IOException {
    pem.write(folder);
    EdgeFixture fixture =
        new EdgeFixture(
            config.withTls(
                TlsFixture.config(
                    Certificates.certificateFile(folder), Certificates.keyFile(folder))));
    open.add(fixture);
    return fixture;
  }

  private EdgeFixture serve() throws IOException {
    return serve(EdgeFixture.unlimited());
  }

  private static EdgeConfig room(int connections, int ofAddress) {
    return new EdgeConfig(
        "127.0.0.1",
        0,
        "",
        0,
        0,
        0,
        Set.of(),
        EdgeLimits.in(ProcessLimits.ofProcess().withConnections(connections, ofAddress)));
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    // A client that prefers HTTP/2.
    HttpClient client = HttpClient.newBuilder().sslContext(trust).build();
    return client.send(
        request.header("Authorization", "Bearer all").build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static HttpRequest.Builder to(EdgeFixture fixture, String target) {
    return HttpRequest.newBuilder(URI.create(fixture.edge.baseUrl() + target));
  }

  private SSLSocket socket(EdgeFixture fixture, SSLContext context) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), fixture.port());
    open.add(socket);
    socket.setSoTimeout(60_000);
    return socket;
  }

  private RawClient raw(EdgeFixture fixture) throws IOException {
    SSLSocket socket = socket(fixture, trust);
    socket.startHandshake();
    return new RawClient(socket);
  }

  private static Certificate shown(SSLSocket socket) throws IOException {
    socket.startHandshake();
    return socket.getSession().getPeerCertificates()[0];
  }

  private RawClient silent(EdgeFixture fixture) throws IOException {
    RawClient client = new RawClient(fixture.port());
    open.add(client);
    return client;
  }

  @Test
  void itAnswersByHttpsAndTellsBrowsersToStayThere() throws Exception {
    EdgeFixture fixture = serve();
    assertTrue(fixture.edge.baseUrl().startsWith("https://localhost:"), fixture.edge.baseUrl());
    for (String target : List.of("/api/vm/capacity", "/none", "/docs")) {
      HttpResponse<String> answer = send(to(fixture, target));
      assertEquals(HttpClient.Version.HTTP_1_1, answer.version());
      assertEquals(
          "max-age=31536000", EdgeFixture.header(answer, "Strict-Transport-Security"), target);
    }
    String malformed = raw(fixture).send("nonsense\r\n\r\n").untilClosed();
    assertTrue(malformed.startsWith("HTTP/1.0 400"), malformed);
    assertTrue(malformed.contains("strict-transport-security: max-age=31536000"), malformed);
  }

  @Test
  void withoutACertificateNobodyIsToldToStay() {
    try (EdgeFixture fixture = new EdgeFixture(EdgeFixture.unlimited())) {
      assertTrue(fixture.edge.baseUrl().startsWith("http://"));
      assertEquals("", EdgeFixture.header(fixture.get("/none"), "Strict-Transport-Security"));
    }
  }

  @Test
  void bodiesOfEverySizeComeThrough() throws Exception {
    EdgeFixture fixture = serve();
    fixture.behave(EdgeFixture::echoBody);
    String text = "{\"max_gpus\":8,\"max_price_per_gpu_hour\":1,\"expected_version\":0}";
    for (String blanks : List.of("", " ".repeat(60_000))) {
      HttpResponse<String> answer =
          send(
              to(fixture, "/api/vm/capacity")
                  .header("Content-Type", "application/json")
                  .PUT(HttpRequest.BodyPublishers.ofString(text + blanks)));
      assertEquals(200, answer.statusCode(), answer.body());
    }
    HttpResponse<String> tooLong =
        send(
            to(fixture, "/api/vm/capacity")
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(text + " ".repeat(70_000))));
    assertEquals(413, tooLong.statusCode());
    until("nothing is held", () -> fixture.edge.occupancy().unreadBytes() == 0);
  }

  @Test
  void plainHttpIsNotAnswered() throws Exception {
    EdgeFixture fixture = serve();
    String said = silent(fixture).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").untilClosed();
    assertFalse(said.contains("HTTP/"), said);
    until("it is forgotten", () -> fixture.edge.occupancy().connections() == 0);
  }

  @Test
  void tls12And13AreSpoken() throws Exception {
    EdgeFixture fixture = serve();
    for (String version : List.of("TLSv1.2", "TLSv1.3")) {
      SSLSocket socket = socket(fixture, trust);
      socket.setEnabledProtocols(new String[] {version});
      socket.startHandshake();
      assertEquals(version, socket.getSession().getProtocol());
    }
  }

  @Test
  void olderVersionsAreRefused() throws Exception {
    EdgeFixture fixture = serve();
    // A client's first bytes, of TLS 1.0 and 1.1: 32 random bytes, no session, one cipher suite.
    for (String version : List.of("0301", "0302")) {
      String hello = version + "11".repeat(32) + "00" + "0004c013002f" + "0100";
      String message = "01" + "0000" + HexFormat.of().toHexDigits((byte) (hello.length() / 2));
      String record = "160301" + "00" + HexFormat.of().toHexDigits((byte) (hello.length() / 2 + 4));
      String said =
          silent(fixture).send(HexFormat.of().parseHex(record + message + hello)).untilClosed();
      byte[] alert = said.getBytes(StandardCharsets.UTF_8);
      assertEquals(0x15, alert[0], "an alert");
      assertEquals(70, alert[6], "that tells of the version");
    }
  }

  @Test
  void aClientOfHttp2AloneIsToldSoInTheHandshake() throws Exception {
    EdgeFixture fixture = serve();
    SSLSocket socket = socket(fixture, trust);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    socket.setSSLParameters(parameters);
    Assertions.assertThrows(SSLHandshakeException.class, socket::startHandshake);
  }

  @Test
  void anotherCertificateIsTakenWhileAStreamGoesOn() throws Exception {
    EdgeFixture fixture = serve();
    List<EventSource.Sink> sinks = new CopyOnWriteArrayList<>();
    fixture.behave(
        call ->
            Future.succeededFuture(
                new Answer.Events(
                    sink -> {
                      sinks.add(sink);
                      return () -> {};
                    })));
    SSLSocket streaming = socket(fixture, trust);
    streaming
        .getOutputStream()
        .write(
            "GET /api/vm/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
    BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(streaming.getInputStream(), StandardCharsets.UTF_8));
    until("it streams", () -> !sinks.isEmpty());
    assertFalse(fixture.edge.renewCertificate(fixture.vertx).await(), "nothing has changed");

    Pem other = Certificates.make("RSA", 300);
    other.write(folder);
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    assertFalse(fixture.edge.renewCertificate(fixture.vertx).await(), "it is taken once");

    // On any event loop.
    for (int i = 0; i < 6; i++) {
      assertEquals(other.certificate(), shown(socket(fixture, Certificates.trusting(pem, other))));
    }
    EventSource.Sink sink = sinks.get(0);
    sink.loop().execute(() -> sink.send(Buffer.buffer("event: still\n\n")));
    assertEquals("event: still", lineThatBegins(lines, "event: still"));
  }

  private static String lineThatBegins(BufferedReader lines, String start) {
    try {
      String line = lines.readLine();
      while (line != null && !line.startsWith(start)) {
        line = lines.readLine();
      }
      return String.valueOf(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aPairThatCannotBeUsedLeavesTheOldOneInUse() throws Exception {
    EdgeFixture fixture = serve();
    Pem other = Certificates.make("EC", 300);
    for (String half : List.of("", other.text().substring(0, 200), other.text())) {
      Files.writeString(Certificates.certificateFile(folder), half);
      assertFalse(fixture.edge.renewCertificate(fixture.vertx).await());
      assertEquals(pem.certificate(), shown(socket(fixture, trust)));
    }
    Files.delete(Certificates.certificateFile(folder));
    assertFalse(fixture.edge.renewCertificate(fixture.vertx).await());

    other.write(folder);
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    assertEquals(other.certificate(), shown(socket(fixture, Certificates.trusting(other))));
  }

  @Test
  void whenTheCertificateEndsIsShown() throws Exception {
    EdgeFixture fixture = serve();
    double days = Objects.requireNonNull(fixture.edge.renewal()).secondsLeft() / 86_400;
    assertTrue(days > 29 && days <= 30, String.valueOf(days));
    String shown = new String(fixture.signals.print(), StandardCharsets.UTF_8);
    assertTrue(shown.contains("\nbourse_tls_certificate_expiry_seconds 2"), shown);
    try (EdgeFixture plain = new EdgeFixture(EdgeFixture.unlimited())) {
      assertFalse(
          new String(plain.signals.print(), StandardCharsets.UTF_8)
              .contains("\nbourse_tls_certificate_expiry_seconds "));
    }
  }

  @Test
  void connectionsCountFromBeforeTheirHandshake() throws Exception {
    EdgeFixture fixture = serve(room(100, 10));
    List<RawClient> first = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      first.add(silent(fixture));
    }
    until("they count", () -> fixture.edge.occupancy().connections() == 10);
    assertEquals("", silent(fixture).untilClosed());
    for (RawClient one : first) {
      one.close();
    }
    until("they are gone", () -> fixture.edge.occupancy().connections() == 0);
    assertEquals(404, send(to(fixture, "/none")).statusCode());
  }

  @Test
  void handshakesThatDoNotEndPushOutEachOther() throws Exception {
    EdgeFixture fixture = serve(room(20, 1_000));
    for (int i = 0; i < 100; i++) {
      // An incomplete record.
      silent(fixture).send(new byte[] {0x16, 3, 1, 2, 0, 1});
      if (i % 20 == 19) {
        assertEquals(404, send(to(fixture, "/none")).statusCode());
      }
    }
    until("there are no more", () -> fixture.edge.occupancy().connections() <= 21);
    until("the others were pushed out", () -> fixture.edge.occupancy().rejected() > 50);
  }

  @Test
  void connectionsThatSayNothingAfterTheirHandshakePushOutEachOther() throws Exception {
    EdgeFixture fixture = serve(room(20, 1_000));
    for (int i = 0; i < 60; i++) {
      raw(fixture);
    }
    assertEquals(404, send(to(fixture, "/none")).statusCode());
    until("there are no more", () -> fixture.edge.occupancy().connections() <= 20);
  }

  @Test
  void whoKeepsTheServiceWaitingIsClosed() throws Exception {
    EdgeFixture fixture = serve(EdgeFixture.hasty());
    assertEquals("", silent(fixture).untilClosed(), "no handshake");
    assertEquals("", raw(fixture).untilClosed(), "no request");
    String head = "GET /none HTTP/1.1\r\nHost: a\r\n";
    assertEquals("", raw(fixture).send(head).untilClosed(), "half a head");
    String body =
        "PUT /api/vm/capacity HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n"
            + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    String late = raw(fixture).send(body).untilClosed();
    assertTrue(late.startsWith("HTTP/1.1 408"), late);
    String answered = raw(fixture).send(head + "\r\n").untilClosed();
    assertTrue(answered.startsWith("HTTP/1.1 404"), answered);
    until("nothing is held", () -> fixture.edge.occupancy().unreadBytes() == 0);
    until("nobody is left", () -> fixture.edge.occupancy().connections() == 0);
  }

  /** Over TLS the service reads the file itself, and the client's pace counts in the same way. */
  @Test
  void aFileThatTakesLongerThanTheWindowOfThePaceArrivesWhole() throws Exception {
    int length = 64 << 20;
    Path stored = folder.resolve("stored");
    Files.write(stored, new byte[length]);
    Reading reading = reading(stored);
    EdgeFixture fixture =
        serve(
            new EdgeConfig(
                "127.0.0.1",
                0,
                "",
                0,
                0,
                0,
                Set.of(),
                EdgeLimits.standard()
                    .withLinger(EdgeFixture.LINGER_MILLIS)
                    .withPace(new DownloadPace(64 * 1_024, 300))));
    fixture.behave(
        call -> Future.succeededFuture(new Answer.Download(reading, "model/x", "\"e\"", Map.of())));
    SSLSocket socket = socket(fixture, trust);
    socket
        .getOutputStream()
        .write(
            "GET /api/whoami HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
    byte[] piece = new byte[256 << 10];
    long begin = System.nanoTime();
    long taken = 0;
    while (taken < length) {
      int read = in.read(piece);
      assertTrue(read > 0, "cut off after " + taken + " bytes");
      taken += read;
      // Many times the least pace, and the whole takes several windows.
      LockSupport.parkNanos(
          begin + 1_500_000_000L * Math.min(taken, length) / length - System.nanoTime());
    }
  }

  private static Reading reading(Path stored) throws IOException {
    FileChannel file = FileChannel.open(stored);
    long length = file.size();
    return new Reading() {
      @Override
      public long length() {
        return length;
      }

      @Override
      public Optional<FileChannel> file() {
        return Optional.of(file);
      }

      @Override
      public Future<Buffer> piece(long offset, int bytes) {
        return Future.failedFuture("it is a file");
      }

      @Override
      public Future<Void> close() {
        try {
          file.close();
        } catch (IOException e) {
          return Future.failedFuture(e);
        }
        return Future.succeededFuture();
      }
    };
  }

  @Test
  void headsAreAsLongAsTheyMayBe() throws Exception {
    EdgeFixture fixture = serve();
    String start = "GET /none HTTP/1.1\r\nHost: a\r\n";
    String longHead =
        raw(fixture).send(start + "X: " + "x".repeat(9_000) + "\r\n\r\n").untilClosed();
    assertTrue(longHead.startsWith("HTTP/1.1 431"), longHead);
    String longLine =
        raw(fixture).send("GET /" + "x".repeat(5_000) + " HTTP/1.1\r\n\r\n").untilClosed();
    assertTrue(longLine.startsWith("HTTP/1.0 414"), longLine);
  }

  @Test
  void bytesOfAHeadThatIsNotCompleteAreCounted() throws Exception {
    EdgeFixture fixture = serve();
    RawClient client =
        raw(fixture).send("GET /none HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(4_000));
    until("they count", () -> fixture.edge.occupancy().unreadBytes() >= 8_000);
    client.close();
    until("they are given back", () -> fixture.edge.occupancy().unreadBytes() == 0);
  }
}
