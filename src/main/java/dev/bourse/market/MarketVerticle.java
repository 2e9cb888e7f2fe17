package dev.bourse.market;

import dev.bourse.capacity.Cluster;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The market of one pool: takes the pool's lease, then clears once a tick for as long as it holds
 * it. A tick that fails is logged and the next one starts afresh; nothing it left half-done
 * matters, for every tick decides from what is stored.
 */
final class MarketVerticle extends VerticleBase {
  /**
   * Within this all that a tick goes by is read, by far; where nothing more is heard of a reading
   * the tick fails. Else the market would stand for as long as its lease is renewed.
   */
  private static final long MOST_READING_MINUTES = 5;

  private static final Logger LOG = LoggerFactory.getLogger(MarketVerticle.class);

  /** A lease is renewed, or asked for again, this many times within its length. */
  private static final int RENEWALS_PER_LEASE = 3;

  /** A renewal that failed is tried again this many times before the next would be due. */
  private static final int RETRIES = 10;

  /** A tick takes milliseconds; one that waits for a store that is away is not waited for. */
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

  /** Those of the last tick, while the lease is held. */
  private volatile @Nullable Collection<Node> nodesSeen;

  private boolean stopped;
  private boolean isLooking;
  private long lookedNanos;

  /** By the monotonic clock; what was last heard of the lease holds for its length from then. */
  private long leaseSince;

  private boolean renewalFails;
  private Future<Void> ticking = Future.succeededFuture();

  /** Whether operators changed nodes since the inventory was read; set from any thread. */
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
    // A tick under way ends first: what it decided is about to be stored, and the store to be
    // closed.
    return ticking
        .timeout(LAST_TICK_MILLIS, TimeUnit.MILLISECONDS)
        .otherwiseEmpty()
        .compose(ended -> giveUp());
  }

  private Future<?> giveUp() {
    Lease held = lease;
    if (held != null) {
      LOG.info(
          "pool {}: {} gives up lease {}, as it stops", pool, ThisProcess.name(), held.epoch());
    }
    drop();
    return held == null || !env.leases().leasesExpire()
        ? Future.succeededFuture()
        : env.leases().release(held).otherwiseEmpty();
  }

  /** Tries to get the lease; tries again later when somebody else has it. */
  private void seek() {
    if (stopped) {
      return;
    }
    long asked = env.nanoTime().getAsLong();
    env.leases()
        .acquire(pool, processId, env.config().leaseMillis())
        .onComplete(
            got -> {
              Optional<Lease> won = got.succeeded() ? got.result() : Optional.empty();
              if (got.failed()) {
                LOG.warn(
                    "pool {}: the lease could not be asked for: {}", pool, got.cause().toString());
              }
              won.ifPresentOrElse(
                  held -> hold(held, asked),
                  () -> {
                    observe();
                    later(this::seek, retryMillis());
                  });
            });
  }

  private TickRunner tickRunner() {
    return Objects.requireNonNull(tickRunner, "not started");
  }

  /** Publishes prices while another process holds the lease: those that it tells. */
  private void observe() {
    env.leases()
        .readQuote(pool)
        .onSuccess(told -> told.ifPresentOrElse(this::show, this::compute))
        .onFailure(e -> LOG.warn("pool {}: prices could not be read: {}", pool, e.toString()));
  }

  private void show(Quote told) {
    // Meanwhile this process may have become the holder and know a newer one.
    if (lease == null && !env.clusters().findQuote(pool).filter(told::equals).isPresent()) {
      env.clusters().put(pool, told);
    }
  }

  /** Publishes what comes of a tick, as often as one would be: the holder tells nothing yet. */
  private void compute() {
    long nanos = env.nanoTime().getAsLong();
    // By the monotonic clock: one set back must not keep prices from being shown.
    if (isLooking && millisSince(lookedNanos) < env.config().tickMillis()) {
      return;
    }
    isLooking = true;
    lookedNanos = nanos;
    tickRunner()
        .observe(now())
        .onFailure(
            e ->
                LOG.warn(
                    "pool {}: prices could not be computed without the lease: {}",
                    pool,
                    e.toString()));
  }

  /** What the next tick would bring a cluster, were it as given. Called on any thread. */
  Future<TickPreview> preview(Cluster changed) {
    Promise<TickPreview> made = Promise.promise();
    // By way of a future: a fault on the way must still be an answer.
    context.runOnContext(
        go -> Future.succeededFuture(changed).compose(this::previewHere).onComplete(made));
    return made.future();
  }

  private Future<TickPreview> previewHere(Cluster changed) {
    long now = now();
    return tickRunner().preview(changed, Optional.ofNullable(fleet).map(f -> f.snapshot(now)), now);
  }

  /** Returns how many machines have each health; empty without the lease. Called on any thread. */
  Optional<Map<Health.State, Integer>> health() {
    return Optional.ofNullable(fleet).map(Fleet::health);
  }

  /** How many machines answered when last tried; empty without the lease. Called on any thread. */
  Optional<Reachability.Counts> reach() {
    return Optional.ofNullable(fleet).map(Fleet::reach);
  }

  /** The epoch of the lease; empty without it. On any thread. */
  OptionalLong epoch() {
    Lease held = lease;
    return held == null ? OptionalLong.empty() : OptionalLong.of(held.epoch());
  }

  /** The nodes as the last tick saw them; empty without the lease. On any thread. */
  Optional<Collection<Node>> nodesSeen() {
    return Optional.ofNullable(nodesSeen);
  }

  /** Has the nodes read anew before the next tick. */
  void nodesChanged() {
    nodesChanged.set(true);
    TickRunner runner = tickRunner;
    if (runner != null) {
      runner.forgetNodes();
    }
  }

  /**
   * @param asked when it was asked for, by the monotonic clock
   */
  private void hold(Lease won, long asked) {
    if (stopped) {
      return;
    }
    lease = won;
    leaseSince = asked;
    LOG.info(
        "pool {}: {} runs the market from now on, by lease {}",
        pool,
        ThisProcess.name(),
        won.epoch());
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
        // An answer that does not come is none. After a pause of the whole process, once more.
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
   * The store may be away while the lease stands: nobody else can have it before it expires. It is
   * given up when somebody has it, or when nothing was heard of it for its whole length.
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
          "pool {}: the lease could not be renewed; trying for another {} ms: {}",
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
   * @param dueNanos when it should have begun, by the monotonic clock
   */
  private void tick(Lease held, Fleet machines, Settlement settlement, long dueNanos) {
    if (stopped || !held.equals(lease)) {
      return;
    }
    long now = now();
    long begun = env.nanoTime().getAsLong();
    Lapses lapses = new Lapses(vertx, env, held);
    ticking =
        // On this context, on which its time is up as well.
        ((ContextInternal) context)
            .<Void>succeededFuture()
            .compose(go -> followNodes(machines))
            .compose(read -> lapses.atEnd())
            .compose(ended -> tickRunner().allowance(now))
            .compose(allowance -> lapses.spent(allowance.budgets()).map(allowance))
            .timeout(MOST_READING_MINUTES, TimeUnit.MINUTES)
            .compose(allowance -> clear(machines, settlement, allowance));
    ticking.onComplete(
        done -> {
          signals.ticked(
              pool, env.nanoTime().getAsLong() - begun, Math.max(0, begun - dueNanos), done);
          if (done.failed() && done.cause() instanceof Lease.LeaseLostException) {
            lose(held, "tick", done.cause());
          } else {
            if (done.failed()) {
              // Whether the nodes were read is not known.
              nodesChanged.set(true);
              LOG.warn("pool {}: a tick failed", pool, done.cause());
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
   * Reads all bids at this moment, the gate, decides and carries out. Later writes count at the
   * next tick. Slow reads are done before the gate, so the prices are stored within moments of it.
   */
  private Future<Void> clear(Fleet machines, Settlement settlement, Allowance allowance) {
    long gate = now();
    return tickRunner()
        .decide(allowance, seen(machines, gate), gate)
        .compose(outcome -> settlement.carryOut(outcome, gate));
  }

  private Tick.Nodes seen(Fleet machines, long now) {
    Tick.Nodes nodes = machines.snapshot(now);
    nodesSeen = nodes.nodes();
    return nodes;
  }

  /** Reads the nodes anew if they changed; a reading that fails or falls short is done again. */
  private Future<Void> followNodes(Fleet machines) {
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
