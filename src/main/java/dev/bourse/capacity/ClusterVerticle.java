package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.ErrorCode;
import dev.bourse.logs.RequestContext;
import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.internal.ContextInternal;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner of a share of the clusters. It carries out one command at a time for each cluster: it
 * applies the command, commits, publishes the snapshot and answers. Memory changes only after the
 * commit, so readers see durable states only. A command that fails does not stop the next one.
 */
final class ClusterVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterVerticle.class);

  /**
   * The most commands that wait for one cluster. At a few milliseconds a commit the last of them
   * waits well under a second. Further commands are rejected with a time for the retry.
   */
  static final int MAX_WAITING = 128;

  /**
   * The most retries of a command after another process changed the cluster first. Each of them
   * means that another write succeeded, so the limit is reached under contention only.
   */
  private static final int MAX_RELOADS = 8;

  /**
   * How often an order of the market is retried after another process has changed the cluster.
   * Clients of another process can write only as often as their budgets allow, so they do not win
   * this many times in a row.
   */
  private static final int MAX_ORDER_RELOADS = 100;

  /** The delay of the log's line; most ticks end within it, so that each has one line. */
  private static final long LOG_DELAY_MILLIS = 1_000;

  private final Clusters clusters;
  private final CapacityStore store;
  private final Clock clock;
  private final ConfirmedTime time;
  private final ClusterSignals signals;
  private final Map<String, Mailbox> mailboxes = new HashMap<>();

  /**
   * @param time the confirmed time, by which declarations lapse
   * @param signals records the stored changes
   */
  ClusterVerticle(
      Clusters clusters,
      CapacityStore store,
      Clock clock,
      ConfirmedTime time,
      ClusterSignals signals) {
    this.signals = signals;
    this.clusters = clusters;
    this.store = store;
    this.clock = clock;
    this.time = time;
  }

  /** Logs the events that wait for their line. */
  @Override
  public Future<?> stop() {
    signals.log();
    return Future.succeededFuture();
  }

  /** Returns the context that this verticle runs on. */
  Context context() {
    return context;
  }

  /** Takes ownership of a stored cluster. */
  void adopt(Cluster cluster) {
    // Published first, because this fails for an unknown pool; the cluster then gets no mailbox.
    clusters.publish(cluster);
    if (!cluster.isSettled()) {
      mailboxes.put(cluster.name(), new Mailbox(cluster));
    }
  }

  /** Returns a cluster's mailbox. A settled cluster has one only while commands wait for it. */
  private @Nullable Mailbox mailbox(String name) {
    Mailbox known = mailboxes.get(name);
    return known == null
        ? clusters
            .find(name)
            .map(
                view -> {
                  Mailbox woken = new Mailbox(view.cluster());
                  mailboxes.put(name, woken);
                  return woken;
                })
            .orElse(null)
        : known;
  }

  private void dismissIfSettled(Mailbox mailbox) {
    if (!mailbox.isBusy && mailbox.state.isSettled()) {
      mailboxes.remove(mailbox.state.name(), mailbox);
    }
  }

  /** Queues a command. Call it on this verticle's context only. */
  Future<ClusterView> submit(
      String name, Command command, List<Statement> fences, List<Change> more) {
    Mailbox mailbox = mailbox(name);
    if (mailbox == null) {
      return Future.failedFuture(ApiException.notFound("cluster", name));
    }
    if (mailbox.waiting.size() >= MAX_WAITING) {
      return Future.failedFuture(
          ApiException.retryLater(
              ErrorCode.OVERLOADED,
              MAX_WAITING + " writes already wait for cluster " + name,
              1000));
    }
    Asked asked = new Asked(command, fences, more, MAX_RELOADS);
    return enqueue(mailbox, () -> carryOut(mailbox, asked));
  }

  /**
   * Puts a command of the market ahead of all waiting commands. Call it on this verticle's context
   * only.
   */
  Future<ClusterView> order(String name, Command command, List<Statement> fences) {
    Mailbox mailbox = mailbox(name);
    if (mailbox == null) {
      return Future.failedFuture(ApiException.notFound("cluster", name));
    }
    Asked asked = new Asked(command, fences, List.of(), MAX_ORDER_RELOADS);
    return jump(mailbox, () -> carryOut(mailbox, asked));
  }

  /**
   * Carries out a command. A declaration that is due lapses first, so that a later write never
   * applies to it.
   */
  private Future<ClusterView> carryOut(Mailbox mailbox, Asked asked) {
    return isDue(mailbox.state)
        ? perform(mailbox, new Asked(this::lapse, List.of(), List.of(), asked.reloads()))
            .compose(lapsed -> perform(mailbox, asked))
        : perform(mailbox, asked);
  }

  /** Checks the end again, because the state in force may have a later one by now. */
  private Transition lapse(Cluster cluster, long nowMillis) {
    return isDue(cluster) ? Lapse.atEnd(cluster, nowMillis) : Transition.none(cluster);
  }

  /** True if the cluster's declaration has reached its end. */
  private boolean isDue(Cluster cluster) {
    return Lapse.hasEnd(cluster) && Lapse.isDue(cluster, time.undoubtedMillis());
  }

  /** Reads a cluster again after another process changed or created it. */
  Future<Void> refresh(String name) {
    Mailbox mailbox = mailbox(name);
    if (mailbox == null) {
      return store
          .findCluster(name)
          .map(
              found -> {
                // Two readings at once adopt it once; a settled cluster has no mailbox.
                found
                    .filter(c -> !mailboxes.containsKey(name) && clusters.revision(name) < 0)
                    .ifPresent(this::adopt);
                return null;
              });
    }
    if (mailbox.refreshWaits) {
      return Future.succeededFuture();
    }
    mailbox.refreshWaits = true;
    return enqueue(
            mailbox,
            () -> {
              mailbox.refreshWaits = false;
              return reload(mailbox, mailbox.state);
            })
        .mapEmpty();
  }

  /**
   * Publishes the stored state if it is newer than the published one, and returns true then. It
   * does not wait for a running command, which may hang for as long as the store does.
   */
  boolean showStored(Cluster stored) {
    if (stored.revision() <= clusters.revision(stored.name())) {
      return false;
    }
    Mailbox mailbox = mailboxes.get(stored.name());
    if (mailbox == null) {
      adopt(stored);
    } else {
      show(mailbox, stored);
      dismissIfSettled(mailbox);
    }
    return true;
  }

  /**
   * Goes back to an earlier state, or removes the cluster, because the database was set back. It
   * runs before all waiting commands, and does nothing if the state changed since the read began.
   *
   * @param held the state in force when the read began
   * @param stored the state that was read; null if the cluster is not stored
   */
  void goBack(Cluster held, @Nullable Cluster stored) {
    Mailbox mailbox = mailbox(held.name());
    if (mailbox == null) {
      return;
    }
    jump(
        mailbox,
        () -> {
          // Compares revisions, because a settled state may have several objects.
          if (mailbox.state.revision() == held.revision()) {
            if (stored == null) {
              forget(mailbox);
            } else {
              showEarlier(mailbox, stored);
            }
          }
          return Future.succeededFuture(shown(mailbox));
        });
  }

  private void forget(Mailbox mailbox) {
    LOG.warn("cluster {} is no longer stored: the database was set back", mailbox.state.name());
    mailboxes.remove(mailbox.state.name());
    clusters.remove(mailbox.state);
  }

  private void showEarlier(Mailbox mailbox, Cluster stored) {
    LOG.warn(
        """
        cluster {} is stored at revision {} but was at revision {} before: the database was \
        set back\
        """,
        stored.name(),
        stored.revision(),
        mailbox.state.revision());
    mailbox.state = stored;
    clusters.publishEarlier(stored);
  }

  private Future<ClusterView> enqueue(Mailbox mailbox, Supplier<Future<ClusterView>> work) {
    Promise<ClusterView> answer = Promise.promise();
    mailbox.waiting.add(Work.of(work, answer));
    if (!mailbox.isBusy) {
      next(mailbox);
    }
    return answer.future();
  }

  /** Puts work ahead of all waiting work. */
  private Future<ClusterView> jump(Mailbox mailbox, Supplier<Future<ClusterView>> work) {
    Promise<ClusterView> answer = Promise.promise();
    mailbox.waiting.addFirst(Work.of(work, answer));
    if (!mailbox.isBusy) {
      next(mailbox);
    }
    return answer.future();
  }

  private void next(Mailbox mailbox) {
    Work work = mailbox.waiting.poll();
    mailbox.isBusy = work != null;
    if (work == null) {
      dismissIfSettled(mailbox);
      return;
    }
    if (work.context == ContextInternal.current()) {
      begin(mailbox, work);
    } else {
      // This turn has the context of the previous command, which may be another request's.
      work.context.dispatch(() -> begin(mailbox, work));
    }
  }

  private void begin(Mailbox mailbox, Work work) {
    Future<ClusterView> performed;
    try {
      work.begins();
      performed = work.perform.get();
    } catch (Throwable fault) {
      performed = Future.failedFuture(fault);
    }
    performed.onComplete(
        done -> {
          work.answer.handle(done);
          next(mailbox);
        });
  }

  /** A command, the statements and changes of its commit, and the number of its retries. */
  private record Asked(Command command, List<Statement> fences, List<Change> more, int reloads) {}

  private Future<ClusterView> perform(Mailbox mailbox, Asked asked) {
    return perform(mailbox, asked, asked.reloads());
  }

  private Future<ClusterView> perform(Mailbox mailbox, Asked asked, int reloadsLeft) {
    long now = clock.millis();
    Cluster standing = mailbox.state;
    Transition transition;
    try {
      transition = asked.command().apply(standing, now);
    } catch (ApiException refused) {
      return reloadsLeft > 0 && store.isShared()
          ? performIfMoved(mailbox, standing, asked, reloadsLeft, refused)
          : Future.failedFuture(refused);
    } catch (RuntimeException | Error fault) {
      // An Error fails its command only; the mailbox continues with the next one.
      LOG.error("a command failed on cluster {}", mailbox.state.name(), fault);
      return Future.failedFuture(fault);
    }
    if (transition.changesNothing()) {
      return Future.succeededFuture(shown(mailbox));
    }
    return store
        .commit(transition, asked.fences(), asked.more(), now)
        .map(
            stored -> {
              if (signals.recordStored(transition)) {
                vertx.setTimer(LOG_DELAY_MILLIS, due -> signals.log());
              }
              return show(mailbox, stored);
            })
        .recover(
            e -> {
              if (!(e instanceof CapacityStore.RevisionPassedException)) {
                return Future.failedFuture(e);
              }
              return reloadsLeft > 0
                  ? reload(mailbox, standing).compose(c -> perform(mailbox, asked, reloadsLeft - 1))
                  : Future.failedFuture(contended(mailbox));
            });
  }

  private static ApiException contended(Mailbox mailbox) {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "other processes keep changing cluster %s first; nothing was written"
            .formatted(mailbox.state.name()),
        1000);
  }

  /** Applies a rejected command again if another process has changed the cluster since. */
  private Future<ClusterView> performIfMoved(
      Mailbox mailbox, Cluster standing, Asked asked, int reloadsLeft, ApiException refused) {
    return reload(mailbox, standing)
        .compose(
            fresh ->
                fresh.cluster().revision() == standing.revision()
                    ? Future.failedFuture(refused)
                    : perform(mailbox, asked, reloadsLeft - 1));
  }

  /**
   * Reads a cluster again in its turn, while this process commits nothing for it, and publishes the
   * stored state. If the database was set back, it goes back to an earlier state or removes the
   * cluster.
   *
   * @param standing the state in force when the caller requested this; an earlier state replaces
   *     only this one, because a newer one may have been published since
   */
  @SuppressWarnings("ReferenceEquality")
  private Future<ClusterView> reload(Mailbox mailbox, Cluster standing) {
    String name = standing.name();
    return store
        .findCluster(name)
        .map(
            found -> {
              if (found.isEmpty()) {
                if (mailbox.state == standing) {
                  forget(mailbox);
                }
                throw ApiException.notFound("cluster", name);
              }
              Cluster stored = found.get();
              // A settled cluster may have left memory while a command of its own waited.
              if (stored.revision() > mailbox.state.revision() || clusters.revision(name) < 0) {
                return show(mailbox, stored);
              }
              if (stored.revision() < standing.revision() && mailbox.state == standing) {
                showEarlier(mailbox, stored);
              }
              return shown(mailbox);
            });
  }

  /** Publishes the state, unless a later one of another process is published already. */
  private ClusterView show(Mailbox mailbox, Cluster state) {
    if (state.revision() < mailbox.state.revision()) {
      return clusters.view(state);
    }
    mailbox.state = state;
    return clusters.publish(state);
  }

  /** Returns the snapshot of the state in force; the identity check is cheaper than equals. */
  @SuppressWarnings("ReferenceEquality")
  private ClusterView shown(Mailbox mailbox) {
    Cluster state = mailbox.state;
    return clusters
        .find(state.name())
        .filter(view -> view.cluster() == state)
        .orElseGet(() -> clusters.view(state));
  }

  private static final class Mailbox {
    // Small, because each cluster has one and few clusters are written at a time.
    final ArrayDeque<Work> waiting = new ArrayDeque<>(1);
    Cluster state;
    boolean isBusy;

    /** True while a refresh waits; it covers all changes that arrive until it runs. */
    boolean refreshWaits;

    Mailbox(Cluster state) {
      this.state = state;
    }
  }

  /**
   * A command that waits.
   *
   * @param context the context of this event loop with the request, if the command has one
   * @param askedNanos the time of the submission by the request's clock; 0 without a request
   */
  private record Work(
      Supplier<Future<ClusterView>> perform,
      Promise<ClusterView> answer,
      ContextInternal context,
      long askedNanos) {

    static Work of(Supplier<Future<ClusterView>> perform, Promise<ClusterView> answer) {
      RequestContext request = RequestContext.current();
      return new Work(
          perform, answer, ContextInternal.current(), request == null ? 0 : request.nanos());
    }

    void begins() {
      RequestContext request = RequestContext.of(context);
      if (request != null) {
        request.recordWait(RequestContext.Wait.OWNER, askedNanos);
      }
    }
  }
}
