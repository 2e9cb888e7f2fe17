package dev.bourse.delivery;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Once;
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
 * Sends something once to an address that members named, which is checked at each attempt.
 * Redirects are not followed.
 */
public final class DeliveryClient {
  /** Of an answer that is not wanted so much is read, and no more than a line of it kept. */
  private static final int MAX_ANSWER = 4_096;

  private static final int MAX_EXCERPT = 200;
  private static final int MAX_URL = 512;
  private static final String HTTPS = "https://";

  /** Each is held by a name server that does not answer; others are known for half a minute. */
  static final int RESOLVER_THREADS = 32;

  /** For members who name an address and wait; none of those that deliveries need. */
  private static final int CHECK_THREADS = 4;

  /** Members who wait so, of an organization each: those behind four that hang wait in vain. */
  private static final int MAX_CHECKS = 16;

  private static final long RETRY_MILLIS = 5_000;

  /** For the beginning of an answer that is not wanted. */
  private static final long EXCERPT_MILLIS = 2_000;

  private static final Pattern URL =
      Pattern.compile("https?://[a-z0-9.-]+(:\\d{1,5})?(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?");

  /**
   * What is sent, and how much of it at once.
   *
   * @param name of what is sent: its threads are called so, and its client in headers
   * @param agent what the header {@code user-agent} says
   * @param atOnce attempts at once
   * @param asked attempts beside these that members ask for and wait for
   * @param attemptMillis from the look-up of the host to the head of the answer
   * @param example an address as it should be, for refusals
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

  /** Organizations of which an address is being looked up for a member. */
  private final Set<String> checking = ConcurrentHashMap.newKeySet();

  private final Once<HttpClient> http;

  /**
   * @param privateHosts those that are called although their addresses are not public
   * @param traces where attempts are told to: that there was one, and what came of it
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
        new Once<>(
            () ->
                vertx.createHttpClient(
                    options
                        .setVerifyHost(true)
                        .setDecompressionSupported(false)
                        .setKeepAliveTimeout(30)
                        .setConnectTimeout((int) terms.attemptMillis()),
                    // Organizations may have the same receiver; who waits for whom is decided
                    // before.
                    new PoolOptions()
                        .setHttp1MaxSize(terms.all())
                        .setMaxWaitQueueSize(Math.max(1, terms.asked()))));
  }

  /** What is wrong with an address, as what would do; null for nothing. */
  public @Nullable String refusal(String url) {
    if (url.length() > MAX_URL || !URL.matcher(url).matches()) {
      return "an address such as "
          + terms.example()
          + ", of at most "
          + MAX_URL
          + " characters, its host in small letters";
    }
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException e) {
      return "an address such as " + terms.example() + ", with two digits 0-9a-f behind each %";
    }
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

  /**
   * Why an address that an organization names cannot be called now, looked up as at an attempt;
   * empty when it can be. Fails with {@code overloaded} while another of the organization is looked
   * up, or as many of others as may be: a name server that does not answer holds up those who named
   * it, and no delivery.
   */
  public Future<Optional<String>> unreachable(String orgId, String url) {
    if (!checking.add(orgId)) {
      return Future.failedFuture(
          ApiError.retryLater(
              ErrorCode.OVERLOADED,
              "another address of the organization is being looked up; nothing was changed",
              RETRY_MILLIS));
    }
    return checks
        .resolve(URI.create(url))
        // Not when nobody waits any more, but when the thread is free.
        .onComplete(done -> checking.remove(orgId))
        .timeout(terms.attemptMillis(), TimeUnit.MILLISECONDS)
        .map(found -> Optional.<String>empty())
        .recover(
            fault ->
                isBusy(fault)
                    ? Future.failedFuture(
                        ApiError.retryLater(
                            ErrorCode.OVERLOADED,
                            "as many addresses are being looked up as may; nothing was changed",
                            RETRY_MILLIS))
                    : Future.succeededFuture(Optional.of(shown(fault))));
  }

  private static boolean isBusy(Throwable fault) {
    return fault instanceof PublicHosts.Refused refused && refused.isBusy();
  }

  /**
   * What is sent.
   *
   * @param url with its query, if any
   * @param headers beside {@code user-agent}
   */
  public record Message(HttpMethod method, String url, Map<String, String> headers, Buffer body) {
    public Message {
      headers = Map.copyOf(headers);
    }
  }

  /** Sends it. Never fails: what went wrong is in the attempt. */
  public Future<Attempt> send(Message message) {
    Span span = traces.sampled(terms.name(), Span.Kind.CLIENT);
    return attempt(message).onSuccess(attempt -> tell(span, message, attempt));
  }

  /** Neither where it went nor what was answered: both are the receiver's own. */
  private static void tell(Span span, Message message, Attempt attempt) {
    span.tell(Attribute.METHOD, message.method().name());
    Integer status = attempt.status();
    if (status != null) {
      span.tell(Attribute.STATUS, status);
    }
    if (attempt.isDelivered()) {
      span.end();
    } else if (attempt.isNotMade()) {
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
        .otherwise(fault -> isBusy(fault) ? Attempt.NOT_MADE : new Attempt(null, shown(fault)));
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
        .timeout(left(begin), TimeUnit.MILLISECONDS)
        .compose(
            sent ->
                sent.send(message.body())
                    .compose(response -> judged(sent, response))
                    .timeout(left(begin), TimeUnit.MILLISECONDS)
                    .onFailure(fault -> sent.reset()));
  }

  private long left(long beginNanos) {
    return Math.max(
        1, terms.attemptMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos));
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
            .replaceAll("[\\p{Cc}\\s]+", " ")
            .strip();
    return text.isEmpty() ? "" : ": " + Text.plain(shortened(text));
  }

  private static String shortened(String text) {
    return text.length() <= MAX_EXCERPT ? text : text.substring(0, MAX_EXCERPT) + "…";
  }

  /** In words for members: nothing of this machine, which a platform's message may show. */
  private String shown(Throwable fault) {
    if (fault instanceof PublicHosts.Refused) {
      return String.valueOf(fault.getMessage());
    }
    if (fault instanceof TimeoutException) {
      return "no answer within %d seconds"
          .formatted(TimeUnit.MILLISECONDS.toSeconds(terms.attemptMillis()));
    }
    return fault instanceof SSLException
        ? "its TLS is not to be trusted"
        : "no connection, or it ended before an answer";
  }

  public Future<Void> close() {
    Future<Void> ended = http.find().map(HttpClient::close).orElseGet(Future::succeededFuture);
    return Future.join(ended, hosts.close(), checks.close()).mapEmpty();
  }
}
