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

  /**
   * How often one command is carried out anew because another process changed the cluster first.
   * Each time somebody's change went in, so this many in a row means a crowd, not a fault.
   */
  private static final int MAX_RELOADS = 8;

  /**
   * How often an order of the market is retried after another process has changed the cluster.
   * Clients of another process can write only as often as their budgets allow, so they do not win
   * this many times in a row.
   */
  private static final int MAX_ORDER_RELOADS = 100;

  /** Most ticks are done within this, and so are one line of the log. */
  private static final long TOLD_MILLIS = 1_000;

  private final Clusters clusters;
  private final CapacityStore store;
  private final Clock clock;
  private final ConfirmedTime time;
  private final ClusterSignals counted;
  private final Map<String, Mailbox> mailboxes = new HashMap<>();

  /**
   * @param time by which declarations come to their ends
   * @param counted told of what is stored
   */
  ClusterVerticle(
      Clusters clusters,
      CapacityStore store,
      Clock clock,
      ConfirmedTime time,
      ClusterSignals counted) {
    this.counted = counted;
    this.clusters = clusters;
    this.store = store;
    this.clock = clock;
    this.time = time;
  }

  /** What was gathered for the log is told, however little time it had. */
  @Override
  public Future<?> stop() {
    counted.tell();
    return Future.succeededFuture();
  }

  /** Where this verticle runs. */
  Context context() {
    return context;
  }

  /** Owns a cluster from now on, as it is stored. */
  void adopt(Cluster cluster) {
    // Shown first: what cannot be, for its pool is not known yet, is not taken on either.
    clusters.publish(cluster);
    if (!cluster.isSettled()) {
      mailboxes.put(cluster.name(), new Mailbox(cluster));
    }
  }

  /** Returns a cluster's mailbox; that of a settled one is made, and goes with its last command. */
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

  /** Queues a command. Called on this verticle's context only. */
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
   * Puts a command of the market ahead of all waiting commands. Called on this verticle's context
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
   * A declaration whose end has come is ended before anything else is done to the cluster: whoever
   * writes later than that writes upon what is left.
   */
  private Future<ClusterView> carryOut(Mailbox mailbox, Asked asked) {
    return isDue(mailbox.state)
        ? perform(mailbox, new Asked(this::lapse, List.of(), List.of(), asked.reloads()))
            .compose(lapsed -> perform(mailbox, asked))
        : perform(mailbox, asked);
  }

  /** Of the state in force by then, whose end may have been put off. */
  private Transition lapse(Cluster cluster, long nowMillis) {
    return isDue(cluster) ? Lapse.atEnd(cluster, nowMillis) : Transition.none(cluster);
  }

  /** The time is asked for those alone that have an end. */
  private boolean isDue(Cluster cluster) {
    return Lapse.hasEnd(cluster) && Lapse.isDue(cluster, time.undoubtedMillis());
  }

  /** Reads a cluster anew: another process changed it, or made it. */
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
   * Shows what is stored, when it is newer than what is shown; tells whether it was. It waits for
   * no command: one under way may hang for as long as the store does.
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
   * Shows an earlier state than the one held, or none, because that is what is stored: the database
   * was set back. Done before all that waits for the cluster, and not when another state has been
   * put in force since the reading began.
   *
   * @param held the state in force when the reading began
   * @param stored what was read; null when the cluster is not stored
   */
  void goBack(Cluster held, @Nullable Cluster stored) {
    Mailbox mailbox = mailbox(held.name());
    if (mailbox == null) {
      return;
    }
    jump(
        mailbox,
        () -> {
          // By the revision: of a settled state there may be several objects.
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
    LOG.warn("cluster {} is not stored any more: the database was set back", mailbox.state.name());
    mailboxes.remove(mailbox.state.name());
    clusters.remove(mailbox.state);
  }

  private void showEarlier(Mailbox mailbox, Cluster stored) {
    LOG.warn(
        """
        cluster {} is stored at revision {}, earlier than {} that was read: the database was \
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

  /** Puts work before all that waits. */
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
      // The turn is that of the command before, which another request may have asked for.
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
      // An Error, too, belongs to its command alone: the mailbox goes on with the next.
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
              if (counted.stored(transition)) {
                vertx.setTimer(TOLD_MILLIS, due -> counted.tell());
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
                  : Future.failedFuture(crowdedOut(mailbox));
            });
  }

  private static ApiException crowdedOut(Mailbox mailbox) {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "other processes keep changing cluster %s first; nothing was written"
            .formatted(mailbox.state.name()),
        1000);
  }

  /** A refusal may rest on a state that another process has changed since: then once more. */
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
   * Reads a cluster again in its turn, when no commit of this process is under way, and shows what
   * is stored: a newer state, or an earlier one, or none when the database was set back.
   *
   * @param standing the state in force when this was asked for; an earlier state is shown only in
   *     its place, because another may have been shown since
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

  /** Gives the state, which another process may have passed meanwhile: then that stays shown. */
  private ClusterView show(Mailbox mailbox, Cluster state) {
    if (state.revision() < mailbox.state.revision()) {
      return clusters.view(state);
    }
    mailbox.state = state;
    return clusters.publish(state);
  }

  /**
   * The snapshot of the state in force: of this very object, for comparing all of it costs more.
   */
  @SuppressWarnings("ReferenceEquality")
  private ClusterView shown(Mailbox mailbox) {
    Cluster state = mailbox.state;
    return clusters
        .find(state.name())
        .filter(view -> view.cluster() == state)
        .orElseGet(() -> clusters.view(state));
  }

  private static final class Mailbox {
    // Short while nobody writes: there is one for each cluster, and few are written at a time.
    final ArrayDeque<Work> waiting = new ArrayDeque<>(1);
    Cluster state;
    boolean isBusy;

    /** Whether a refresh waits already; one serves however many changes are heard of. */
    boolean refreshWaits;

    Mailbox(Cluster state) {
      this.state = state;
    }
  }

  /**
   * A command that waits.
   *
   * @param context of this event loop, with the request that asked for it, if one did
   * @param askedNanos by the request's clock
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
