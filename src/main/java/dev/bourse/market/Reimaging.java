package dev.bourse.market;

import dev.bourse.nodes.Cleaning;
import dev.bourse.nodes.Examination;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.ReimageOrder;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives machines a new image after tenants that could become root, because such a tenant can leave
 * things that no search on the machine finds.
 *
 * <p>Each step is stored with the node before the next one begins ({@link Reimage}), under the
 * pool's lease. A process that takes over continues: before the operator's command has answered, it
 * starts the command again with the same id; afterwards it visits the machine with the new key. The
 * commit that frees the machine also pins its new host key. A lasting failure quarantines the
 * machine, and nothing starts again before an operator retries it. Used on one context, for as long
 * as one lease is held.
 */
final class Reimaging {
  private static final Logger LOG = LoggerFactory.getLogger(Reimaging.class);

  /**
   * The longest time between two visits to a machine that starts with its new image, which takes
   * minutes.
   */
  private static final long VISIT_MILLIS = 5_000;

  /** The least number of visits before the time-out. */
  private static final int VISITS = 100;

  private final Vertx vertx;
  private final MarketEnvironment env;
  private final Lease lease;
  private final NodeProvider provider;
  private final Inventory nodes;
  private final Lineage lineage;
  private final Listener listener;
  private final Set<String> running = new HashSet<>();
  private volatile boolean stopped;

  /** Receives the results, on the same context. */
  interface Listener {
    /** A machine has its new image and another host key. */
    void onReimaged(String nodeId);

    /** Stores that a machine may have a tenant that the database does not know. */
    Future<Void> recordLostGrant(String nodeId, String allocationId);
  }

  /** Commits the statements that free a machine. */
  interface Ending {
    Future<Void> commit(List<Statement> statements);
  }

  Reimaging(
      Vertx vertx,
      MarketEnvironment env,
      Lease lease,
      NodeProvider provider,
      Inventory nodes,
      Lineage lineage,
      Listener listener) {
    this.vertx = vertx;
    this.env = env;
    this.lease = lease;
    this.provider = provider;
    this.nodes = nodes;
    this.lineage = lineage;
    this.listener = listener;
  }

  /** Stops all reimages, including the running command of one. */
  void stop() {
    stopped = true;
  }

  /**
   * Returns the machines that are being reimaged, including those whose reimage an operator has
   * ended.
   */
  Set<String> inWork() {
    return running;
  }

  /** Returns true if a machine needs a new image after a tenant of this pool. */
  boolean isDemanded() {
    return provider.reimageTimeoutMillis().isPresent() && env.hasRootTenants(lease.pool());
  }

  /** Returns true if a machine needs a new image before it is free, or has begun one. */
  boolean isDemandedOf(String nodeId) {
    Node node = nodes.get(nodeId);
    return isDemanded() || (node != null && node.reimage() != null);
  }

  /** Returns true if a reimage of a machine after this allocation is stored and has not failed. */
  boolean isUnderWay(String nodeId, String allocationId) {
    Node node = nodes.get(nodeId);
    return node != null
        && node.reimage() != null
        && node.reimage().allocationId().equals(allocationId)
        && !node.reimage().hasFailed();
  }

  /** Gives a machine without a holder a new image. */
  Future<Void> run(String nodeId, String allocationId) {
    return run(nodeId, allocationId, statements -> env.nodes().commit(statements, lease));
  }

  /**
   * Runs a machine's reimage from its current step to its end.
   *
   * @param ending commits the given statements together with the end of the allocation
   */
  Future<Void> run(String nodeId, String allocationId, Ending ending) {
    if (!running.add(nodeId)) {
      return Future.failedFuture(NodeFailureException.busy(nodeId + " is being reimaged"));
    }
    return Future.succeededFuture()
        .compose(go -> step(nodeId, allocationId, ending))
        .onComplete(done -> running.remove(nodeId));
  }

  private Future<Void> step(String nodeId, String allocationId, Ending ending) {
    Node node = nodes.get(nodeId);
    if (node == null || stopped) {
      return Future.failedFuture(
          NodeFailureException.busy("this process no longer manages node " + nodeId));
    }
    return switch (Reimage.next(node, allocationId, env.now())) {
      case BEGIN ->
          (node.reimage() == null || node.mayBeWiped()
                  ? Future.<Void>succeededFuture()
                  : requireCertain(nodeId, node.reimage().allocationId()))
              .compose(certain -> lineage.cover(nodeId))
              .compose(covered -> unchanged(node))
              .compose(now -> nodes.note(now.needing(begun(now, allocationId))))
              .compose(stored -> step(nodeId, allocationId, ending));
      case IMAGE ->
          confirm(node)
              .compose(this::image)
              .compose(answered -> step(nodeId, allocationId, ending));
      case VISIT -> confirm(node).compose(confirmed -> visit(confirmed, ending));
      case GIVE_UP ->
          Future.failedFuture(
              NodeFailureException.unfit(
                  "%s: the reimage did not finish within %d ms"
                      .formatted(nodeId, timeoutMillis())));
      case WAIT ->
          Future.failedFuture(
              NodeFailureException.lasting(
                  nodeId + ": the reimage failed; retry the node to start it again"));
    };
  }

  /**
   * Stores the previous step again, because a failed commit may not have stored it. Fails if the
   * machine may have been reimaged and granted in commits that the database lost.
   */
  private Future<Node> confirm(Node node) {
    return requireCertain(node.nodeId(), Objects.requireNonNull(node.reimage()).allocationId())
        .compose(certain -> unchanged(node))
        .compose(now -> nodes.note(now).map(now));
  }

  private Future<Void> requireCertain(String nodeId, String allocationId) {
    return lineage
        .covers(nodeId)
        .compose(
            isCovered -> {
              if (isCovered) {
                return Future.succeededFuture();
              }
              NodeFailureException unfit =
                  NodeFailureException.unfit(
                      nodeId
                          + ": the database may have lost commits since this reimage began, as in"
                          + " a fail-over. The machine may already have its new image and a"
                          + " tenant, so nothing was wiped. Retry the node to reimage it");
              return listener
                  .recordLostGrant(nodeId, allocationId)
                  .compose(noted -> Future.failedFuture(unfit));
            });
  }

  /**
   * Returns the current state of a node; fails if its reimage has changed since the node was read.
   */
  private Future<Node> unchanged(Node node) {
    Node now = nodes.get(node.nodeId());
    return stopped || now == null || !Objects.equals(node.reimage(), now.reimage())
        ? Future.failedFuture(
            NodeFailureException.busy(node.nodeId() + ": the node changed during its reimage"))
        : Future.succeededFuture(now);
  }

  private Reimage begun(Node node, String allocationId) {
    LOG.info("pool {}: reimage of node {} started", lease.pool(), node.nodeId());
    return new Reimage(allocationId, node.retries(), env.now() + timeoutMillis(), null);
  }

  private Future<Void> image(Node node) {
    Reimage reimage = Objects.requireNonNull(node.reimage());
    return provider
        .reimage(
            node.machine(),
            new ReimageOrder(
                lease.pool(),
                reimage.allocationId(),
                reimage.id(),
                remainingMillis(reimage),
                () -> !stopped))
        .compose(
            key -> unchanged(node).compose(now -> nodes.note(now.needing(reimage.answered(key)))));
  }

  /** Visits the machine until it answers with its new key, like a machine that joins the pool. */
  private Future<Void> visit(Node node, Ending ending) {
    Reimage reimage = Objects.requireNonNull(node.reimage());
    String key = Objects.requireNonNull(reimage.hostKey());
    long until =
        env.nanoTime().getAsLong() + TimeUnit.MILLISECONDS.toNanos(remainingMillis(reimage));
    return env.nodes()
        .isKnownHostKey(key)
        .compose(
            isKnown ->
                isKnown
                    ? Future.failedFuture(
                        NodeFailureException.unfit(
                            node.nodeId()
                                + ": the new image has a host key that is or was pinned before,"
                                + " which a tenant may have copied"))
                    : examine(node, node.machine().reimaged(key), until, null))
        .compose(examination -> free(node, key, examination, ending));
  }

  private Future<Examination> examine(
      Node node, Machine fresh, long until, @Nullable Throwable last) {
    if (stopped) {
      return Future.failedFuture(NodeFailureException.busy("another process has the pool's lease"));
    }
    if (env.nanoTime().getAsLong() >= until) {
      return Future.failedFuture(
          NodeFailureException.unfit(
              "%s: the machine did not answer with the host key of its new image in time: %s"
                  .formatted(node.nodeId(), last == null ? "not visited" : last.getMessage())));
    }
    return provider
        .examine(fresh, env.terms(lease.pool()))
        .recover(
            e -> {
              Promise<Examination> later = Promise.promise();
              vertx.setTimer(
                  Math.max(1, Math.min(VISIT_MILLIS, timeoutMillis() / VISITS)),
                  timer -> examine(node, fresh, until, e).onComplete(later));
              return later.future();
            });
  }

  private Future<Void> free(Node node, String key, Examination examination, Ending ending) {
    String nodeId = node.nodeId();
    if (examination.holding().allocationId() != null) {
      return Future.failedFuture(
          NodeFailureException.unfit(
              "%s: the machine has the mark of allocation %s, so it has no new image"
                  .formatted(nodeId, examination.holding().allocationId())));
    }
    if (examination.health().isFaulty()) {
      return Future.failedFuture(
          NodeFailureException.unfit(
              "%s: the machine with its new image failed its checks: %s"
                  .formatted(nodeId, String.join("; ", examination.health().reasons()))));
    }
    Node now = nodes.get(nodeId);
    if (stopped || now == null || !Objects.equals(node.reimage(), now.reimage())) {
      return Future.failedFuture(
          NodeFailureException.busy(nodeId + ": the node changed during its reimage"));
    }
    Reimage reimage = Objects.requireNonNull(now.reimage());
    Machine fresh = now.machine().reimaged(key);
    String baseline = examination.baseline();
    Node after = now.reimaged(baseline == null ? fresh : fresh.withBaseline(baseline));
    long seconds = Math.max(0, (env.now() - (reimage.untilMillis() - timeoutMillis())) / 1_000);
    Handover handover =
        new Handover(
            reimage.allocationId(),
            nodeId,
            env.now(),
            new Cleaning(seconds, 0, 0, 0, baseline),
            canonical(now.machine().hostKey()));
    return ending
        .commit(NodeStore.reimaged(now, after, handover))
        .onSuccess(
            stored -> {
              LOG.info(
                  "pool {}: reimage of node {} finished; the node is free", lease.pool(), nodeId);
              nodes.replace(after);
              listener.onReimaged(nodeId);
            });
  }

  /** Returns a key without the comment that it may have in a world file. */
  private static @Nullable String canonical(@Nullable String line) {
    if (line == null) {
      return null;
    }
    String[] words = line.strip().split(" ", 3);
    return words.length < 2 ? line : words[0] + ' ' + words[1];
  }

  /**
   * Returns the time left, at most the time-out, because a clock that was ahead may have written
   * the deadline.
   */
  private long remainingMillis(Reimage reimage) {
    return Math.min(reimage.untilMillis() - env.now(), timeoutMillis());
  }

  private long timeoutMillis() {
    return provider.reimageTimeoutMillis().orElse(0);
  }
}
