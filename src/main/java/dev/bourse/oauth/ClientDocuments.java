package dev.bourse.oauth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.Lazy;
import dev.bourse.outbound.PublicHosts;
import dev.bourse.signin.AttemptLimiter;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Applications whose id is the address of a metadata document. Anybody can name an address, so
 * fetches are bounded, and addresses reachable only from this machine are excluded: the host is
 * resolved once, its addresses must be public, and the connection goes to the address that was
 * checked.
 */
final class ClientDocuments {
  private static final int MAX_BYTES = 64 * 1_024;
  static final long TIMEOUT_MILLIS = 5_000;
  private static final int MAX_ADDRESS = 512;

  /** CacheEntry documents, 10 KB each with their parsed form. */
  private static final long MAX_CACHED = 1_000;

  private static final long GOOD_MILLIS = Duration.ofHours(1).toMillis();

  /** How long a faulty document is cached, so that a client's retries do not cause a fetch each. */
  private static final long BAD_MILLIS = Duration.ofMinutes(1).toMillis();

  /**
   * Concurrent fetches from one host and in total: a slow host must not use up the capacity of
   * others.
   */
  private static final int PER_HOST = 2;

  private static final int MAX_WAITING = 32;

  /**
   * Fetches in 15 minutes for one client address. People in an office use a handful of
   * applications, whose documents are then cached; the bound stops callers that name one address
   * after the other.
   */
  static final int FETCHES = 60;

  /** Printable, no fragment, no user, and a path without dot segments. */
  private static final Pattern ADDRESS =
      Pattern.compile("https://[a-z0-9.-]+(:\\d{1,5})?/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]+");

  /** Concurrent DNS look-ups, and threads for them. */
  private static final int MAX_RESOLVING = 32;

  private static final int RESOLVER_THREADS = 4;

  private record CacheEntry(Future<Client> client, long untilMillis) {}

  /** Created on first use, because most services never need it. */
  private final Lazy<HttpClient> http;

  private final PublicHosts hosts;
  private final long timeoutMillis;
  private final Clock clock;
  private final AttemptLimiter fetches =
      new AttemptLimiter(FETCHES, "client-id metadata documents requested from one address");
  private final Cache<String, CacheEntry> cache =
      Caffeine.newBuilder().maximumSize(MAX_CACHED).build();

  /**
   * @param options the TLS options
   */
  ClientDocuments(Vertx vertx, HttpClientOptions options, OAuthConfig config, Clock clock) {
    this(vertx, options, config, clock, InetAddress::getAllByName, TIMEOUT_MILLIS);
  }

  ClientDocuments(
      Vertx vertx,
      HttpClientOptions options,
      OAuthConfig config,
      Clock clock,
      PublicHosts.Resolver resolver,
      long timeoutMillis) {
    this.timeoutMillis = timeoutMillis;
    this.hosts =
        new PublicHosts(
            vertx,
            "client-documents",
            RESOLVER_THREADS,
            MAX_RESOLVING,
            config.metadataHosts(),
            resolver);
    this.clock = clock;
    this.http =
        new Lazy<>(
            () ->
                vertx.createHttpClient(
                    options
                        .setSsl(true)
                        .setVerifyHost(true)
                        .setKeepAlive(false)
                        .setDecompressionSupported(false)
                        .setConnectTimeout((int) timeoutMillis),
                    new PoolOptions().setHttp1MaxSize(PER_HOST).setMaxWaitQueueSize(MAX_WAITING)));
  }

  /** Whether a client id is the address of a metadata document. */
  static boolean isAddress(String clientId) {
    if (clientId.length() > MAX_ADDRESS || !ADDRESS.matcher(clientId).matches()) {
      return false;
    }
    String path = clientId.substring(clientId.indexOf('/', "https://".length()));
    return !(path + '/').contains("/./") && !(path + '/').contains("/../");
  }

  /**
   * Returns the application of a document; fails with {@link OAuthException} {@code invalid_client}
   * that says why there is none.
   *
   * @param caller the client address of the request, for which fetches are counted
   * @throws dev.bourse.core.ApiException {@code rate-limited} when there were too many
   */
  Future<Client> find(String address, String caller) {
    long now = clock.millis();
    CacheEntry known = cache.getIfPresent(address);
    // A clock that was set back must not prolong the entry.
    long leftMillis = known == null ? 0 : known.untilMillis() - now;
    if (known != null && leftMillis > 0 && leftMillis <= GOOD_MILLIS) {
      return known.client();
    }
    fetches.count(caller);
    Future<Client> fetched =
        resolve(address)
            .compose(server -> fetch(address, server))
            .timeout(timeoutMillis, TimeUnit.MILLISECONDS)
            .recover(fault -> Future.failedFuture(refusal(fault)));
    cache.put(address, new CacheEntry(fetched, now + BAD_MILLIS));
    fetched.onSuccess(client -> cache.put(address, new CacheEntry(fetched, now + GOOD_MILLIS)));
    return fetched;
  }

  private static OAuthException refusal(Throwable fault) {
    return fault instanceof OAuthException refused
        ? new OAuthException(OAuthException.INVALID_CLIENT, refused.description())
        : refused("its document could not be fetched");
  }

  private static OAuthException refused(String why) {
    return new OAuthException(OAuthException.INVALID_CLIENT, "client_id: " + why);
  }

  private Future<SocketAddress> resolve(String address) {
    URI uri;
    try {
      uri = new URI(address);
    } catch (URISyntaxException e) {
      return Future.failedFuture(refused("not an address"));
    }
    return hosts
        .resolve(uri)
        .recover(
            fault ->
                Future.failedFuture(
                    fault instanceof PublicHosts.HostRejectedException why
                        ? refused(String.valueOf(why.getMessage()))
                        : fault));
  }

  private Future<Client> fetch(String address, SocketAddress server) {
    URI uri = URI.create(address);
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.GET)
            .setServer(server)
            .setHost(uri.getHost())
            .setPort(server.port())
            .setURI(
                uri.getRawQuery() == null
                    ? uri.getRawPath()
                    : uri.getRawPath() + '?' + uri.getRawQuery())
            .setFollowRedirects(false)
            .setIdleTimeout(timeoutMillis)
            .putHeader("accept", "application/json");
    return http.get()
        .request(request)
        .compose(
            sent ->
                sent.send()
                    .compose(ClientDocuments::collect)
                    .timeout(timeoutMillis, TimeUnit.MILLISECONDS)
                    // Otherwise a slow host could keep the connection for days.
                    .onFailure(fault -> sent.reset()))
        .map(body -> read(address, body));
  }

  private static Future<Buffer> collect(HttpClientResponse response) {
    Promise<Buffer> collected = Promise.promise();
    response.exceptionHandler(collected::tryFail);
    if (response.statusCode() != 200) {
      collected.fail(refused("its document was answered with status " + response.statusCode()));
      response.request().reset();
      return collected.future();
    }
    Buffer body = Buffer.buffer();
    response.handler(
        piece -> {
          if (body.length() + piece.length() > MAX_BYTES) {
            collected.tryFail(refused("its document is longer than " + MAX_BYTES + " bytes"));
            response.request().reset();
          } else {
            body.appendBuffer(piece);
          }
        });
    response.endHandler(end -> collected.tryComplete(body));
    return collected.future();
  }

  private static Client read(String address, Buffer body) {
    JsonObject document;
    try {
      document = new JsonObject(body);
    } catch (DecodeException | ClassCastException e) {
      throw refused("its document is not a JSON object");
    }
    if (!address.equals(document.getValue("client_id"))) {
      throw refused("its document names another client_id");
    }
    return ClientMetadata.read(address, document);
  }

  Future<Void> close() {
    Future<Void> ended = http.find().map(HttpClient::close).orElseGet(Future::succeededFuture);
    return Future.join(ended, hosts.close()).mapEmpty();
  }
}
