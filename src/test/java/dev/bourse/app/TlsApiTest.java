package dev.bourse.app;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Certificates;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.CommandRun;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole service with a certificate. */
@OneEngine("TLS is the same before each store")
class TlsApiTest {
  /** More than a record, a block and a window. */
  private static final int LENGTH = 9_000_001;

  private final Path folder;
  private final Certificates.Pem pem;

  TlsApiTest(@TempDir Path folder) {
    this.folder = folder;
    pem = Certificates.make("RSA", 30);
  }

  private static HttpClient client(Certificates.Pem... trusted) {
    return HttpClient.newBuilder().sslContext(Certificates.trusting(trusted)).build();
  }

  private static HttpRequest.Builder request(RunningBourse bourse, String path, String token) {
    return HttpRequest.newBuilder(URI.create(bourse.service().baseUrl() + path))
        .header("Authorization", "Bearer " + token);
  }

  private static JsonObject json(HttpClient client, HttpRequest.Builder request) throws Exception {
    HttpResponse<String> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertTrue(answer.statusCode() < 300, answer.body());
    return new JsonObject(answer.body());
  }

  @Test
  void whatMembersDoIsDoneByHttps() throws Exception {
    try (RunningBourse bourse = RunningBourse.demo(pem.write(folder))) {
      HttpClient client = client(pem);
      assertTrue(bourse.service().baseUrl().startsWith("https://localhost:"));
      assertEquals(
          bourse.service().baseUrl(),
          new JsonObject(Files.readString(bourse.data().resolve("demo.json")))
              .getString("base_url"));
      String member = bourse.memberToken("acme", "alice");

      byte[] bytes = FilesFixture.bytes(LENGTH, 7);
      JsonObject publication =
          FilesFixture.publication(FilesFixture.freshName(), bytes, "org").put("upload", "direct");
      JsonObject item =
          json(
              client,
              request(bourse, FilesFixture.FAMILY, member)
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(publication.encode())));
      String content = FilesFixture.FAMILY + '/' + item.getString("id") + "/content";
      json(
          client,
          request(bourse, content, member)
              .header("Content-Type", FilesFixture.TYPE)
              .PUT(HttpRequest.BodyPublishers.ofByteArray(bytes)));
      HttpResponse<byte[]> read =
          client.send(
              request(bourse, content, member).build(), HttpResponse.BodyHandlers.ofByteArray());
      assertArrayEquals(bytes, read.body());

      HttpResponse<InputStream> stream =
          client.send(
              request(bourse, "/api/vm/events?cluster=acme-train", bourse.secret("acme", "orgwide"))
                  .header("Accept", "text/event-stream")
                  .build(),
              HttpResponse.BodyHandlers.ofInputStream());
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
        assertEquals(200, stream.statusCode());
        assertTrue(String.valueOf(lines.readLine()).length() > 0);
      }
    }
  }

  @Test
  void aCertificateThatWasRenewedIsTakenByItself() throws Exception {
    try (RunningBourse bourse = RunningBourse.demo(pem.write(folder))) {
      Certificates.Pem other = Certificates.make("EC", 90);
      other.write(folder);
      until("it is shown", () -> other.certificate().equals(shown(bourse, pem, other)));
    }
  }

  private static Certificate shown(RunningBourse bourse, Certificates.Pem... trusted) {
    try {
      return client(trusted)
          .send(request(bourse, "/none", "none").build(), HttpResponse.BodyHandlers.discarding())
          .sslSession()
          .orElseThrow()
          .getPeerCertificates()[0];
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Test
  void aProcessSaysSoAndBeginsNoConnectionTwice() throws Exception {
    String[] settings = pem.write(folder);
    Path log = folder.resolve("log");
    List<String> all = List.of("port=0", settings[0], settings[1]);
    try (ChildBourse bourse = ChildBourse.logging(folder.resolve("child"), all, log)) {
      URI url = URI.create(bourse.baseUrl());
      assertEquals("https", url.getScheme());
      assertEquals(
          404,
          client(pem)
              .send(
                  HttpRequest.newBuilder(url.resolve("/none")).build(),
                  HttpResponse.BodyHandlers.discarding())
              .statusCode());
      assertTrue(
          Files.readString(log)
              .contains(Certificates.keyFile(folder) + " is open to others on this machine"));
      try (SSLSocket socket =
          (SSLSocket)
              Certificates.trusting(pem)
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), url.getPort())) {
        socket.setEnabledProtocols(new String[] {"TLSv1.2"});
        socket.startHandshake();
        socket.startHandshake();
        assertThrows(IOException.class, () -> ask(socket));
      }
    }
  }

  private static void ask(SSLSocket socket) throws IOException {
    socket.setSoTimeout(60_000);
    socket
        .getOutputStream()
        .write("GET /none HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    if (socket.getInputStream().read() < 0) {
      throw new EOFException();
    }
  }

  @Test
  void doctorTellsWhenItEnds() throws Exception {
    List<String> store = List.of("--data", folder.resolve("data").toString());
    CommandRun.on(store, "migrate").succeeded();
    String[] settings = pem.write(folder);
    String said =
        CommandRun.on(store, "doctor", "--set", settings[0], "--set", settings[1]).succeeded();
    assertTrue(said.contains("certificate: CN=localhost, which ends 2"), said);
    Files.delete(Certificates.keyFile(folder));
    String refused =
        CommandRun.on(store, "doctor", "--set", settings[0], "--set", settings[1]).refused();
    assertTrue(refused.contains("tls.key: '" + Certificates.keyFile(folder) + "'"), refused);
  }
}
