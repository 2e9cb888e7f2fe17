package dev.bourse.edge;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import dev.bourse.testing.TestStore;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A process with the launcher's flags continues to answer other clients during a flood.
 *
 * <p>All tests flood one process, which must recover from each flood before the next.
 */
@Slow("each test begins thousands of connections, more than a process has room for")
@OneEngine("no request of the flood reaches the store")
class FloodTest {
  private static final int CONNECTIONS = 9_000;
  private static final int HEAD_BYTES = 6_000;
  private static final String TURNED_AWAY = "bourse_http_connections_turned_away_total";
  private static final Pattern MANAGEMENT =
      Pattern.compile("health and metrics are on 127\\.0\\.0\\.1:(\\d+)");

  private static Path data;
  private static Path log;
  private static ChildBourse bourse;

  private final List<SocketChannel> flood = new ArrayList<>();

  @BeforeAll
  static void start() {
    data = RunningBourse.newFolder();
    log = data.resolve("log");
    bourse =
        ChildBourse.asLaunched(
            data, List.of("port=0", "event-loops=2", "limits.edge-per-minute=0"), log);
  }

  @AfterEach
  void endFlood() throws IOException {
    for (SocketChannel open : flood) {
      open.close();
    }
  }

  @AfterAll
  static void stop() throws IOException {
    try {
      assertEquals(128 + 15, bourse.terminate());
    } finally {
      bourse.close();
      TestStore.delete(data);
    }
  }

  @Test
  void headsOfOneLongLineThatNeverEndsLeaveRoomForOthers() throws IOException {
    String head = "GET /api/whoami HTTP/1.1\r\nHost: a\r\nX-Long: ";
    hold(CONNECTIONS, 1, head + "x".repeat(HEAD_BYTES - head.length()));
  }

  @Test
  void headsOfManyShortLinesThatNeverEndLeaveRoomForOthers() throws IOException {
    String head = "GET /api/whoami HTTP/1.1\r\nHost: a\r\n";
    hold(CONNECTIONS, 1, head + "a:\r\n".repeat((HEAD_BYTES - head.length()) / 4));
  }

  @Test
  void headsFromManyAddressesLeaveRoomForOthers() throws IOException {
    String head = "GET /api/whoami HTTP/1.1\r\nHost: a\r\n";
    hold(CONNECTIONS, 100, head + "a:\r\n".repeat((HEAD_BYTES - head.length()) / 4));
  }

  @Test
  void bodiesThatNeverEndLeaveRoomForOthers() throws IOException {
    String head =
        String.join(
            "\r\n",
            "POST /sign-in HTTP/1.1",
            "Host: a",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: 8000",
            "",
            "");
    hold(CONNECTIONS, 100, head + "x".repeat(HEAD_BYTES));
  }

  @Test
  void requestsBehindOneAnotherThatAreNotReadLeaveRoomForOthers() throws IOException {
    hold(100, 20, "GET /api/checkpoints/public HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000));
  }

  @Test
  void connectionsThatSayNothingLeaveRoomForOthers() throws IOException {
    hold(CONNECTIONS, 100, "");
  }

  private void hold(int connections, int addresses, String text) throws IOException {
    URI api = URI.create(bourse.baseUrl());
    int management = managementPort();
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    double before = metric(management, TURNED_AWAY);
    for (int i = 0; i < connections; i++) {
      begin(api.getPort(), "127.0.1." + (1 + i % addresses), bytes);
      if (i % 1_000 == 999) {
        assertAnswers(api, management);
      }
    }
    // New ones keep arriving, and the old ones are disconnected at their deadlines.
    for (int i = 0; i < 20; i++) {
      assertAnswers(api, management);
    }
    assertTrue(metric(management, TURNED_AWAY) > before);
    until("the log says so", () -> logged().contains("because there was no room"));
    for (SocketChannel open : flood) {
      open.close();
    }
    until(
        "what they held is given back", () -> metric(management, "bourse_http_unread_bytes") == 0);
  }

  private void begin(int port, String from, byte[] bytes) throws IOException {
    SocketChannel channel = SocketChannel.open();
    flood.add(channel);
    channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    channel.bind(new InetSocketAddress(from, 0));
    try {
      channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.configureBlocking(false);
      channel.write(ByteBuffer.wrap(bytes));
    } catch (IOException refused) {
      // This is allowed.
    }
  }

  private static void assertAnswers(URI api, int management) throws IOException {
    assertEquals(401, status(api.resolve("/api/whoami")));
    assertEquals(200, status(URI.create("http://127.0.0.1:" + management + "/livez")));
    // On a busy machine the check of the store may be late.
    until("it is ready", () -> isReady(management));
  }

  private static boolean isReady(int management) {
    try {
      return status(URI.create("http://127.0.0.1:" + management + "/readyz")) == 200;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Over a connection of its own. */
  private static int status(URI url) throws IOException {
    HttpURLConnection asked = (HttpURLConnection) url.toURL().openConnection();
    asked.setConnectTimeout((int) TimeUnit.SECONDS.toMillis(60));
    asked.setReadTimeout((int) TimeUnit.SECONDS.toMillis(60));
    asked.setRequestProperty("Connection", "close");
    int status = asked.getResponseCode();
    asked.disconnect();
    return status;
  }

  private static double metric(int management, String name) {
    try {
      String all =
          new String(
              URI.create("http://127.0.0.1:" + management + "/metrics")
                  .toURL()
                  .openStream()
                  .readAllBytes(),
              StandardCharsets.UTF_8);
      Matcher found = Pattern.compile("(?m)^" + name + " (\\S+)$").matcher(all);
      assertTrue(found.find(), all);
      return Double.parseDouble(found.group(1));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String logged() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int managementPort() {
    Matcher told = MANAGEMENT.matcher(logged());
    assertTrue(told.find(), logged());
    return Integer.parseInt(told.group(1));
  }
}
