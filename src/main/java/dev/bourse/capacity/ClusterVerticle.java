package dev.bourse.capacity;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Statement;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner of a share of the clusters. It carries out one command at a time for each: pure apply,
 * one commit, publish, answer. Memory changes only after the commit, so what is read is always
 * durable; one command's failure never stops the next.
 */
final class ClusterVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterVerticle.class);

  /**
   * Commands that may wait for one cluster. At a few milliseconds a commit the last of them waits
   * well under a second; whoever comes later is better told to come back.
   */
  static final int MAX_WAITING = 128;

  private final Clusters clusters;
  private final CapacityStore store;
  private final Clock clock;
  private final Map<String, Mailbox> mailboxes = new HashMap<>();

  ClusterVerticle(Clusters clusters, CapacityStore store, Clock clock) {
    this.clusters = clusters;
    this.store = store;
    this.clock = clock;
  }

  /** Where this verticle runs. */
  Context context() {
    return context;
  }

  /** Takes a cluster into its care, as stored. */
  void adopt(Cluster cluster) {
    mailboxes.put(cluster.name(), new Mailbox(cluster));
    clusters.publish(cluster);
  }

  /** Queues a command. Called on this verticle's context only. */
  Future<Cluster> submit(String name, Command command, List<Statement> fences) {
    Mailbox mailbox = mailboxes.get(name);
    if (mailbox == null) {
      return Future.failedFuture(ApiError.notFound("cluster", name));
    }
    if (mailbox.waiting.size() >= MAX_WAITING) {
      return Future.failedFuture(
          ApiError.retryLater(
              ErrorCode.OVERLOADED,
              MAX_WAITING + " writes already wait for cluster " + name,
              1000));
    }
    Work work = new Work(command, fences, Promise.promise());
    mailbox.waiting.add(work);
    if (!mailbox.isBusy) {
      next(mailbox);
    }
    return work.answer.future();
  }

  private void next(Mailbox mailbox) {
    Work work = mailbox.waiting.poll();
    mailbox.isBusy = work != null;
    if (work != null) {
      perform(mailbox, work, true)
          .onComplete(
              done -> {
                work.answer.handle(done);
                next(mailbox);
              });
    }
  }

  private Future<Cluster> perform(Mailbox mailbox, Work work, boolean mayReload) {
    long now = clock.millis();
    Transition transition;
    try {
      transition = work.command.apply(mailbox.state, now);
    } catch (ApiError refused) {
      return Future.failedFuture(refused);
    } catch (RuntimeException fault) {
      LOG.error("a command failed on cluster {}", mailbox.state.name(), fault);
      return Future.failedFuture(fault);
    }
    if (transition.changesNothing()) {
      return Future.succeededFuture(mailbox.state);
    }
    return store
        .commit(transition, work.fences, now)
        .map(
            committed -> {
              mailbox.state = transition.next();
              clusters.publish(mailbox.state);
              return mailbox.state;
            })
        .recover(e -> mayReload && isStale(e) ? reload(mailbox, work) : Future.failedFuture(e));
  }

  /** Somebody else changed the row: once more, on what is stored. */
  private Future<Cluster> reload(Mailbox mailbox, Work work) {
    return store
        .findCluster(mailbox.state.name())
        .compose(
            found -> {
              mailbox.state =
                  found.orElseThrow(() -> ApiError.notFound("cluster", mailbox.state.name()));
              clusters.publish(mailbox.state);
              return perform(mailbox, work, false);
            });
  }

  private static boolean isStale(@Nullable Throwable e) {
    return e instanceof GuardFailed failed && failed.guard().equals(CapacityStore.REVISION_GUARD);
  }

  private static final class Mailbox {
    final ArrayDeque<Work> waiting = new ArrayDeque<>();
    Cluster state;
    boolean isBusy;

    Mailbox(Cluster state) {
      this.state = state;
    }
  }

  private record Work(Command command, List<Statement> fences, Promise<Cluster> answer) {}
}
