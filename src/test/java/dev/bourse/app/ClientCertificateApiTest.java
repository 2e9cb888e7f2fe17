package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Secrets;
import dev.bourse.core.Times;
import dev.bourse.remote.SharedHttpClient;
import dev.bourse.testing.AdminRun;
import dev.bourse.testing.Authority;
import dev.bourse.testing.Certificates;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.MemberShell;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole service that accepts API tokens only with client certificates. */
@OneEngine("TLS is the same before each store")
class ClientCertificateApiTest {
  private static final String CAPACITY = "/api/vm/capacity?cluster=acme-train";
  private static final String FEED = "/api/checkpoints/public";

  private final Path folder;
  private final Certificates.Pem server;
  private final Authority authority = new Authority("ours");

  ClientCertificateApiTest(@TempDir Path folder) {
    this.folder = folder;
    server = Certificates.make("EC", 30);
  }

  private RunningBourse serve() throws IOException {
    List<String> settings = new ArrayList<>(List.of(server.write(folder)));
    settings.add(authority.write(folder, "tls.client.ca"));
    return RunningBourse.demo(settings.toArray(String[]::new));
  }

  private HttpResponse<String> send(SSLContext context, HttpRequest.Builder request)
      throws Exception {
    return HttpClient.newBuilder()
        .sslContext(context)
        .build()
        .send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private SSLContext none() {
    return Certificates.trusting(server);
  }

  private SSLContext shown() {
    return Authority.showing(authority.issue("agent"), server);
  }

  private static HttpRequest.Builder to(RunningBourse bourse, String path, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(bourse.service().baseUrl() + path));
    return headers.length == 0 ? request : request.headers(headers);
  }

  private static String[] bearer(String token) {
    return new String[] {"Authorization", "Bearer " + token};
  }

  private static HttpRequest.Builder publish(HttpRequest.Builder request) {
    JsonObject publication = FilesFixture.publication("job.bin", new byte[] {1}, "org");
    return request
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(publication.encode()));
  }

  @Test
  void tokensTakeACertificateAndMembersDoNot() throws Exception {
    try (RunningBourse bourse = serve()) {
      String agents = bourse.secret("acme", "orgwide");
      String operators = bourse.operatorToken();
      for (String token :
          List.of(agents, operators, agents.substring(0, agents.length() - 1), "x")) {
        HttpResponse<String> refused = send(none(), to(bourse, CAPACITY, bearer(token)));
        assertEquals(401, refused.statusCode(), refused.body());
        JsonObject problem = new JsonObject(refused.body());
        assertEquals("unauthorized", problem.getString("error"));
        assertTrue(
            problem.getString("detail").contains("connections with a client certificate"),
            refused.body());
      }
      assertEquals(
          401, send(none(), to(bourse, "/api/operator/status", bearer(operators))).statusCode());
      assertEquals(200, send(shown(), to(bourse, CAPACITY, bearer(agents))).statusCode());
      assertEquals(
          200, send(shown(), to(bourse, "/api/operator/status", bearer(operators))).statusCode());
      // A certificate alone does not authenticate.
      assertEquals(401, send(shown(), to(bourse, CAPACITY)).statusCode());

      String member = bourse.memberToken("acme", "alice");
      HttpResponse<String> read = send(none(), to(bourse, FilesFixture.FAMILY, bearer(member)));
      assertEquals(200, read.statusCode(), read.body());
      String secret = bourse.startSession("acme", "alice");
      JsonObject order =
          new JsonObject()
              .put("name", "job")
              .put("expires_at", Times.rfc3339(System.currentTimeMillis() + 3_600_000))
              .put("max_bytes", 1_000);
      HttpResponse<String> minted =
          send(
              none(),
              to(bourse, "/api/console/credentials", "Cookie", "__Host-bourse=" + secret)
                  .header("X-CSRF-Token", Secrets.derived(secret, "csrf"))
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(order.encode())));
      assertEquals(201, minted.statusCode(), minted.body());
      String job = new JsonObject(minted.body()).getString("token");
      HttpResponse<String> withoutOne =
          send(none(), publish(to(bourse, FilesFixture.FAMILY, bearer(job))));
      assertEquals(401, withoutOne.statusCode(), withoutOne.body());
      assertTrue(withoutOne.body().contains("client certificate"), withoutOne.body());
      HttpResponse<String> withOne =
          send(shown(), publish(to(bourse, FilesFixture.FAMILY, bearer(job))));
      assertEquals(201, withOne.statusCode(), withOne.body());
      String cookie = "__Host-bourse=" + bourse.startSession("acme", "alice");
      assertEquals(
          200, send(none(), to(bourse, "/api/console/session", "Cookie", cookie)).statusCode());
      for (String open : List.of("/docs", FEED, "/sign-in")) {
        assertEquals(200, send(none(), to(bourse, open)).statusCode(), open);
      }
    }
  }

  @Test
  void anOperatorsTokenInABodyTakesACertificateTooAndItsSessionThenDoesNot() throws Exception {
    try (RunningBourse bourse = serve()) {
      JsonObject token = new JsonObject().put("token", bourse.operatorToken());
      HttpRequest.Builder start =
          to(bourse, "/api/operator/session", "Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(token.encode()));
      HttpResponse<String> refused = send(none(), start);
      assertEquals(401, refused.statusCode());
      assertTrue(refused.body().contains("client certificate"), refused.body());
      HttpResponse<String> started = send(shown(), start);
      assertEquals(200, started.statusCode(), started.body());
      String cookie = started.headers().firstValue("set-cookie").orElseThrow().split(";", 2)[0];
      assertEquals(
          200, send(none(), to(bourse, "/api/operator/status", "Cookie", cookie)).statusCode());
      assertTrue(Secrets.isOne(cookie.split("=", 2)[1]));
    }
  }

  @Test
  void theCommandLineShowsACertificate() throws Exception {
    try (RunningBourse bourse = serve()) {
      Certificates.Pem agent = authority.issue("agent");
      String certificate = Files.writeString(folder.resolve("agent.crt"), agent.text()).toString();
      String key = Files.writeString(folder.resolve("agent.key"), agent.key()).toString();
      String url = bourse.service().baseUrl();
      Map<String, String> token = Map.of("BOURSE_TOKEN", bourse.secret("acme", "orgwide"));

      String refused = run(1, token, "whoami", "--url", url);
      assertTrue(refused.contains("connections with a client certificate"), refused);
      String listed = run(0, token, "whoami", "--url", url, "--cert", certificate, "--key", key);
      assertTrue(listed.contains("capacity:read"), listed);
      String status =
          run(
              0,
              Map.of(
                  "BOURSE_OPERATOR_TOKEN", bourse.operatorToken(),
                  "BOURSE_CLIENT_CERT", certificate,
                  "BOURSE_CLIENT_KEY", key),
              "admin",
              "orgs",
              "list",
              "--url",
              url);
      assertTrue(status.contains("acme"), status);

      String half = run(2, token, "whoami", "--url", url, "--cert", certificate);
      assertTrue(half.contains("belong together; --key is missing"), half);
      String wrong = run(2, token, "whoami", "--url", url, "--cert", key, "--key", certificate);
      assertTrue(wrong.contains("--cert: '" + key + "' is not acceptable"), wrong);
      Certificates.Pem others = new Authority("ours").issue("agent");
      Files.writeString(folder.resolve("agent.crt"), others.text());
      Files.writeString(folder.resolve("agent.key"), others.key());
      String unknown = run(3, token, "whoami", "--url", url, "--cert", certificate, "--key", key);
      assertTrue(unknown.contains("cannot reach " + url), unknown);
    }
  }

  /**
   * Runs a command in this process, which trusts the server during the call, and returns its
   * output.
   */
  private String run(int code, Map<String, String> environment, String... arguments)
      throws Exception {
    SSLContext before = SSLContext.getDefault();
    SSLContext.setDefault(none());
    System.setProperty("javax.net.ssl.trustStore", trusted().toString());
    System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    try {
      if (arguments[0].equals("admin")) {
        AdminRun run = AdminRun.of(environment, Arrays.copyOfRange(arguments, 1, arguments.length));
        assertEquals(code, run.exitCode(), run.out() + run.err());
        return run.out() + run.err();
      }
      MemberShell shell = new MemberShell(folder.resolve("config"));
      environment.forEach(shell::with);
      MemberShell.Outcome run = shell.run(arguments).ended(code);
      return run.out() + run.err();
    } finally {
      System.clearProperty("javax.net.ssl.trustStore");
      System.clearProperty("javax.net.ssl.trustStorePassword");
      SSLContext.setDefault(before);
      SharedHttpClient.close();
    }
  }

  private Path trusted() throws IOException, GeneralSecurityException {
    Path file = folder.resolve("trusted.p12");
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, "changeit".toCharArray());
    store.setCertificateEntry("server", server.certificate());
    try (OutputStream out = Files.newOutputStream(file)) {
      store.store(out, "changeit".toCharArray());
    }
    return file;
  }
}
