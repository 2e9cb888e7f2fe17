package dev.bourse.delivery;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Lazy;
import dev.bourse.core.Text;
import dev.bourse.outbound.PublicHosts;
import dev.bourse.traces.Attribute;
import dev.bourse.traces.Span;
import dev.bourse.traces.Traces;
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
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Sends messages to addresses that members entered, once each; checks the address at each attempt.
 * Does not follow redirects.
 */
public final class DeliveryClient {
  /** Bytes read of an answer that is not a success; one line of it is kept. */
  private static final int MAX_ANSWER = 4_096;

  private static final int MAX_EXCERPT = 200;
  private static final int MAX_URL = 512;
  private static final String HTTPS = "https://";

  /**
   * Threads for look-ups. One is blocked by each name server that does not answer; other names are
   * cached for half a minute.
   */
  private static final int RESOLVER_THREADS = 32;

  /**
   * Concurrent attempts at failing receivers: a quarter of the threads for look-ups, so that name
   * servers that never answer do not block healthy receivers.
   */
  public static final int MOST_OF_FAILING = RESOLVER_THREADS / 4;

  /** Threads for look-ups that a member waits for; they take none from deliveries. */
  private static final int CHECK_THREADS = 4;

  /**
   * Look-ups that members wait for, one per organization; four hanging name servers block the rest
   * until their time-out.
   */
  private static final int MAX_CHECKS = 16;

  private static final long RETRY_MILLIS = 5_000;

  /** Time-out for the beginning of an answer that is not a success. */
  private static final long EXCERPT_MILLIS = 2_000;

  private static final Pattern URL =
      Pattern.compile("https?://[a-z0-9.-]+(:\\d{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?");

  /**
   * Parameters of a kind of delivery.
   *
   * @param name of the kind, used for threads and in the client's header
   * @param agent value of the header {@code user-agent}
   * @param atOnce concurrent attempts
   * @param asked further attempts that members request and wait for
   * @param attemptMillis time-out from the look-up of the host to the head of the answer
   * @param example a valid address, for errors
   */
  public record Terms(
      String name, String agent, int atOnce, int asked, long attemptMillis, String example) {
    private int all() {
      return atOnce + asked;
    }
  }

  private final Terms terms;
  private final Traces traces;
  private final PublicHosts hosts;
  private final PublicHosts checks;

  /** Organizations with a look-up in progress that a member waits for. */
  private final Set<String> checking = ConcurrentHashMap.newKeySet();

  private final Lazy<HttpClient> http;

  /**
   * @param privateHosts hosts that may have private addresses
   * @param traces records attempts and their results
   */
  public DeliveryClient(
      Vertx vertx,
      HttpClientOptions options,
      Terms terms,
      Set<String> privateHosts,
      Traces traces) {
    this(vertx, options, terms, privateHosts, traces, InetAddress::getAllByName);
  }

  DeliveryClient(
      Vertx vertx,
      HttpClientOptions options,
      Terms terms,
      Set<String> privateHosts,
      Traces traces,
      PublicHosts.Resolver resolver) {
    this.terms = terms;
    this.traces = traces;
    checks =
        new PublicHosts(
            vertx, terms.name() + " checks", CHECK_THREADS, MAX_CHECKS, privateHosts, resolver);
    hosts =
        new PublicHosts(vertx, terms.name(), RESOLVER_THREADS, terms.all(), privateHosts, resolver);
    http =
        new Lazy<>(
            () ->
                vertx.createHttpClient(
                    options
                        .setVerifyHost(true)
                        .setDecompressionSupported(false)
                        .setKeepAliveTimeout(30)
                        .setConnectTimeout((int) terms.attemptMillis()),
                    // Organizations may share a receiver; the order of attempts is decided by the
                    // caller.
                    new PoolOptions()
                        .setHttp1MaxSize(terms.all())
                        .setMaxWaitQueueSize(Math.max(1, terms.asked()))));
  }

  /** Returns a description of a valid address if this one is not valid; null if it is. */
  public @Nullable String refusal(String url) {
    if (url.length() > MAX_URL || !URL.matcher(url).matches()) {
      return "an address such as "
          + terms.example()
          + ", of at most "
          + MAX_URL
          + " characters, its host in lower case";
    }
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException e) {
      return "an address such as " + terms.example() + ", with two digits 0-9a-f after each %";
    }
    if (uri.getHost() == null) {
      return "an address with a host";
    }
    if (hosts.isPrivate(uri.getHost())) {
      return null;
    }
    if (!url.startsWith(HTTPS)) {
      return "an address that starts with https://";
    }
    return uri.getPort() < 0 || uri.getPort() == PublicHosts.HTTPS
        ? null
        : "an address without a port; https uses port 443";
  }

  /**
   * Returns why an address cannot be called now, after a look-up as for an attempt; empty if it can
   * be. Fails with {@code overloaded} while another look-up of the organization or too many of
   * other organizations are in progress. A name server that does not answer blocks only such
   * checks, and no delivery.
   */
  public Future<Optional<String>> findUnreachable(String orgId, String url) {
    if (!checking.add(orgId)) {
      return Future.failedFuture(
          ApiException.retryLater(
              ErrorCode.OVERLOADED,
              "another address check of this organization is in progress; nothing was changed",
              RETRY_MILLIS));
    }
    return checks
        .resolve(URI.create(url))
        // When the thread is free, not when the caller stops waiting.
        .onComplete(done -> checking.remove(orgId))
        .timeout(terms.attemptMillis(), TimeUnit.MILLISECONDS)
        .map(found -> Optional.<String>empty())
        .recover(
            fault ->
                isBusy(fault)
                    ? Future.failedFuture(
                        ApiException.retryLater(
                            ErrorCode.OVERLOADED,
                            "too many address checks are in progress; nothing was changed",
                            RETRY_MILLIS))
                    : Future.succeededFuture(Optional.of(shown(fault))));
  }

  private static boolean isBusy(Throwable fault) {
    return fault instanceof PublicHosts.HostRejectedException refused && refused.isBusy();
  }

  /**
   * An HTTP request.
   *
   * @param url with its query, if any
   * @param headers beside {@code user-agent}
   */
  public record Message(HttpMethod method, String url, Map<String, String> headers, Buffer body) {
    public Message {
      headers = Map.copyOf(headers);
    }

    /**
     * Returns a POST request with the signature of the Standard Webhooks specification.
     *
     * @param id the same at each attempt
     */
    public static Message signed(
        String url, String contentType, String id, long nowMillis, List<byte[]> keys, Buffer body) {
      long seconds = TimeUnit.MILLISECONDS.toSeconds(nowMillis);
      return new Message(
          HttpMethod.POST,
          url,
          Map.of(
              "content-type",
              contentType,
              "webhook-id",
              id,
              "webhook-timestamp",
              String.valueOf(seconds),
              "webhook-signature",
              Signature.of(keys, id, seconds, body.getBytes())),
          body);
    }
  }

  /** Sends a message. Never fails: errors are in the attempt. */
  public Future<Attempt> send(Message message) {
    Span span = traces.sampled(terms.name(), Span.Kind.CLIENT);
    return attempt(message).onSuccess(attempt -> recordOn(span, message, attempt));
  }

  /** Records neither the address nor the answer, which are private to the receiver. */
  private static void recordOn(Span span, Message message, Attempt attempt) {
    span.setAttribute(Attribute.METHOD, message.method().name());
    Integer status = attempt.status();
    if (status != null) {
      span.setAttribute(Attribute.STATUS, status);
    }
    if (attempt.isDelivered()) {
      span.end();
    } else if (attempt.isSkipped()) {
      span.fail("not made");
    } else {
      span.fail(status == null ? "no answer" : status.toString());
    }
  }

  private Future<Attempt> attempt(Message message) {
    long begin = System.nanoTime();
    return hosts
        .resolve(URI.create(message.url()))
        .timeout(terms.attemptMillis(), TimeUnit.MILLISECONDS)
        .compose(server -> send(server, message, begin))
        .otherwise(fault -> isBusy(fault) ? Attempt.SKIPPED : new Attempt(null, shown(fault)));
  }

  private Future<Attempt> send(SocketAddress server, Message message, long begin) {
    URI uri = URI.create(message.url());
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    RequestOptions request =
        new RequestOptions()
            .setMethod(message.method())
            .setServer(server)
            .setSsl(message.url().startsWith(HTTPS))
            .setHost(uri.getHost())
            .setPort(server.port())
            .setURI(uri.getRawQuery() == null ? path : path + '?' + uri.getRawQuery())
            .setFollowRedirects(false)
            .setIdleTimeout(terms.attemptMillis())
            .putHeader("user-agent", terms.agent());
    message.headers().forEach(request::putHeader);
    return http.get()
        .request(request)
        .timeout(remainingMillis(begin), TimeUnit.MILLISECONDS)
        .compose(
            sent ->
                sent.send(message.body())
                    .compose(response -> evaluate(sent, response))
                    .timeout(remainingMillis(begin), TimeUnit.MILLISECONDS)
                    .onFailure(fault -> sent.reset()));
  }

  private long remainingMillis(long beginNanos) {
    return Math.max(
        1, terms.attemptMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos));
  }

  /** Success is known at the head of the answer; of other answers the beginning is read. */
  private static Future<Attempt> evaluate(HttpClientRequest sent, HttpClientResponse response) {
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
    // A connection whose answer does not end cannot be reused.
    Future<Void> ended =
        read.future()
            .timeout(EXCERPT_MILLIS, TimeUnit.MILLISECONDS)
            .onFailure(late -> sent.reset())
            .otherwiseEmpty();
    return status >= 200 && status < 300
        ? Future.succeededFuture(new Attempt(status, null))
        : ended.map(
            done -> new Attempt(status, "answered with status " + status + excerpt(beginning)));
  }

  private static String excerpt(Buffer beginning) {
    String text =
        new String(beginning.getBytes(), StandardCharsets.UTF_8)
            .replaceAll("[\\p{Cc}\\s]+", " ")
            .strip();
    return text.isEmpty() ? "" : ": " + Text.plain(shorten(text));
  }

  private static String shorten(String text) {
    return text.length() <= MAX_EXCERPT ? text : text.substring(0, MAX_EXCERPT) + "…";
  }

  /**
   * Describes a fault for members, without details of this machine, which an exception's message
   * may contain.
   */
  private String shown(Throwable fault) {
    if (fault instanceof PublicHosts.HostRejectedException) {
      return String.valueOf(fault.getMessage());
    }
    if (fault instanceof TimeoutException) {
      return "no answer within %d seconds"
          .formatted(TimeUnit.MILLISECONDS.toSeconds(terms.attemptMillis()));
    }
    return fault instanceof SSLException
        ? "its TLS certificate is not trusted"
        : "no connection, or it closed before an answer";
  }

  public Future<Void> close() {
    Future<Void> ended = http.find().map(HttpClient::close).orElseGet(Future::succeededFuture);
    return Future.join(ended, hosts.close(), checks.close()).mapEmpty();
  }
}
