package dev.bourse.webhooks;

import dev.bourse.core.Once;
import dev.bourse.core.Text;
import dev.bourse.outbound.PublicHosts;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Sends an event to an endpoint once. Its address is checked at each attempt. */
final class WebhookClient {
  /** From the look-up of the host to the head of the answer. */
  static final long ATTEMPT_MILLIS = 15_000;

  /** Of an answer that is not wanted so much is read, and no more than a line of it kept. */
  private static final int MAX_ANSWER = 4_096;

  private static final int MAX_EXCERPT = 200;
  private static final int MAX_URL = 512;
  private static final String HTTPS = "https://";

  /** Attempts at once, of all endpoints: with 30 KB each for TLS, some MB. */
  static final int MAX_AT_ONCE = 256;

  /** Attempts beside these that members ask for and wait for. */
  static final int MAX_ASKED = 16;

  /** Each is held by a name server that does not answer; others are known for half a minute. */
  private static final int RESOLVER_THREADS = 32;

  /** For the beginning of an answer that is not wanted. */
  private static final long EXCERPT_MILLIS = 2_000;

  private static final Pattern URL =
      Pattern.compile("https?://[a-z0-9.-]+(:\\d{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?");

  private final PublicHosts hosts;
  private final Once<HttpClient> http;

  WebhookClient(Vertx vertx, HttpClientOptions options, WebhookConfig config) {
    this(vertx, options, config, InetAddress::getAllByName);
  }

  WebhookClient(
      Vertx vertx, HttpClientOptions options, WebhookConfig config, PublicHosts.Resolver resolver) {
    hosts =
        new PublicHosts(
            vertx,
            "webhooks",
            RESOLVER_THREADS,
            MAX_AT_ONCE + MAX_ASKED,
            config.privateHosts(),
            resolver);
    http =
        new Once<>(
            () ->
                vertx.createHttpClient(
                    options
                        .setVerifyHost(true)
                        .setDecompressionSupported(false)
                        .setKeepAliveTimeout(30)
                        .setConnectTimeout((int) ATTEMPT_MILLIS),
                    // Organizations may have the same receiver; who waits for whom is decided
                    // before.
                    new PoolOptions()
                        .setHttp1MaxSize(MAX_AT_ONCE + MAX_ASKED)
                        .setMaxWaitQueueSize(MAX_ASKED)));
  }

  /** What is wrong with an address, as what would do; null for nothing. */
  @Nullable String refusal(String url) {
    if (url.length() > MAX_URL || !URL.matcher(url).matches()) {
      return "an address such as https://hooks.example.com/bourse, of at most "
          + MAX_URL
          + " characters, its host in small letters";
    }
    URI uri = URI.create(url);
    if (uri.getHost() == null) {
      return "an address that names a host";
    }
    if (hosts.isPrivate(uri.getHost())) {
      return null;
    }
    if (!url.startsWith(HTTPS)) {
      return "an address that begins with https://";
    }
    return uri.getPort() < 0 || uri.getPort() == PublicHosts.HTTPS
        ? null
        : "an address without a port: https is at 443";
  }

  /** Why an address cannot be called now, looked up as at an attempt; empty when it can be. */
  Future<Optional<String>> unreachable(String url) {
    return hosts
        .resolve(URI.create(url))
        .timeout(ATTEMPT_MILLIS, TimeUnit.MILLISECONDS)
        .map(found -> Optional.<String>empty())
        .otherwise(fault -> Optional.of(shown(fault)));
  }

  /**
   * What is sent.
   *
   * @param signature of the very timestamp
   */
  record Message(String id, long timestampSeconds, String signature, String body) {}

  /** Sends it. Never fails: what went wrong is in the attempt. */
  Future<Attempt> send(String url, Message message) {
    long begin = System.nanoTime();
    return hosts
        .resolve(URI.create(url))
        .timeout(ATTEMPT_MILLIS, TimeUnit.MILLISECONDS)
        .compose(server -> post(url, server, message, begin))
        .otherwise(fault -> new Attempt(null, shown(fault)));
  }

  private Future<Attempt> post(String url, SocketAddress server, Message message, long begin) {
    URI uri = URI.create(url);
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    RequestOptions request =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setServer(server)
            .setSsl(url.startsWith(HTTPS))
            .setHost(uri.getHost())
            .setPort(server.port())
            .setURI(uri.getRawQuery() == null ? path : path + '?' + uri.getRawQuery())
            .setFollowRedirects(false)
            .setIdleTimeout(ATTEMPT_MILLIS)
            .putHeader("content-type", "application/json")
            .putHeader("user-agent", "Bourse-Webhooks/1")
            .putHeader("webhook-id", message.id())
            .putHeader("webhook-timestamp", String.valueOf(message.timestampSeconds()))
            .putHeader("webhook-signature", message.signature());
    return http.get()
        .request(request)
        .timeout(left(begin), TimeUnit.MILLISECONDS)
        .compose(
            sent ->
                sent.send(Buffer.buffer(message.body()))
                    .compose(response -> judged(sent, response))
                    .timeout(left(begin), TimeUnit.MILLISECONDS)
                    .onFailure(fault -> sent.reset()));
  }

  private static long left(long beginNanos) {
    return Math.max(
        1, ATTEMPT_MILLIS - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos));
  }

  /** Success shows at the head of the answer; of any other the beginning is read. */
  private static Future<Attempt> judged(HttpClientRequest sent, HttpClientResponse response) {
    int status = response.statusCode();
    Promise<Void> read = Promise.promise();
    Buffer beginning = Buffer.buffer();
    response.exceptionHandler(fault -> read.tryComplete());
    response.endHandler(end -> read.tryComplete());
    response.handler(
        piece -> {
          if (beginning.length() + piece.length() > MAX_ANSWER) {
            beginning.appendBuffer(piece, 0, MAX_ANSWER - beginning.length());
            sent.reset();
            read.tryComplete();
          } else {
            beginning.appendBuffer(piece);
          }
        });
    // A connection whose answer does not end is of no further use.
    Future<Void> ended =
        read.future()
            .timeout(EXCERPT_MILLIS, TimeUnit.MILLISECONDS)
            .onFailure(late -> sent.reset())
            .otherwiseEmpty();
    return status >= 200 && status < 300
        ? Future.succeededFuture(new Attempt(status, null))
        : ended.map(
            done -> new Attempt(status, "answered with status " + status + said(beginning)));
  }

  private static String said(Buffer beginning) {
    String text =
        new String(beginning.getBytes(), StandardCharsets.UTF_8)
            .replaceAll("[\\p{Cntrl}\\s]+", " ")
            .strip();
    return text.isEmpty() ? "" : ": " + Text.plain(shortened(text));
  }

  private static String shortened(String text) {
    return text.length() <= MAX_EXCERPT ? text : text.substring(0, MAX_EXCERPT) + "…";
  }

  /** In words for members: nothing of this machine, which a platform's message may show. */
  private static String shown(Throwable fault) {
    if (fault instanceof PublicHosts.Refused) {
      return String.valueOf(fault.getMessage());
    }
    if (fault instanceof TimeoutException) {
      return "no answer within 15 seconds";
    }
    if (fault instanceof UnknownHostException) {
      return "its host is not known";
    }
    return fault instanceof SSLException
        ? "its TLS is not to be trusted"
        : "no connection, or it ended before an answer";
  }

  Future<Void> close() {
    Future<Void> ended = http.find().map(HttpClient::close).orElseGet(Future::succeededFuture);
    return Future.join(ended, hosts.close()).mapEmpty();
  }
}
