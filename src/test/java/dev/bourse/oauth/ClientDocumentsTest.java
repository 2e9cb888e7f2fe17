package dev.bourse.oauth;

import static dev.bourse.capacity.StoreFixture.await;
import static dev.bourse.capacity.StoreFixture.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SelfSignedCertificate;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is fetched from an address that a client names, and what is not. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ClientDocumentsTest {
  private final Vertx vertx = Vertx.vertx();
  private final FakeClock clock = new FakeClock(1_000_000);
  private final AtomicInteger fetched = new AtomicInteger();
  private final SelfSignedCertificate certificate = SelfSignedCertificate.create("localhost");

  private volatile Consumer<HttpServerRequest> behaviour = this::document;
  private HttpServer server;
  private String address;
  private ClientDocuments documents;

  @BeforeEach
  void serve() throws Exception {
    server =
        await(
            vertx
                .createHttpServer(
                    new HttpServerOptions()
                        .setSsl(true)
                        .setKeyCertOptions(certificate.keyCertOptions()))
                .requestHandler(
                    request -> {
                      fetched.incrementAndGet();
                      behaviour.accept(request);
                    })
                .listen(0, "127.0.0.1"));
    address = "https://localhost:" + server.actualPort() + "/client.json";
    documents = documents(Set.of("localhost"));
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
    certificate.delete();
  }

  private ClientDocuments documents(Set<String> allowedHosts) {
    return new ClientDocuments(
        vertx,
        new HttpClientOptions().setTrustOptions(certificate.trustOptions()),
        new OAuthConfig(allowedHosts),
        clock);
  }

  private JsonObject metadata() {
    return new JsonObject()
        .put("client_id", address)
        .put("client_name", "Documented")
        .put("redirect_uris", new JsonArray().add("https://app.example/cb"));
  }

  private void document(HttpServerRequest request) {
    request.response().end(metadata().toBuffer());
  }

  private void refused(String why) {
    OAuthError refusal = fails(OAuthError.class, documents.find(address));
    assertEquals(OAuthError.INVALID_CLIENT, refusal.code());
    assertTrue(refusal.description().contains(why), refusal.description());
  }

  @Test
  void aClientIsWhatItsDocumentSays() throws Exception {
    Client client = await(documents.find(address));

    assertEquals(address, client.clientId());
    assertEquals("Documented", client.name());
    assertEquals(java.util.List.of("https://app.example/cb"), client.redirectUris());
  }

  @Test
  void aDocumentIsFetchedOnceAnHour() throws Exception {
    await(documents.find(address));
    await(documents.find(address));
    assertEquals(1, fetched.get());
    clock.advance(3_600_000);
    await(documents.find(address));
    assertEquals(2, fetched.get());
  }

  @Test
  void aHostWithAnAddressThatIsNotPublicIsNotConnectedTo() {
    documents = documents(Set.of());
    refused("port");
    address = "https://localhost/client.json";
    refused("not public");
    assertEquals(0, fetched.get());
  }

  @Test
  void aRedirectIsNotFollowed() {
    behaviour =
        request ->
            request.response().setStatusCode(302).putHeader("location", address + "?x").end();
    refused("status 302");
    assertEquals(1, fetched.get());
  }

  @Test
  void aLongDocumentIsNotReadToItsEnd() {
    behaviour =
        request -> request.response().setChunked(true).end(Buffer.buffer(" ".repeat(100_000)));
    refused("longer than");
  }

  @Test
  void aHostThatDoesNotAnswerIsNotWaitedFor() {
    behaviour = request -> {};
    refused("could not be fetched");
  }

  @Test
  void aDocumentAboutAnotherClientIsRefused() {
    behaviour =
        request ->
            request.response().end(metadata().put("client_id", "https://x.example/").toBuffer());
    refused("another client_id");
  }

  @Test
  void whatIsNoDocumentIsRefusedAndNotFetchedAgainAtOnce() {
    behaviour = request -> request.response().end("<html>");
    refused("not a JSON object");
    refused("not a JSON object");
    assertEquals(1, fetched.get());
    clock.advance(60_000);
    refused("not a JSON object");
    assertEquals(2, fetched.get());
  }

  @Test
  void aDocumentWithASecretIsRefused() {
    behaviour = request -> request.response().end(metadata().put("client_secret", "s").toBuffer());
    refused("client_secret");
  }

  @Test
  void aHostWhoseCertificateIsAnothersIsRefused() {
    address = address.replace("localhost", "127.0.0.1");
    documents = documents(Set.of("127.0.0.1"));
    refused("could not be fetched");
    assertEquals(0, fetched.get());
  }

  @Test
  void onlyAnHttpsAddressWithAPathIsTheAddressOfADocument() {
    for (String good :
        new String[] {"https://app.example/client.json", "https://a.example/x?y=1"}) {
      assertTrue(ClientDocuments.isAddress(good), good);
    }
    for (String bad :
        new String[] {
          "http://app.example/client.json",
          "https://app.example",
          "https://app.example/",
          "https://user@app.example/c",
          "https://app.example/c#d",
          "https://app.example/a/../b",
          "https://app.example/..",
          "https://app.example/a b",
          "https://[::1]/c",
          "file:///etc/passwd",
          "https://app.example/" + "a".repeat(600)
        }) {
      assertFalse(ClientDocuments.isAddress(bad), bad);
    }
  }
}
