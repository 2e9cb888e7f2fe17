package dev.bourse.market;

import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Outlook;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ThisProcess;
import dev.bourse.nodes.Health;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.pools.Quote;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.internal.ContextInternal;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the market of one pool: acquires the pool's lease, then clears once a tick while it holds
 * the lease. A failed tick is logged and the next one starts afresh. A half-finished tick does no
 * harm, because every tick decides from stored state.
 */
final class MarketVerticle extends VerticleBase {
  /**
   * Limit for reading the input of a tick, far above its usual time. A tick whose reads do not end
   * fails; otherwise the market would stop for as long as its lease is renewed.
   */
  private static final long MOST_READING_MINUTES = 5;

  private static final Logger LOG = LoggerFactory.getLogger(MarketVerticle.class);

  /** Renewals of a lease, or attempts to acquire it, within its length. */
  private static final int RENEWALS_PER_LEASE = 3;

  /** Retries of a failed renewal before the next renewal is due. */
  private static final int RETRIES = 10;

  /**
   * The longest wait for the last tick on shutdown. A tick takes milliseconds; a longer one waits
   * for a store that is away.
   */
  private static final long LAST_TICK_MILLIS = 5_000;

  private final String pool;
  private final NodeProvider provider;
  private final String processId;
  private final MarketEnvironment env;
  private final NoticeTurns turns;
  private final MarketSignals signals;
  private volatile @Nullable TickRunner tickRunner;
  private volatile @Nullable Lease lease;
  private volatile @Nullable Fleet fleet;

  /** The nodes of the last tick, while the lease is held. */
  private volatile @Nullable Collection<Node> nodesSeen;

  private boolean stopped;
  private boolean hasComputed;
  private long computedNanos;

  /**
   * When the last successful acquisition or renewal was sent, by the monotonic clock; the lease
   * lasts its length from then.
   */
  private long leaseSince;

  private boolean renewalFails;
  private Future<Void> ticking = Future.succeededFuture();

  /** The last request of the lease, with its release if it was won during the stop. */
  private Future<Void> seeking = Future.succeededFuture();

  /** True if operators changed nodes since the inventory was read; set from any thread. */
  private final AtomicBoolean nodesChanged = new AtomicBoolean();

  MarketVerticle(
      String pool,
      NodeProvider provider,
      String processId,
      MarketEnvironment env,
      NoticeTurns turns,
      MarketSignals signals) {
    this.turns = turns;
    this.signals = signals;
    this.pool = pool;
    this.provider = provider;
    this.processId = processId;
    this.env = env;
  }

  @Override
  public Future<?> start() {
    tickRunner = new TickRunner(vertx, pool, env);
    seek();
    return Future.succeededFuture();
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    // A running tick ends first, because it must store its decisions before the store closes.
    return Future.join(ticking, seeking)
        .timeout(LAST_TICK_MILLIS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty()
        .compose(ended -> giveUp());
  }

  private Future<?> giveUp() {
    Lease held = lease;
    if (held != null) {
      LOG.info("pool {}: {} releases lease {} on shutdown", pool, ThisProcess.name(), held.epoch());
    }
    drop();
    return held == null || !env.leases().leasesExpire()
        ? Future.succeededFuture()
        : env.leases().release(held).otherwiseEmpty();
  }

  /** Tries to acquire the lease; tries again later if another process has it. */
  private void seek() {
    if (stopped) {
      return;
    }
    long asked = env.nanoTime().getAsLong();
    Future<Optional<Lease>> asking =
        env.leases().acquire(pool, processId, env.config().leaseMillis());
    seeking =
        asking.transform(
            got -> got.succeeded() ? releaseIfStopped(got.result()) : Future.succeededFuture());
    asking.onComplete(
        got -> {
          Optional<Lease> won = got.succeeded() ? got.result() : Optional.empty();
          if (got.failed()) {
            LOG.warn("pool {}: could not acquire the lease: {}", pool, got.cause().toString());
          }
          won.ifPresentOrElse(
              held -> hold(held, asked),
              () -> {
                observe();
                later(this::seek, retryMillis());
              });
        });
  }

  /**
   * Releases a lease that was won during the stop. Else the pool has no market until it expires.
   */
  private Future<Void> releaseIfStopped(Optional<Lease> won) {
    return stopped && won.isPresent() && env.leases().leasesExpire()
        ? env.leases().release(won.get()).otherwiseEmpty()
        : Future.succeededFuture();
  }

  private TickRunner tickRunner() {
    return Objects.requireNonNull(tickRunner, "not started");
  }

  /** Publishes the prices of the process that holds the lease. */
  private void observe() {
    env.leases()
        .readQuote(pool)
        .onSuccess(quote -> quote.ifPresentOrElse(this::publish, this::compute))
        .onFailure(e -> LOG.warn("pool {}: could not read prices: {}", pool, e.toString()));
  }

  private void publish(Quote quote) {
    // This process may have become the holder and know a newer quote by now.
    if (lease == null && !env.clusters().findQuote(pool).filter(quote::equals).isPresent()) {
      env.clusters().put(pool, quote);
    }
  }

  /** Computes and publishes prices once a tick, because the holder has stored no quote yet. */
  private void compute() {
    long nanos = env.nanoTime().getAsLong();
    // The monotonic clock, because a clock set back must not stop the publication of prices.
    if (hasComputed && millisSince(computedNanos) < env.config().tickMillis()) {
      return;
    }
    hasComputed = true;
    computedNanos = nanos;
    tickRunner()
        .observe(now())
        .onFailure(
            e ->
                LOG.warn(
                    "pool {}: could not compute prices without the lease: {}", pool, e.toString()));
  }

  /** Previews the next tick for a cluster in a changed state. Called on any thread. */
  Future<TickPreview> preview(Cluster changed) {
    return onContext(now -> tickRunner().preview(changed, knownNodes(now), now));
  }

  /** Computes a cluster's outlook. Called on any thread. */
  Future<Outlook> outlook(Cluster cluster) {
    return onContext(now -> tickRunner().outlook(cluster, knownNodes(now), now));
  }

  private <T> Future<T> onContext(LongFunction<Future<T>> work) {
    Promise<T> made = Promise.promise();
    // An exception in the call must complete the promise too, so the call starts from a future.
    context.runOnContext(
        go -> Future.succeededFuture().compose(begun -> work.apply(now())).onComplete(made));
    return made.future();
  }

  private Optional<Tick.Nodes> knownNodes(long nowMillis) {
    // Before the first tick under the lease, the fleet may not have read its nodes yet.
    return nodesSeen == null
        ? Optional.empty()
        : Optional.ofNullable(fleet).map(f -> f.snapshot(nowMillis));
  }

  /** Returns how many machines have each health; empty without the lease. Called on any thread. */
  Optional<Map<Health.State, Integer>> health() {
    return Optional.ofNullable(fleet).map(Fleet::health);
  }

  /**
   * Returns how many machines answered the last probe; empty without the lease. Called on any
   * thread.
   */
  Optional<Reachability.Counts> reach() {
    return Optional.ofNullable(fleet).map(Fleet::reach);
  }

  /** Returns the epoch of the lease; empty without the lease. Called on any thread. */
  OptionalLong epoch() {
    Lease held = lease;
    return held == null ? OptionalLong.empty() : OptionalLong.of(held.epoch());
  }

  /** Returns the nodes that the last tick read; empty without the lease. Called on any thread. */
  Optional<Collection<Node>> nodesSeen() {
    return Optional.ofNullable(nodesSeen);
  }

  /** Makes the next tick read the nodes again. */
  void nodesChanged() {
    nodesChanged.set(true);
    TickRunner runner = tickRunner;
    if (runner != null) {
      runner.forgetNodes();
    }
  }

  /**
   * @param asked when the lease was requested, by the monotonic clock
   */
  private void hold(Lease won, long asked) {
    if (stopped) {
      return;
    }
    lease = won;
    leaseSince = asked;
    LOG.info(
        "pool {}: {} acquired lease {} and runs the market", pool, ThisProcess.name(), won.epoch());
    Fleet machines = new Fleet(vertx, env, won, provider, turns, signals);
    fleet = machines;
    if (env.leases().leasesExpire()) {
      later(() -> renew(won), retryMillis());
    }
    Settlement settlement = new Settlement(env, tickRunner(), won, machines);
    machines
        .start()
        .onSuccess(started -> tick(won, machines, settlement, env.nanoTime().getAsLong()))
        .onFailure(e -> lose(won, "start", e));
  }

  private void renew(Lease held) {
    if (!held.equals(lease)) {
      return;
    }
    long leftMillis = env.config().leaseMillis() - millisSince(leaseSince);
    long asked = env.nanoTime().getAsLong();
    env.leases()
        .renew(held, env.config().leaseMillis(), env.clusters().findQuote(pool))
        // A missing answer counts as a failure. After a pause of the whole process, one more
        // attempt runs.
        .timeout(Math.max(leftMillis, retryMillis()), TimeUnit.MILLISECONDS)
        .onSuccess(
            renewed -> {
              leaseSince = asked;
              renewalFails = false;
              later(() -> renew(held), retryMillis());
            })
        .onFailure(e -> renewalFailed(held, e));
  }

  /**
   * Retries a failed renewal. The store may be away while the lease lasts, because no other process
   * can acquire it before it expires. The lease is given up if another process has it, or if no
   * renewal succeeded for its whole length.
   */
  private void renewalFailed(Lease held, Throwable cause) {
    long leftMillis = env.config().leaseMillis() - millisSince(leaseSince);
    if (cause instanceof Lease.LeaseLostException || leftMillis <= 0) {
      lose(held, "renewal", cause);
      return;
    }
    if (!renewalFails && held.equals(lease)) {
      renewalFails = true;
      LOG.warn(
          "pool {}: could not renew the lease; retrying for another {} ms: {}",
          pool,
          leftMillis,
          cause.toString());
    }
    later(() -> renew(held), Math.min(leftMillis, Math.max(1, retryMillis() / RETRIES)));
  }

  private long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(env.nanoTime().getAsLong() - nanos);
  }

  private void lose(Lease held, String during, Throwable cause) {
    if (held.equals(lease)) {
      LOG.warn(
          "pool {}: {} gives up lease {} ({}): {}",
          pool,
          ThisProcess.name(),
          held.epoch(),
          during,
          cause.toString());
      drop();
      later(this::seek, retryMillis());
    }
  }

  private void drop() {
    Fleet held = fleet;
    if (held != null) {
      held.stop();
    }
    fleet = null;
    lease = null;
    nodesSeen = null;
    renewalFails = false;
  }

  /**
   * @param dueNanos when the tick was due, by the monotonic clock
   */
  private void tick(Lease held, Fleet machines, Settlement settlement, long dueNanos) {
    if (stopped || !held.equals(lease)) {
      return;
    }
    long now = now();
    long begun = env.nanoTime().getAsLong();
    Lapses lapses = new Lapses(vertx, env, held);
    ticking =
        // On this context, where the time-out fires too.
        ((ContextInternal) context)
            .<Void>succeededFuture()
            .compose(go -> rereadNodes(machines))
            .compose(read -> lapses.endExpired())
            .compose(ended -> tickRunner().allowance(now))
            .compose(allowance -> lapses.endSpent(allowance.budgets()).map(allowance))
            .timeout(MOST_READING_MINUTES, TimeUnit.MINUTES)
            .compose(allowance -> clear(machines, settlement, allowance));
    ticking.onComplete(
        done -> {
          signals.recordTick(
              pool, env.nanoTime().getAsLong() - begun, Math.max(0, begun - dueNanos), done);
          if (done.failed() && done.cause() instanceof Lease.LeaseLostException) {
            lose(held, "tick", done.cause());
          } else {
            if (done.failed()) {
              // The tick may have failed before it read the nodes.
              nodesChanged.set(true);
              LOG.warn("pool {}: tick failed", pool, done.cause());
            }
            // A clock set back must not make the next tick late.
            long tickMillis = env.config().tickMillis();
            long pauseMillis = Math.min(tickMillis, Math.max(1, now + tickMillis - now()));
            long next = env.nanoTime().getAsLong() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
            later(() -> tick(held, machines, settlement, next), pauseMillis);
          }
        });
  }

  /**
   * Reads all bids at this moment, the gate, decides and carries the decisions out. Later writes
   * count at the next tick. Slow reads come before the gate, so the prices are stored within
   * moments of it.
   */
  private Future<Void> clear(Fleet machines, Settlement settlement, SpendingAllowance allowance) {
    long gate = now();
    return tickRunner()
        .decide(allowance, seen(machines, gate), gate)
        .compose(outcome -> settlement.carryOut(outcome, gate));
  }

  private Tick.Nodes seen(Fleet machines, long now) {
    Tick.Nodes nodes = machines.snapshot(now);
    // A tick that began under a lost lease saw another fleet.
    if (machines == fleet) {
      nodesSeen = nodes.nodes();
    }
    return nodes;
  }

  /**
   * Reads the nodes again if they changed. A failed or incomplete reading is repeated at the next
   * tick.
   */
  private Future<Void> rereadNodes(Fleet machines) {
    if (!nodesChanged.getAndSet(false)) {
      return Future.succeededFuture();
    }
    return machines
        .reread()
        .onSuccess(all -> nodesChanged.compareAndSet(false, !all))
        .onFailure(e -> nodesChanged.set(true))
        .mapEmpty();
  }

  private void later(Runnable what, long delayMillis) {
    if (!stopped) {
      vertx.setTimer(delayMillis, timer -> what.run());
    }
  }

  private long retryMillis() {
    return Math.max(1, env.config().leaseMillis() / RENEWALS_PER_LEASE);
  }

  private long now() {
    return env.now();
  }
}
