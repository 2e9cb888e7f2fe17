package dev.bourse.edge.limits;

import dev.bourse.signals.Label;
import dev.bourse.signals.Signals;
import io.github.bucket4j.BucketExceptions.BucketExecutionException;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeoutException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Token budgets shared by the processes that use one Redis server. Address budgets are not shared:
 * they are the cheap first defence against floods and must not cost an exchange with another
 * machine per rejected request.
 *
 * <p>The server is optional. If it is unreachable, slow or answers an error, a request is counted
 * in this process as if budgets were not shared, which at worst lets a token spend its budget once
 * in each process. After several failures in a row requests no longer wait for the server; a new
 * connection is attempted every {@link #RETRY_MILLIS} and used as soon as it works.
 */
public final class SharedBudgets {
  private static final Logger LOG = LoggerFactory.getLogger(SharedBudgets.class);

  /**
   * Requests of all event loops that wait for the server. At a millisecond per answer it is far
   * more than a process serves; beyond it the server is too slow to wait for.
   */
  public static final int MAX_WAITING = 1_024;

  /** One lost answer is an exception; after this many in a row waiting is useless. */
  public static final int MAX_FAILURES = 5;

  /** A server that is back is used within a second, at the cost of two attempts a second. */
  static final long RETRY_MILLIS = 500;

  /** Errors at log-in that an operator has to fix. */
  private static final Pattern NEEDS_MENDING =
      Pattern.compile("(WRONGPASS|NOAUTH|NOPERM|ERR (invalid|AUTH|DB|Client sent AUTH)).*");

  private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

  /** The longest part of a server's error in the log. */
  private static final int MAX_SHOWN = 300;

  private static final List<String> REASONS = List.of("away", "busy", "error", "slow");

  private final Vertx vertx;
  private final String server;
  private final RedisBuckets buckets;
  private final Signals.Tally fallbacks;
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private volatile RedisBuckets.@Nullable Link link;
  private volatile boolean closed;
  private String loggedReason = "";

  private SharedBudgets(Vertx vertx, String server, RedisBuckets buckets, Signals signals) {
    this.vertx = vertx;
    this.server = server;
    this.buckets = buckets;
    this.fallbacks =
        signals.tally(
            "bourse_shared_budget_fallbacks_total",
            """
            Requests counted in this process although budgets are shared: the server is `away`, was \
            `slow`, answered an `error`, or is `busy` because too many requests wait for it.\
            """,
            List.of(Label.REASON));
    REASONS.forEach(fallbacks::at);
    signals.gauge(
        "bourse_shared_budget_up",
        "1 while request budgets are shared, 0 while this process counts for itself.",
        () -> link == null ? 0 : 1);
  }

  /**
   * Makes the first connection. Succeeds after the first attempt even if it fails, so that the
   * service starts without the server.
   *
   * @param perMinute the budget of a token, over 0
   * @param clock the time of day, which should agree between the processes
   */
  public static Future<SharedBudgets> open(
      Vertx vertx, SharedBudgetConfig config, int perMinute, Clock clock, Signals signals) {
    return vertx
        .executeBlocking(
            () -> {
              RedisBuckets buckets = new RedisBuckets(config, perMinute, clock);
              SharedBudgets budgets = new SharedBudgets(vertx, config.toString(), buckets, signals);
              return budgets.attempt().map(budgets);
            })
        .compose(attempted -> attempted);
  }

  /**
   * Spends one request of a token's budget. Never fails. Completes at once without a connection,
   * otherwise on a thread of the client within the time limit.
   *
   * @param local the budgets to use if the server does not answer
   */
  public Future<@Nullable ConsumptionProbe> spend(String tokenId, RequestBudgets local) {
    RedisBuckets.Link asked = link;
    if (asked == null) {
      return Future.succeededFuture(locally(tokenId, local, "away"));
    }
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
      return Future.succeededFuture(locally(tokenId, local, "busy"));
    }
    Promise<@Nullable ConsumptionProbe> spent = Promise.promise();
    asked
        .spend(tokenId)
        .whenComplete(
            (probe, failure) -> {
              waiting.decrementAndGet();
              if (failure == null) {
                if (failures.get() != 0) {
                  failures.set(0);
                }
                spent.complete(probe);
              } else {
                String reason = failed(asked, rootOf(failure));
                spent.complete(locally(tokenId, local, reason));
              }
            });
    return spent.future();
  }

  private @Nullable ConsumptionProbe locally(String tokenId, RequestBudgets local, String reason) {
    fallbacks.add(reason);
    return local.spend(tokenId);
  }

  /** Records a failure of the server and returns the reason for the metric. */
  private String failed(RedisBuckets.Link asked, Throwable cause) {
    boolean slow = isTimeout(cause);
    if (cause instanceof BucketExecutionException && !slow) {
      // Too many processes wanted one bucket at once, which is not the server's fault.
      return "busy";
    }
    if (asked == link && failures.incrementAndGet() >= MAX_FAILURES) {
      lost(asked, cause);
    }
    return slow ? "slow" : "error";
  }

  /**
   * Attempts to connect. Completes with the end of the attempt, never fails. Not for an event loop,
   * because the first attempt loads classes, and any may look up the server's name.
   */
  private Future<Void> attempt() {
    if (closed) {
      return Future.succeededFuture();
    }
    Promise<Void> done = Promise.promise();
    buckets
        .connect()
        .whenComplete(
            (made, failure) -> {
              if (failure == null) {
                up(made);
              } else {
                down(rootOf(failure));
              }
              done.complete();
            });
    return done.future();
  }

  private synchronized void up(RedisBuckets.Link made) {
    if (closed) {
      made.close();
      return;
    }
    LOG.info("sharing request budgets through {}", server);
    loggedReason = "";
    failures.set(0);
    link = made;
    made.onLost(() -> lost(made, new IllegalStateException("the connection was closed")));
  }

  /** Stops using a connection; its pending calls end with it. */
  private synchronized void lost(RedisBuckets.Link which, Throwable cause) {
    if (link == which) {
      link = null;
      which.close();
      down(cause);
    }
  }

  private synchronized void down(Throwable cause) {
    if (closed) {
      return;
    }
    String reason =
        isTimeout(cause) ? "it does not answer in time" : String.valueOf(cause.getMessage());
    if (!reason.equals(loggedReason)) {
      loggedReason = reason;
      String shown = shown(reason);
      if (NEEDS_MENDING.matcher(reason).matches()) {
        LOG.error(
            """
            {} rejects the connection of limits.shared-url ({}); until that is fixed, each process \
            counts request budgets for itself\
            """,
            server,
            shown);
      } else {
        LOG.warn(
            """
            cannot share request budgets through {} ({}); until the connection works, each process \
            counts for itself\
            """,
            server,
            shown);
      }
    }
    vertx.setTimer(RETRY_MILLIS, again -> vertx.executeBlocking(this::attempt, false));
  }

  /** Closes the connection for good; later requests are counted in this process. */
  public Future<Void> close() {
    RedisBuckets.Link open;
    synchronized (this) {
      closed = true;
      open = link;
      link = null;
    }
    CompletableFuture<Void> closing =
        (open == null ? CompletableFuture.<Void>completedFuture(null) : open.close())
            .handle((done, failure) -> null)
            .thenCompose(done -> buckets.close());
    // A connection that is still open then ends with the process.
    return Future.fromCompletionStage(closing)
        .timeout(2 * RedisBuckets.CONNECT_MILLIS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty();
  }

  /** Returns the server's own message, for the operator. */
  private static String shown(String reason) {
    String line = CONTROL.matcher(reason).replaceAll("?");
    return line.length() <= MAX_SHOWN ? line : line.substring(0, MAX_SHOWN) + "…";
  }

  private static boolean isTimeout(Throwable cause) {
    return cause instanceof TimeoutException
        || cause instanceof java.util.concurrent.TimeoutException;
  }

  /** Returns the root cause below the wrappers of the client and the futures. */
  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null
        && (root instanceof CompletionException || RedisBuckets.isWrapping(root))) {
      root = root.getCause();
    }
    return root;
  }
}
