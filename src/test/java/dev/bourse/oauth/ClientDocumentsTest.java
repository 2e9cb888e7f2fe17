package dev.bourse.oauth;

import static dev.bourse.capacity.StoreFixture.await;
import static dev.bourse.capacity.StoreFixture.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.outbound.PublicHosts;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SelfSignedCertificate;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which documents are fetched from addresses that clients name. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ClientDocumentsTest {
  private static final String CALLER = "192.0.2.7";

  /** Creating its key takes a second. */
  private static final SelfSignedCertificate CERTIFICATE =
      SelfSignedCertificate.create("localhost");

  private final Vertx vertx = Vertx.vertx();
  private final FakeClock clock = new FakeClock(1_000_000);
  private final AtomicInteger fetched = new AtomicInteger();

  private volatile Consumer<HttpServerRequest> behaviour = this::document;
  private long timeoutMillis = ClientDocuments.TIMEOUT_MILLIS;
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
                        .setKeyCertOptions(CERTIFICATE.keyCertOptions()))
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
  }

  @AfterAll
  static void forgetCertificate() {
    CERTIFICATE.delete();
  }

  private ClientDocuments documents(Set<String> allowedHosts) {
    return documents(allowedHosts, InetAddress::getAllByName);
  }

  private ClientDocuments documents(Set<String> allowedHosts, PublicHosts.Resolver resolver) {
    return new ClientDocuments(
        vertx,
        new HttpClientOptions().setTrustOptions(CERTIFICATE.trustOptions()),
        new OAuthConfig(allowedHosts),
        clock,
        resolver,
        timeoutMillis);
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
    OAuthException refusal = fails(OAuthException.class, documents.find(address, CALLER));
    assertEquals(OAuthException.INVALID_CLIENT, refusal.code());
    assertTrue(refusal.description().contains(why), refusal.description());
  }

  @Test
  void aClientIsWhatItsDocumentSays() throws Exception {
    Client client = await(documents.find(address, CALLER));

    assertEquals(address, client.clientId());
    assertEquals("Documented", client.name());
    assertEquals(java.util.List.of("https://app.example/cb"), client.redirectUris());
  }

  @Test
  void aDocumentIsFetchedOnceAnHour() throws Exception {
    await(documents.find(address, CALLER));
    await(documents.find(address, CALLER));
    assertEquals(1, fetched.get());
    clock.advance(3_600_000);
    await(documents.find(address, CALLER));
    assertEquals(2, fetched.get());
  }

  @Test
  void throttledOneAddressHasNoMoreThanSoManyDocumentsFetched() throws Exception {
    behaviour = request -> request.response().end("<html>");
    for (int i = 0; i < ClientDocuments.FETCHES; i++) {
      fails(OAuthException.class, documents.find(address + i, CALLER));
    }
    ApiException refusal =
        assertThrows(ApiException.class, () -> documents.find(address + "x", CALLER));
    assertEquals(ErrorCode.RATE_LIMITED, refusal.code());
    assertTrue(refusal.detail().contains("metadata documents"), refusal.detail());
    assertEquals(ClientDocuments.FETCHES, fetched.get());

    // Cached documents cost nothing, and other callers have a budget of their own.
    fails(OAuthException.class, documents.find(address + 0, CALLER));
    behaviour = this::document;
    assertEquals("Documented", await(documents.find(address, "192.0.2.8")).name());
    assertEquals("Documented", await(documents.find(address, CALLER)).name());
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
    timeoutMillis = 200;
    documents = documents(Set.of("localhost"));
    behaviour = request -> {};
    refused("could not be fetched");
  }

  @Test
  void aHostThatAnswersByDripsIsCutOff() throws Exception {
    // A first TLS connection of a process takes much longer than later ones.
    await(documents.find(address, CALLER));
    // Each fragment arrives within the time-out, which applies to the whole answer.
    timeoutMillis = 2_000;
    documents = documents(Set.of("localhost"));
    Promise<Void> closed = Promise.promise();
    behaviour =
        request -> {
          request.connection().closeHandler(gone -> closed.tryComplete());
          request.response().setChunked(true).write(" ");
          vertx.setPeriodic(50, timer -> request.response().write(" "));
        };
    refused("could not be fetched");
    // On a busy machine the timeout may pass before the request reaches the host.
    for (int late = 0; late < 5 && fetched.get() == 1; late++) {
      clock.advance(60_000);
      refused("could not be fetched");
    }
    await(closed.future().timeout(60, TimeUnit.SECONDS));
  }

  @Test
  void ofAHostsAddressesOneThatIsNotPublicIsEnoughToRefuseIt() {
    documents = documents(Set.of(), host -> addresses("192.0.32.8", "10.0.0.1"));
    address = "https://app.example/client.json";
    refused("not public");
  }

  @Test
  void dnsRebindingTheConnectionGoesToTheAddressThatWasChecked() throws Exception {
    AtomicInteger lookUps = new AtomicInteger();
    documents =
        documents(
            Set.of("localhost"),
            host -> addresses(lookUps.getAndIncrement() == 0 ? "127.0.0.1" : "192.0.2.1"));
    await(documents.find(address, CALLER));
    assertEquals(1, lookUps.get());
    assertEquals(1, fetched.get());
  }

  @Test
  void nameServersThatHangHoldUpNothingElse() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    documents =
        documents(
            Set.of(),
            host -> {
              try {
                hanging.await();
              } catch (InterruptedException e) {
                throw new UnknownHostException(host);
              }
              throw new UnknownHostException(host);
            });
    try {
      for (int i = 0; i < 32; i++) {
        documents.find("https://h" + i + ".example/client.json", CALLER);
      }
      address = "https://app.example/client.json";
      refused("too many");
      assertEquals(7, await(vertx.executeBlocking(() -> 7)));
    } finally {
      hanging.countDown();
    }
  }

  private static InetAddress[] addresses(String... literals) throws UnknownHostException {
    InetAddress[] found = new InetAddress[literals.length];
    for (int i = 0; i < literals.length; i++) {
      found[i] = InetAddress.getByName(literals[i]);
    }
    return found;
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
