package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailable;
import dev.bourse.store.sqlite.MemoryEngine;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One process's way to the database, as the port promises it and no better: what is asked arrives
 * late and out of order, is lost, or its answer is; a commit whose answer is lost may be stored; of
 * changes the process hears late, twice, or only that it missed some.
 */
class Link implements Database {
  /** A query or commit that was not answered by then has failed, as with a real driver. */
  private static final long TIMEOUT_MILLIS = 5_000;

  /** The feed is asked so often though nothing woke it. */
  private static final long POLL_MILLIS = 500;

  /** What becomes of one message. */
  enum Fate {
    ARRIVES,
    LOST
  }

  /** What the network does; drawn anew for each message. */
  interface Network {
    /** How long a message is under way, in nanoseconds. */
    long delayNanos();

    Fate fate();

    /** How long a commit that has arrived is under way in the server before it is stored. */
    long stallNanos();

    /** Whether a change is told a second time. */
    boolean repeats();

    /** Whether the feed has lost its place: nobody knows what was missed. */
    boolean losesPlace();
  }

  private final Replica process;
  private final DatabaseServer server;
  private final Network network;
  private final Scheduler scheduler;
  private @Nullable ChangeListener listener;
  private @Nullable Context listening;
  private int heard;
  private boolean isPolling;

  /** Commits whose outcome this process does not know: it hears of them as of others' then. */
  private final List<Doubt> doubts = new ArrayList<>();

  /** A commit on its way, and what it tells. */
  private static final class Doubt {
    final List<Change> changes;
    boolean isStored;

    Doubt(List<Change> changes) {
      this.changes = changes;
    }
  }

  Link(Replica process, DatabaseServer server, Network network, Scheduler scheduler) {
    this.process = process;
    this.server = server;
    this.network = network;
    this.scheduler = scheduler;
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    return ask(
        "read",
        () -> server.read(sql, parameters, mapper),
        () -> new StoreUnavailable("no answer to a query", null));
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    Doubt doubt = new Doubt(changes);
    TrailNumbers.Numbered[] begun = new TrailNumbers.Numbered[1];
    return ask(
        "commit",
        () -> {
          begun[0] = server.begin(statements);
          return network.stallNanos();
        },
        () -> {
          server.commit(process.name(), begun[0], changes);
          doubt.isStored = true;
          return null;
        },
        () -> {
          doubts.add(doubt);
          return MemoryEngine.unknown("no answer to a commit");
        });
  }

  private <T> Future<T> ask(String what, Supplier<T> work, Supplier<StoreUnavailable> silence) {
    return ask(what, () -> 0, work, silence);
  }

  /**
   * @param begin is called when it has arrived, and tells how long the server then takes
   */
  private <T> Future<T> ask(
      String what, LongSupplier begin, Supplier<T> work, Supplier<StoreUnavailable> silence) {
    ContextInternal caller = (ContextInternal) process.vertx().getOrCreateContext();
    // Of the context, as the engines' are: a time-out on it is by the process's own clock.
    Promise<T> answer = caller.promise();
    // Once it has left, a message no longer depends on the process that sent it.
    if (network.fate() == Fate.ARRIVES) {
      scheduler.after(
          network.delayNanos(),
          () -> {
            long nanos = begin.getAsLong();
            if (nanos == 0) {
              carryOut(what, work, caller, answer);
            } else {
              scheduler.after(nanos, () -> carryOut(what, work, caller, answer));
            }
          });
    }
    process.afterMillis(
        TIMEOUT_MILLIS,
        () ->
            caller.runOnContext(
                v -> {
                  if (!answer.future().isComplete()) {
                    answer.fail(silence.get());
                  }
                }));
    return answer.future();
  }

  private <T> void carryOut(String what, Supplier<T> work, Context caller, Promise<T> answer) {
    T result = null;
    RuntimeException failure = null;
    try {
      result = work.get();
    } catch (Violation e) {
      throw e;
    } catch (RuntimeException e) {
      process.trace("{} fails: {}", what, e);
      failure = e;
    }
    if (network.fate() == Fate.LOST) {
      process.trace("the answer to a {} is lost", what);
      return;
    }
    T value = result;
    RuntimeException cause = failure;
    process.after(
        network.delayNanos(),
        () ->
            caller.runOnContext(
                v -> {
                  if (cause == null) {
                    answer.tryComplete(value);
                  } else {
                    answer.tryFail(cause);
                  }
                }));
  }

  @Override
  public void listen(ChangeListener heeding) {
    listener = heeding;
    listening = process.vertx().getOrCreateContext();
    heard = server.told();
    process.afterMillis(POLL_MILLIS, this::pollAgain);
  }

  /** Somebody committed: the feed is asked soon, unless the wake-up is lost. */
  void wake() {
    if (listener != null && network.fate() == Fate.ARRIVES) {
      process.after(network.delayNanos(), this::poll);
    }
  }

  private void pollAgain() {
    poll();
    process.afterMillis(POLL_MILLIS, this::pollAgain);
  }

  private void poll() {
    if (isPolling) {
      return;
    }
    isPolling = true;
    long asked = process.nanoTime();
    int from = heard;
    if (network.fate() == Fate.LOST) {
      process.afterMillis(POLL_MILLIS, () -> isPolling = false);
      return;
    }
    scheduler.after(
        network.delayNanos(),
        () -> {
          List<Change> news = server.news(process.name(), from);
          List<Doubt> settled = doubts.stream().filter(doubt -> doubt.isStored).toList();
          settled.forEach(doubt -> news.addAll(doubt.changes));
          int until = server.told();
          boolean isLost = network.fate() == Fate.LOST;
          process.after(
              network.delayNanos(),
              () -> {
                isPolling = false;
                if (!isLost) {
                  tell(news, settled, until, asked);
                }
              });
        });
  }

  private void tell(List<Change> news, List<Doubt> settled, int until, long asked) {
    ChangeListener heeding = listener;
    Context context = listening;
    if (heeding == null || context == null) {
      return;
    }
    heard = Math.max(heard, until);
    // A commit that fell into doubt meanwhile is told the next time.
    doubts.removeAll(settled);
    boolean losesPlace = network.losesPlace();
    context.runOnContext(
        v -> {
          if (losesPlace) {
            heeding.missed();
          } else {
            for (Change change : news) {
              heeding.changed(change);
              if (network.repeats()) {
                heeding.changed(change);
              }
            }
          }
          heeding.heardUntil(asked);
        });
  }

  /** What a commit under way may still bring is known to the server. */
  @Override
  public Future<Long> settledTrail(long enough) {
    return ask(
        "read", server::settledTrail, () -> new StoreUnavailable("no answer to a query", null));
  }

  @Override
  public String newTrailIdsSql() {
    return TrailNumbers.NEW_IDS;
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public String clockSql() {
    return DatabaseServer.CLOCK_SQL;
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
