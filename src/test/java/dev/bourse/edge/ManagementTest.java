package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import dev.bourse.signals.Signals;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who reads health and metrics, and from where. */
class ManagementTest {
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final String NEXT = "fedcba9876543210fedcba9876543210";

  private final Vertx vertx = Vertx.vertx();
  private final HttpClient client = HttpClient.newHttpClient();
  private final Path folder;

  ManagementTest(@TempDir Path folder) {
    this.folder = folder;
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
    ManagementConfig.from(settings, 8081);
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
    ManagementConfig config = ManagementConfig.from(settings, 8081);
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
            config(file(TOKEN + "\n" + NEXT + "\n")), new Readiness(), new Signals());
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
        new ManagementVerticle(ManagementConfig.onLoopback(0), new Readiness(), new Signals());
    vertx.deployVerticle(open).await();
    assertEquals(200, read(open, "/metrics", "").statusCode());
    assertFalse(config(file(TOKEN)).mayRead(null));
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
