package dev.bourse.edge;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.limits.DownloadPace;
import dev.bourse.edge.limits.EdgeLimits;
import dev.bourse.edge.limits.ProcessLimits;
import dev.bourse.edge.limits.ProxyProtocol;
import dev.bourse.edge.tls.TlsFixture;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.Certificates.Pem;
import io.netty.util.NetUtil;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Proxies that send the client's address at the start of a connection, and which of them are
 * trusted.
 */
class ProxyProtocolTest {
  private static final String PROXY = "127.0.0.1";
  private static final String STRANGER = "127.0.0.2";
  private static final String GET =
      "GET /api/whoami HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer all\r\n\r\n";
  private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

  private final Path folder;
  private final List<AutoCloseable> open = new ArrayList<>();

  ProxyProtocolTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void close() throws Exception {
    // Clients first: a server that is closed waits for connections whose handshake is not done.
    Collections.reverse(open);
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private static EdgeConfig config(EdgeLimits limits, int perMinute, String... more) {
    Set<String> proxies = new HashSet<>(List.of(more));
    proxies.add(PROXY);
    return new EdgeConfig(PROXY, 0, "", 0, perMinute, Math.max(1, perMinute), proxies, limits)
        .withProxyProtocol();
  }

  private EdgeFixture serve(EdgeConfig config) {
    EdgeFixture fixture = new EdgeFixture(config);
    open.add(fixture);
    // Returns the address that the call seems to come from.
    fixture.behave(
        call ->
            Future.succeededFuture(Answer.ok(new JsonObject().put("client", call.clientKey()))));
    return fixture;
  }

  private EdgeFixture serve() {
    return serve(config(EdgeLimits.standard(), 0));
  }

  private Socket socket(EdgeFixture fixture, String from) throws IOException {
    Socket socket = new Socket();
    open.add(socket);
    socket.setTcpNoDelay(true);
    socket.bind(new InetSocketAddress(InetAddress.getByAddress(bytes(from)), 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), fixture.port()));
    return socket;
  }

  private static byte[] bytes(String address) {
    return Objects.requireNonNull(NetUtil.createByteArrayFromIpAddressString(address), address);
  }

  private RawClient connect(EdgeFixture fixture, String from) throws IOException {
    return new RawClient(socket(fixture, from));
  }

  private RawClient connect(EdgeFixture fixture) throws IOException {
    return connect(fixture, PROXY);
  }

  private static String v1(String client) {
    return "PROXY TCP4 " + client + " 10.9.9.9 50000 443\r\n";
  }

  /** Of version 2, for an IPv4 address in hexadecimal, with additions of a proxy. */
  private static byte[] v2(String address, String added) {
    int length = 12 + added.length() / 2;
    return HexFormat.of()
        .parseHex(
            SIGNATURE
                + "2111"
                + HexFormat.of().toHexDigits((short) length)
                + address
                + "0a090909"
                + "c35001bb"
                + added);
  }

  private static byte[] join(byte[] first, String then) {
    byte[] rest = then.getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(first, first.length + rest.length);
    System.arraycopy(rest, 0, all, first.length, rest.length);
    return all;
  }

  private static void assertClient(String expected, RawClient client) throws IOException {
    String answer = client.until("}");
    assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
    assertTrue(answer.contains("{\"client\":\"" + expected + "\"}"), answer);
  }

  @Test
  void theClientIsWhoTheHeaderTells() throws Exception {
    EdgeFixture fixture = serve();
    assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + GET));
    assertClient("203.0.113.8", connect(fixture).send(join(v2("cb007108", ""), GET)));
    assertClient("203.0.113.8", connect(fixture).send(join(v2("cb007108", "050003616263"), GET)));
    assertClient(
        "2001:db8:1:2::/64",
        connect(fixture).send("PROXY TCP6 2001:db8:1:2::7 2001:db8::1 50000 443\r\n" + GET));
    assertClient(
        "203.0.113.9",
        connect(fixture).send("PROXY TCP6 ::ffff:203.0.113.9 ::1 50000 443\r\n" + GET));
  }

  @Test
  void anAddressThatIsNoProxysIsClosedWhateverItTells() throws Exception {
    EdgeFixture fixture = serve();
    assertEquals("", connect(fixture, STRANGER).send(v1("203.0.113.7") + GET).untilClosed());
    assertEquals("", connect(fixture, STRANGER).send(GET).untilClosed());
    assertEquals("", connect(fixture, STRANGER).untilClosed(), "nor is anything awaited of it");
    assertEquals(3, Objects.requireNonNull(fixture.edge.proxies()).untrusted());
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 0);
    String shown = new String(fixture.signals.print(), StandardCharsets.UTF_8);
    assertTrue(
        shown.contains("bourse_http_proxy_headers_refused_total{kind=\"untrusted\"} 3"), shown);
  }

  @Test
  void aHeaderMayComeInAnyPieces() throws Exception {
    EdgeFixture fixture = serve();
    for (byte[] all :
        List.of(
            join(v1("203.0.113.7").getBytes(StandardCharsets.US_ASCII), GET),
            join(v2("cb007107", "050003616263"), GET))) {
      RawClient slow = connect(fixture);
      for (int i = 0; i < 60; i++) {
        slow.send(new byte[] {all[i]});
      }
      assertClient("203.0.113.7", slow.send(Arrays.copyOfRange(all, 60, all.length)));
    }
    RawClient torn = connect(fixture).send(v1("203.0.113.7").substring(0, 20));
    assertFalse(torn.isClosedSoon(100));
    assertClient("203.0.113.7", torn.send(v1("203.0.113.7").substring(20) + GET));
  }

  private void assertRefused(EdgeFixture fixture, byte[] header) throws IOException {
    ProxyProtocol proxies = Objects.requireNonNull(fixture.edge.proxies());
    long before = proxies.malformed();
    String sent = new String(header, StandardCharsets.ISO_8859_1);
    assertEquals("", connect(fixture).send(header).untilClosed(), sent);
    until("it is counted: " + sent, () -> proxies.malformed() == before + 1);
  }

  @Test
  void whatIsNoHeaderIsClosedWithoutAnAnswer() throws Exception {
    EdgeFixture fixture = serve();
    List<String> texts =
        List.of(
            GET,
            "X",
            "PROXY\r\n",
            "PROXY TCP4 203.0.113.7\r\n",
            "PROXY TCP4 203.0.113.7 10.0.0.1 1 65536\r\n" + GET,
            "PROXY TCP4 203.0.113.7 10.0.0.1 1 07\r\n" + GET,
            "PROXY TCP4 203.0.113.7 10.0.0.1 1 2 3\r\n" + GET,
            "PROXY TCP4 203.0.113.7  10.0.0.1 1 2\r\n" + GET,
            "PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n" + GET,
            "PROXY TCP4 203.0.113.256 10.0.0.1 1 2\r\n" + GET,
            "PROXY TCP4 localhost 10.0.0.1 1 2\r\n" + GET,
            "PROXY TCP6 203.0.113.7 10.0.0.1 1 2\r\n" + GET,
            "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n" + GET,
            "PROXY TCP4 203.0.113.7 10.0.0.1 1 2\n" + GET,
            "PROXY UDP4 203.0.113.7 10.0.0.1 1 2\r\n" + GET,
            "proxy TCP4 203.0.113.7 10.0.0.1 1 2\r\n" + GET,
            "PROXY UNKNOWN " + "x".repeat(100));
    for (String text : texts) {
      assertRefused(fixture, text.getBytes(StandardCharsets.US_ASCII));
    }
    List<String> binaries =
        List.of(
            // Version 1; a command, a datagram and a family that do not exist.
            "1111000c" + "00".repeat(12),
            "2211000c" + "00".repeat(12),
            "2112000c" + "00".repeat(12),
            "2141000c" + "00".repeat(12),
            // Too short for its addresses; longer than the limit.
            "2111000b" + "00".repeat(11),
            "21210023" + "00".repeat(35),
            "21110801",
            "2011ffff",
            // A version that does not exist, of a header without a length.
            "ff11ffff" + "00".repeat(2_300));
    for (String binary : binaries) {
      assertRefused(fixture, HexFormat.of().parseHex(SIGNATURE + binary));
    }
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 0);
    assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + GET));
  }

  @Test
  void aHeaderThatDoesNotComeIsNotAwaitedForLong() throws Exception {
    EdgeLimits hasty =
        new EdgeLimits(
            ProcessLimits.ofProcess(), 300, 600, 300, 512, 65_536, 500, DownloadPace.standard());
    EdgeFixture fixture = serve(config(hasty, 0));
    assertEquals("", connect(fixture).untilClosed());
    assertEquals("", connect(fixture).send("PROXY TC").untilClosed());
    assertEquals("", connect(fixture).send(v1("203.0.113.7")).untilClosed(), "no head");
    assertEquals(0, Objects.requireNonNull(fixture.edge.proxies()).malformed());
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 0);
  }

  @Test
  void aProxyThatEndsItsConnectionOrLooksWhetherThePortIsOpenIsNoFault() throws Exception {
    EdgeFixture fixture = serve();
    connect(fixture).close();
    connect(fixture).send("PROXY").close();
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 0);
    assertEquals(0, Objects.requireNonNull(fixture.edge.proxies()).malformed());
    assertEquals(0, fixture.edge.occupancy().rejected());
  }

  @Test
  void aConnectionOfTheProxysOwnIsAnsweredAndForwardsNobody() throws Exception {
    EdgeFixture fixture = serve();
    String forwarded = GET.replace("Host: a", "Host: a\r\nX-Forwarded-For: 203.0.113.7");
    List<byte[]> own =
        List.of(
            "PROXY UNKNOWN\r\n".getBytes(StandardCharsets.US_ASCII),
            "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".getBytes(StandardCharsets.US_ASCII),
            HexFormat.of().parseHex(SIGNATURE + "20000000"),
            // With addresses, which are meaningless in this case.
            HexFormat.of().parseHex(SIGNATURE + "2011000c" + "cb007107" + "00".repeat(8)),
            HexFormat.of().parseHex(SIGNATURE + "21000000"),
            HexFormat.of().parseHex(SIGNATURE + "213100d8" + "00".repeat(216)));
    for (byte[] header : own) {
      assertClient(PROXY, connect(fixture).send(join(header, forwarded)));
    }
  }

  @Test
  void whatIsForwardedIsBelievedOfAProxyBehindTheProxyAlone() throws Exception {
    EdgeFixture fixture = serve(config(EdgeLimits.standard(), 0, "10.0.0.8"));
    String forwarded = GET.replace("Host: a", "Host: a\r\nX-Forwarded-For: 198.51.100.1");
    assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + forwarded));
    assertClient("198.51.100.1", connect(fixture).send(v1("10.0.0.8") + forwarded));
  }

  @Test
  void connectionsOfAnAddressAreCountedByTheHeader() throws Exception {
    EdgeFixture fixture =
        serve(config(EdgeLimits.in(ProcessLimits.ofProcess().withConnections(100, 3)), 0));
    List<RawClient> first = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      RawClient client = connect(fixture).send(v1("203.0.113.7") + GET);
      assertClient("203.0.113.7", client);
      first.add(client);
    }
    assertEquals("", connect(fixture).send(v1("203.0.113.7") + GET).untilClosed());
    assertClient("203.0.113.8", connect(fixture).send(v1("203.0.113.8") + GET));
    first.get(0).close();
    until("it is forgotten", () -> fixture.edge.occupancy().connections() == 3);
    assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + GET));
    // The proxy's own connections have no such limit.
    for (int i = 0; i < 10; i++) {
      assertClient(PROXY, connect(fixture).send("PROXY UNKNOWN\r\n" + GET));
    }
  }

  @Test
  void connectionsThatWaitForTheirHeaderCountAndPushOutEachOther() throws Exception {
    EdgeFixture fixture =
        serve(config(EdgeLimits.in(ProcessLimits.ofProcess().withConnections(20, 20)), 0));
    RawClient eldest = connect(fixture);
    for (int i = 0; i < 40; i++) {
      connect(fixture);
    }
    assertEquals("", eldest.untilClosed());
    assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + GET));
    until("there are no more", () -> fixture.edge.occupancy().connections() <= 21);
  }

  @Test
  void anAddressSpendsItsOwnBudget() throws Exception {
    EdgeFixture fixture = serve(config(EdgeLimits.standard(), 2));
    for (int i = 0; i < 2; i++) {
      assertClient("203.0.113.7", connect(fixture).send(v1("203.0.113.7") + GET));
    }
    String over = connect(fixture).send(v1("203.0.113.7") + GET).until("}");
    assertTrue(over.startsWith("HTTP/1.1 429"), over);
    assertClient("203.0.113.8", connect(fixture).send(v1("203.0.113.8") + GET));
  }

  private EdgeFixture secure(EdgeConfig config) throws IOException {
    Pem pem = Certificates.make("EC", 30);
    pem.write(folder);
    trusted = pem;
    return serve(
        config.withTls(
            TlsFixture.config(Certificates.certificateFile(folder), Certificates.keyFile(folder))));
  }

  private @Nullable Pem trusted;

  private RawClient shake(Socket socket) throws IOException {
    SSLSocket secure =
        (SSLSocket)
            Certificates.trusting(Objects.requireNonNull(trusted))
                .getSocketFactory()
                .createSocket(
                    socket, InetAddress.getLoopbackAddress().getHostName(), socket.getPort(), true);
    open.add(secure);
    secure.startHandshake();
    return new RawClient(secure);
  }

  private RawClient shake(EdgeFixture fixture, byte[] header) throws IOException {
    Socket socket = socket(fixture, PROXY);
    socket.getOutputStream().write(header);
    return shake(socket);
  }

  private RawClient shake(EdgeFixture fixture, String header) throws IOException {
    return shake(fixture, header.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void theHeaderComesBeforeTls() throws Exception {
    EdgeFixture fixture = secure(config(EdgeLimits.standard(), 0));
    assertClient("203.0.113.7", shake(fixture, v1("203.0.113.7")).send(GET));
    assertClient("203.0.113.8", shake(fixture, v2("cb007108", "")).send(GET));
    String forwarded = GET.replace("Host: a", "Host: a\r\nX-Forwarded-For: 203.0.113.7");
    assertClient(PROXY, shake(fixture, "PROXY UNKNOWN\r\n").send(forwarded));
    Socket plain = socket(fixture, PROXY);
    plain.getOutputStream().write((v1("203.0.113.7") + GET).getBytes(StandardCharsets.US_ASCII));
    assertFalse(new RawClient(plain).untilClosed().contains("HTTP/"));
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 3);
  }

  @Test
  void overTlsTooStrangersAndWhatIsNoHeaderAreClosed() throws Exception {
    EdgeFixture fixture = secure(config(EdgeLimits.standard(), 0));
    assertEquals("", connect(fixture, STRANGER).send(v1("203.0.113.7")).untilClosed());
    assertEquals("", connect(fixture).send(GET).untilClosed());
    // The start of a handshake without a header.
    byte[] hello = HexFormat.of().parseHex("16030100c8010000c4");
    assertEquals("", connect(fixture).send(hello).untilClosed());
    assertEquals(1, Objects.requireNonNull(fixture.edge.proxies()).untrusted());
    until(
        "both are counted", () -> Objects.requireNonNull(fixture.edge.proxies()).malformed() == 2);
    until("they are forgotten", () -> fixture.edge.occupancy().connections() == 0);
  }

  @Test
  void overTlsTooConnectionsOfAnAddressAreCountedByTheHeaderAndLateOnesAreClosed()
      throws Exception {
    // With the service's deadlines: the first handshake of a process takes long on a busy machine.
    EdgeFixture fixture =
        secure(config(EdgeLimits.in(ProcessLimits.ofProcess().withConnections(100, 2)), 0));
    List<RawClient> first = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      RawClient client = shake(fixture, v1("203.0.113.7"));
      assertClient("203.0.113.7", client.send(GET));
      first.add(client);
    }
    assertEquals("", connect(fixture).send(v1("203.0.113.7")).untilClosed());
    assertClient("203.0.113.8", shake(fixture, v1("203.0.113.8")).send(GET));
    for (RawClient one : first) {
      one.close();
    }
    until("one is left", () -> fixture.edge.occupancy().connections() == 1);
    assertClient("203.0.113.7", shake(fixture, v1("203.0.113.7")).send(GET));

    EdgeLimits hasty =
        new EdgeLimits(
            ProcessLimits.ofProcess().withConnections(100, 2),
            1_000,
            60_000,
            300,
            512,
            65_536,
            500,
            DownloadPace.standard());
    EdgeFixture other = secure(config(hasty, 0));
    assertEquals("", connect(other).untilClosed(), "no header");
    assertEquals("", connect(other).send(v1("203.0.113.9")).untilClosed(), "no handshake");
    until("they are forgotten", () -> other.edge.occupancy().connections() == 0);
  }
}
