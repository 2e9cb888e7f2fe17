package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import dev.bourse.edge.tls.TlsConfig;
import dev.bourse.signals.Signals;
import dev.bourse.testing.Authority;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.Certificates.Pem;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Access to health and metrics. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
class ManagementTest {
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final String NEXT = "fedcba9876543210fedcba9876543210";

  private static Pem server;

  private final Vertx vertx = Vertx.vertx();
  private final HttpClient client = HttpClient.newHttpClient();
  private final Path folder;

  ManagementTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @BeforeAll
  static void make() {
    server = Certificates.make("EC", 30);
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("token"), text);
  }

  private static List<String> faults(Map<String, String> values) {
    Settings settings = new Settings(values, Map.of());
    ManagementConfig.from(settings, 8081, Optional.empty());
    return settings.faults();
  }

  private static ManagementConfig config(Path file) {
    Settings settings =
        new Settings(
            Map.of(
                "management.host", "0.0.0.0",
                "management.port", "0",
                "management.token-file", file.toString()),
            Map.of());
    ManagementConfig config = ManagementConfig.from(settings, 8081, Optional.empty());
    assertEquals(List.of(), settings.faults());
    return config;
  }

  private HttpResponse<String> read(ManagementVerticle management, String path, String credentials)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + management.actualPort() + path));
    if (!credentials.isEmpty()) {
      request.header("Authorization", credentials);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void whereOthersReachItMetricsTakeATokenAndProbesDoNot() throws Exception {
    ManagementVerticle management =
        new ManagementVerticle(
            config(file(TOKEN + "\n" + NEXT + "\n")),
            new Readiness(),
            new Signals(),
            Clock.systemUTC());
    vertx.deployVerticle(management).await();
    assertEquals(200, read(management, "/livez", "").statusCode());
    assertEquals(503, read(management, "/readyz", "").statusCode());
    for (String wrong :
        List.of(
            "",
            "Bearer",
            "Bearer ",
            "Bearer x",
            "Bearer " + TOKEN + "0",
            "Bearer " + TOKEN.substring(1),
            "Basic " + TOKEN,
            TOKEN)) {
      HttpResponse<String> refused = read(management, "/metrics", wrong);
      assertEquals(401, refused.statusCode(), wrong);
      assertEquals("Bearer", refused.headers().firstValue("www-authenticate").orElse(""));
      assertFalse(refused.body().contains("bourse_"), refused.body());
    }
    for (String right : List.of("Bearer " + TOKEN, "bearer " + NEXT)) {
      HttpResponse<String> answer = read(management, "/metrics", right);
      assertEquals(200, answer.statusCode());
      assertTrue(answer.body().contains("bourse_signals_unreadable_total 0"), answer.body());
    }
  }

  @Test
  void onThisMachineATokenIsAskedForOnlyWhenOneIsSet() throws Exception {
    ManagementVerticle open =
        new ManagementVerticle(
            ManagementConfig.onLoopback(0), new Readiness(), new Signals(), Clock.systemUTC());
    vertx.deployVerticle(open).await();
    assertEquals(200, read(open, "/metrics", "").statusCode());
    assertFalse(config(file(TOKEN)).mayRead(null, false));
  }

  private ManagementConfig secure(Authority authority, String tokenFile) throws IOException {
    Map<String, String> values = new HashMap<>();
    for (String setting : server.write(folder)) {
      values.put(setting.split("=", 2)[0], setting.split("=", 2)[1]);
    }
    authority.write(folder, "");
    values.put("management.client.ca", Authority.file(folder).toString());
    values.put("management.host", "0.0.0.0");
    values.put("management.port", "0");
    values.put("management.token-file", tokenFile);
    Settings settings = new Settings(values, Map.of());
    ManagementConfig config = ManagementConfig.from(settings, 8081, TlsConfig.from(settings));
    assertEquals(List.of(), settings.faults());
    return config;
  }

  private static HttpResponse<String> read(
      ManagementVerticle management, SSLContext context, String path, String credentials)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("https://localhost:" + management.actualPort() + path));
    if (!credentials.isEmpty()) {
      request.header("Authorization", credentials);
    }
    return HttpClient.newBuilder()
        .sslContext(context)
        .build()
        .send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aCertificateOrATokenReadsMetricsAndProbesNeedNeither() throws Exception {
    Authority authority = new Authority("monitors");
    ManagementVerticle management =
        new ManagementVerticle(
            secure(authority, file(TOKEN).toString()),
            new Readiness(),
            new Signals(),
            Clock.systemUTC());
    vertx.deployVerticle(management).await();
    SSLContext none = Certificates.trusting(server);
    assertEquals(200, read(management, none, "/livez", "").statusCode());
    HttpResponse<String> refused = read(management, none, "/metrics", "");
    assertEquals(401, refused.statusCode());
    assertTrue(refused.body().contains("management.client.ca"), refused.body());
    assertEquals(401, read(management, none, "/metrics", "Bearer " + NEXT).statusCode());
    assertEquals(200, read(management, none, "/metrics", "Bearer " + TOKEN).statusCode());
    SSLContext shown = Authority.showing(authority.issue("prometheus"), server);
    assertEquals(200, read(management, shown, "/metrics", "").statusCode());
    for (Pem wrong :
        List.of(
            new Authority("monitors").issue("prometheus"),
            authority.issue("prometheus", Duration.ofMinutes(-1)))) {
      SSLContext context = Authority.showing(wrong, server);
      assertThrows(IOException.class, () -> read(management, context, "/livez", ""));
    }
    Authority next = new Authority("next");
    next.write(folder, "");
    assertTrue(management.renewCertificate().await());
    assertThrows(
        IOException.class,
        () ->
            read(
                management,
                Authority.showing(authority.issue("prometheus"), server),
                "/metrics",
                ""));
    SSLContext renewed = Authority.showing(next.issue("prometheus"), server);
    assertEquals(200, read(management, renewed, "/metrics", "").statusCode());
  }

  @Test
  void aCertificateIsAskedForAloneWhereThereIsNoToken() throws Exception {
    Authority authority = new Authority("monitors");
    ManagementVerticle management =
        new ManagementVerticle(
            secure(authority, ""), new Readiness(), new Signals(), Clock.systemUTC());
    vertx.deployVerticle(management).await();
    SSLContext none = Certificates.trusting(server);
    assertEquals(401, read(management, none, "/metrics", "").statusCode());
    assertEquals(401, read(management, none, "/metrics", "Bearer " + TOKEN).statusCode());
    SSLContext shown = Authority.showing(authority.issue("prometheus"), server);
    assertEquals(200, read(management, shown, "/metrics", "").statusCode());
  }

  @Test
  void handshakesThatDoNotEndAreClosedForOthers() throws Exception {
    ManagementVerticle management =
        new ManagementVerticle(
            secure(new Authority("monitors"), ""),
            new Readiness(),
            new Signals(),
            Clock.systemUTC());
    vertx.deployVerticle(management).await();
    try (RawClient first = new RawClient(management.actualPort())) {
      List<RawClient> silent = new ArrayList<>();
      for (int i = 0; i < 70; i++) {
        silent.add(new RawClient(management.actualPort()));
      }
      assertEquals("", first.untilClosed());
      SSLContext none = Certificates.trusting(server);
      assertEquals(200, read(management, none, "/livez", "").statusCode());
      for (RawClient one : silent) {
        one.close();
      }
    }
  }

  @Test
  void certificatesAreAskedForOverTlsAlone() {
    List<String> faults =
        faults(
            Map.of(
                "management.host",
                "0.0.0.0",
                "management.client.ca",
                folder.resolve("none").toString()));
    assertEquals(1, faults.size(), faults.toString());
    assertTrue(faults.get(0).startsWith("tls.cert: '' is not acceptable"), faults.get(0));
  }

  @Test
  void anOpenAddressWithoutATokenIsRefused() {
    for (String host : List.of("0.0.0.0", "::", "10.0.0.7", "bourse.example", "127.example")) {
      List<String> faults = faults(Map.of("management.host", host));
      assertEquals(1, faults.size(), faults.toString());
      assertTrue(
          faults.get(0).startsWith("management.host: '" + host + "' is not acceptable")
              && faults.get(0).contains("management.token-file"),
          faults.get(0));
    }
    for (String host : List.of("127.0.0.1", "127.8.8.8", "::1", "localhost")) {
      assertEquals(List.of(), faults(Map.of("management.host", host)));
    }
    assertEquals(1, faults(Map.of("management.host", "not a host")).size());
  }

  @Test
  void aFileWithoutATokenWorthTheNameIsRefusedAndNotShown() throws IOException {
    for (String text : List.of("", "  \n", "short", TOKEN + "\u00e9", (TOKEN + "\n").repeat(5))) {
      Map<String, String> values = new HashMap<>();
      values.put("management.host", "0.0.0.0");
      values.put("management.token-file", file(text).toString());
      List<String> faults = faults(values);
      assertEquals(1, faults.size(), faults.toString());
      assertTrue(faults.get(0).startsWith("management.token-file: "), faults.get(0));
      assertFalse(faults.get(0).contains(TOKEN) || faults.get(0).contains("short"), faults.get(0));
    }
    assertEquals(
        1, faults(Map.of("management.token-file", folder.resolve("none").toString())).size());
  }
}
