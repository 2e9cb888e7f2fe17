package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.testing.Authority;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.Certificates.Pem;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which callers need a certificate, which certificates are accepted, and a new authority. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
class ClientCertificateTest {
  private static Pem server;

  private final Path folder;
  private final Authority authority = new Authority("ours");
  private final List<AutoCloseable> open = new ArrayList<>();

  ClientCertificateTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void make() {
    server = Certificates.make("EC", 30);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private EdgeFixture serve(String demand) throws IOException {
    Map<String, String> values = new HashMap<>();
    List<String> settings = new ArrayList<>(List.of(server.write(folder)));
    settings.add(authority.write(folder, "tls.client.ca"));
    settings.add("tls.client.auth=" + demand);
    settings.forEach(one -> values.put(one.split("=", 2)[0], one.split("=", 2)[1]));
    Settings given = new Settings(values, Map.of());
    TlsConfig tls = TlsConfig.from(given).orElseThrow(() -> new AssertionError(given.faults()));
    EdgeFixture fixture = new EdgeFixture(EdgeFixture.unlimited().withTls(tls));
    open.add(fixture);
    return fixture;
  }

  private static SSLContext none() {
    return Certificates.trusting(server);
  }

  private static SSLContext showing(Pem client) {
    return Authority.showing(client, server);
  }

  /** Sends a request over a new connection; throws if the handshake fails at any point. */
  private RawClient connect(EdgeFixture fixture, SSLContext context, String protocol)
      throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), fixture.port());
    open.add(socket);
    socket.setSoTimeout(60_000);
    socket.setEnabledProtocols(new String[] {protocol});
    socket.startHandshake();
    return new RawClient(socket);
  }

  private static String ask(RawClient client, String path, String headers) throws IOException {
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
    // In TLS 1.3 a client learns only now that its certificate is rejected.
    String answer = client.until("\r\n\r\n");
    if (answer.isEmpty()) {
      throw new EOFException();
    }
    return answer;
  }

  private String asked(EdgeFixture fixture, SSLContext context) throws IOException {
    return ask(
        connect(fixture, context, "TLSv1.3"),
        "/api/vm/capacity?cluster=c",
        "Authorization: Bearer all\r\n");
  }

  private void assertRefused(EdgeFixture fixture, SSLContext context) {
    for (String protocol : List.of("TLSv1.2", "TLSv1.3")) {
      IOException refused =
          assertThrows(
              IOException.class,
              () -> ask(connect(fixture, context, protocol), "/docs", ""),
              protocol);
      assertFalse(String.valueOf(refused.getMessage()).contains("timed out"));
    }
  }

  @Test
  void aTokenOverAConnectionWithoutACertificateIsRefusedAndTheRestIsNot() throws Exception {
    EdgeFixture fixture = serve("agents");
    RawClient client = connect(fixture, none(), "TLSv1.3");
    assertTrue(ask(client, "/docs", "").startsWith("HTTP/1.1 200"));
    // The next response of the same connection begins with the rest of the page.
    RawClient other = connect(fixture, none(), "TLSv1.2");
    String refused =
        other
            .send("GET /api/vm/capacity HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n")
            .until("}");
    assertTrue(refused.startsWith("HTTP/1.1 401"), refused);
    assertTrue(refused.contains("client certificate"), refused);
  }

  @Test
  void whetherATokenIsOneIsNotToldWithoutACertificate() throws Exception {
    EdgeFixture fixture = serve("agents");
    List<String> answers = new ArrayList<>();
    for (String token : List.of("all", "none", "brs_x")) {
      answers.add(
          connect(fixture, none(), "TLSv1.3")
              .send(
                  "GET /api/vm/capacity HTTP/1.1\r\nHost: a\r\nX-Request-Id: same\r\n"
                      + "Authorization: Bearer "
                      + token
                      + "\r\n\r\n")
              .until("}")
              .replaceAll("date: [^\r]*", ""));
    }
    assertEquals(answers.get(0), answers.get(1));
    assertEquals(answers.get(0), answers.get(2));
  }

  @Test
  void aTokenOverAConnectionWithACertificateIsTaken() throws Exception {
    EdgeFixture fixture = serve("agents");
    for (String protocol : List.of("TLSv1.2", "TLSv1.3")) {
      RawClient client = connect(fixture, showing(authority.issue("agent")), protocol);
      for (int i = 0; i < 2; i++) {
        String answer = ask(client, "/api/vm/capacity?cluster=c", "Authorization: Bearer all\r\n");
        assertTrue(answer.contains("HTTP/1.1 200"), answer);
      }
    }
  }

  @Test
  void aResumedSessionHasTheCertificateItBeganWith() throws Exception {
    EdgeFixture fixture = serve("agents");
    SSLContext with = showing(authority.issue("agent"));
    SSLContext without = none();
    for (int i = 0; i < 3; i++) {
      assertTrue(asked(fixture, with).startsWith("HTTP/1.1 200"));
      assertTrue(asked(fixture, without).startsWith("HTTP/1.1 401"));
    }
  }

  @Test
  void whereAllHaveToShowOneNothingIsAnsweredWithout() throws Exception {
    EdgeFixture fixture = serve("all");
    assertRefused(fixture, none());
    assertTrue(asked(fixture, showing(authority.issue("agent"))).startsWith("HTTP/1.1 200"));
  }

  @Test
  void whatIsShownHasToBeOfAnAuthorityAndInForce() throws Exception {
    for (String demand : List.of("agents", "all")) {
      EdgeFixture fixture = serve(demand);
      assertRefused(fixture, showing(new Authority("other").issue("agent")));
      // An equal name does not make an authority.
      assertRefused(fixture, showing(new Authority("ours").issue("agent")));
      assertRefused(fixture, showing(authority.issue("agent", Duration.ofMinutes(-1))));
      assertRefused(fixture, showing(server("CN=itself")));
      assertTrue(asked(fixture, showing(authority.issue("agent"))).startsWith("HTTP/1.1 200"));
    }
  }

  /** A self-signed certificate. */
  private static Pem server(String name) {
    return new Authority(name).pem();
  }

  @Test
  void anAuthorityThatHasEndedLetsNobodyIn() throws Exception {
    Authority ended = new Authority("ended", Duration.ofMinutes(-1));
    EdgeFixture fixture = serve("agents");
    Files.writeString(Authority.file(folder), ended.pem().text());
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    assertRefused(fixture, showing(ended.issue("agent")));
    assertRefused(fixture, showing(authority.issue("agent")));
    assertTrue(asked(fixture, none()).startsWith("HTTP/1.1 401"));
    Files.writeString(Authority.file(folder), ended.pem().text() + authority.pem().text());
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    assertRefused(fixture, showing(ended.issue("agent")));
    assertTrue(asked(fixture, showing(authority.issue("agent"))).startsWith("HTTP/1.1 200"));
    assertTrue(Objects.requireNonNull(fixture.edge.renewal()).secondsLeft() < 0);
  }

  @Test
  void anotherAuthorityIsTakenAndConnectionsOfTheFormerGoOn() throws Exception {
    EdgeFixture fixture = serve("agents");
    SSLContext old = showing(authority.issue("agent"));
    assertTrue(asked(fixture, old).startsWith("HTTP/1.1 200"));
    RawClient kept = connect(fixture, old, "TLSv1.3");
    assertTrue(
        ask(kept, "/api/vm/capacity?cluster=c", "Authorization: Bearer all\r\n").contains("200"));

    Authority other = new Authority("next");
    Files.writeString(Authority.file(folder), other.pem().text());
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    assertFalse(fixture.edge.renewCertificate(fixture.vertx).await(), "it is taken once");

    // Its session could be resumed; a session of another certificate is not valid here any more.
    assertRefused(fixture, old);
    assertRefused(fixture, showing(authority.issue("agent")));
    for (int i = 0; i < 4; i++) {
      assertTrue(asked(fixture, showing(other.issue("agent"))).startsWith("HTTP/1.1 200"));
      assertTrue(asked(fixture, none()).startsWith("HTTP/1.1 401"), "it is asked for still");
    }
    assertTrue(
        ask(kept, "/api/vm/capacity?cluster=c", "Authorization: Bearer all\r\n").contains("200"));
  }

  @Test
  void aFileThatCannotBeUsedLeavesTheFormerInUseAndTheCertificateRenewable() throws Exception {
    EdgeFixture fixture = serve("agents");
    for (String half : List.of("", authority.pem().text().substring(0, 200), server.text())) {
      Files.writeString(Authority.file(folder), half);
      assertFalse(fixture.edge.renewCertificate(fixture.vertx).await());
      assertTrue(asked(fixture, showing(authority.issue("agent"))).startsWith("HTTP/1.1 200"));
    }
    Pem renewed = Certificates.make("EC", 300);
    renewed.write(folder);
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    SSLContext context = Authority.showing(authority.issue("agent"), renewed);
    assertTrue(asked(fixture, context).startsWith("HTTP/1.1 200"));
    Files.delete(Authority.file(folder));
    assertFalse(fixture.edge.renewCertificate(fixture.vertx).await());
    assertTrue(asked(fixture, context).startsWith("HTTP/1.1 200"));
  }

  @Test
  void whenTheFirstAuthorityEndsIsShownWhereThatIsSooner() throws Exception {
    EdgeFixture fixture = serve("agents");
    Authority soon = new Authority("soon", Duration.ofDays(3));
    Files.writeString(Authority.file(folder), authority.pem().text() + soon.pem().text());
    assertTrue(fixture.edge.renewCertificate(fixture.vertx).await());
    String shown = new String(fixture.signals.print(), StandardCharsets.UTF_8);
    assertTrue(shown.contains("\nbourse_tls_certificate_expiry_seconds 25"), shown);
  }
}
