package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.sqlite.MemoryEngine;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One process's connection to the database, with no more than the port's guarantees: requests
 * arrive late, out of order or not at all, or their answers are lost; changes are delivered late,
 * twice, or only as a gap.
 *
 * <p>A commit whose answer is lost is settled like in the product's driver: the server says whether
 * it is stored, or prevents that forever. If the server does not answer in time, the caller learns
 * that the commit may be stored. When another server takes over, all messages to the previous one
 * are lost; a process notices lost commits by its position in the log, and its own commits are
 * rejected until it has.
 */
class Link implements Database {
  /** Time after which an unanswered query has failed, as with a real driver. */
  private static final long TIMEOUT_MILLIS = 5_000;

  /** Time after which the server is asked for the outcome of an unanswered commit. */
  private static final long ANSWER_MILLIS = 3_000;

  /** How long a caller waits for that outcome. */
  private static final long SETTLE_MILLIS = TIMEOUT_MILLIS - ANSWER_MILLIS;

  private static final long SETTLE_AGAIN_MILLIS = 300;

  /** Pause before a commit that meets a locked row is retried. */
  private static final long LOCKED_NANOS = 50_000_000;

  /** Interval at which the feed is polled without a wake-up. */
  private static final long POLL_MILLIS = 500;

  /** The fate of one message. */
  enum Fate {
    ARRIVES,
    LOST
  }

  /** The fate of a commit that has arrived. */
  enum Ending {
    STORED,
    /** It is stored, and the answer is lost. */
    STORED_UNANSWERED,
    /** It is rolled back, and the answer is lost. */
    UNDONE_UNANSWERED
  }

  /** The behaviour of the network; drawn for each message. */
  interface Network {
    /** Returns the delay of a message, in nanoseconds. */
    long delayNanos();

    Fate fate();

    /** Returns how long a commit that has arrived waits in the server before it is stored. */
    long stallNanos();

    Ending ending();

    /** Returns true if another session has locked a row that these statements change. */
    boolean isLocked(List<Statement> statements);

    /** Returns true if a change is delivered a second time. */
    boolean repeats();

    /** Returns true if the feed has lost its position, so that missed changes are unknown. */
    boolean losesPlace();
  }

  private final Replica process;
  private final DatabaseServer server;
  private final Network network;
  private final Scheduler scheduler;
  private @Nullable ChangeListener listener;
  private @Nullable Context listening;
  private DatabaseServer.Position heard;
  private boolean isPolling;

  /** The last own commit that is known to be stored; null for none. */
  private DatabaseServer.@Nullable Position own;

  Link(Replica process, DatabaseServer server, Network network, Scheduler scheduler) {
    this.process = process;
    this.server = server;
    this.network = network;
    this.scheduler = scheduler;
    heard = server.position();
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    return ask(() -> server.read(sql, parameters, mapper));
  }

  private <T> Future<T> ask(Supplier<T> query) {
    ContextInternal caller = (ContextInternal) process.vertx().getOrCreateContext();
    // On the caller's context, like the engines' futures: a time-out on it uses the process's own
    // clock.
    Promise<T> answer = caller.promise();
    int session = server.session();
    // A sent message no longer depends on its process.
    if (network.fate() == Fate.ARRIVES) {
      scheduler.after(
          network.delayNanos(),
          () -> {
            if (server.session() == session) {
              answer(caller, answer, session, query);
            }
          });
    }
    process.afterMillis(
        TIMEOUT_MILLIS,
        () ->
            caller.runOnContext(
                v -> {
                  if (!answer.future().isComplete()) {
                    answer.fail(new StoreUnavailableException("no answer to a query", null));
                  }
                }));
    return answer.future();
  }

  /** Performs the server's work, and sends the answer, which may be lost. */
  private <T> void answer(Context caller, Promise<T> answer, int session, Supplier<T> work) {
    T result = null;
    RuntimeException failure = null;
    try {
      result = work.get();
    } catch (ViolationException e) {
      throw e;
    } catch (RuntimeException e) {
      process.trace("the store refuses: {}", e);
      failure = e;
    }
    if (network.fate() == Fate.LOST) {
      process.trace("an answer of the store is lost");
      return;
    }
    T value = result;
    RuntimeException cause = failure;
    process.after(
        network.delayNanos(),
        () -> {
          if (server.session() == session) {
            caller.runOnContext(
                v -> {
                  if (cause == null) {
                    answer.tryComplete(value);
                  } else {
                    answer.tryFail(cause);
                  }
                });
          }
        });
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    ContextInternal caller = (ContextInternal) process.vertx().getOrCreateContext();
    Promise<Void> answer = caller.promise();
    Sent sent =
        new Sent(server.order(process.name(), statements, changes), changes, caller, answer);
    if (network.fate() == Fate.ARRIVES) {
      scheduler.after(network.delayNanos(), sent::arrive);
    }
    process.afterMillis(ANSWER_MILLIS, () -> caller.runOnContext(v -> sent.settle()));
    return answer.future();
  }

  /** A commit in transit. */
  private final class Sent {
    private final DatabaseServer.Order order;
    private final List<Change> changes;
    private final ContextInternal caller;
    private final Promise<Void> answer;
    private final int session = server.session();

    /** The position that the process knew when it decided on this commit. */
    private final DatabaseServer.@Nullable Position before = own;

    private boolean isSettled;

    Sent(
        DatabaseServer.Order order,
        List<Change> changes,
        ContextInternal caller,
        Promise<Void> answer) {
      this.order = order;
      this.changes = changes;
      this.caller = caller;
      this.answer = answer;
      answer.future().onSuccess(stored -> recordStored());
    }

    private void recordStored() {
      DatabaseServer.Position stored = server.positionOf(order);
      DatabaseServer.Position known = own;
      if (!server.hasLost(stored) && (known == null || known.commits() < stored.commits())) {
        own = stored;
      }
    }

    void arrive() {
      if (!server.admits(order)) {
        return;
      }
      if (before != null && server.hasLost(before)) {
        answer(
            caller,
            answer,
            session,
            () -> {
              throw new StoreUnavailableException("the database was set back", null);
            });
        process.after(network.delayNanos(), Link.this::setBack);
        return;
      }
      if (network.isLocked(order.statements())) {
        scheduler.after(LOCKED_NANOS, this::arrive);
        return;
      }
      Ending ending = network.ending();
      long nanos = network.stallNanos();
      server.begin(order);
      if (nanos == 0) {
        end(ending);
      } else {
        scheduler.after(nanos, () -> end(ending));
      }
    }

    private void end(Ending ending) {
      if (!server.isUnderWay(order)) {
        return;
      }
      if (ending == Ending.UNDONE_UNANSWERED) {
        server.abort(order);
        return;
      }
      if (ending == Ending.STORED_UNANSWERED) {
        try {
          server.commit(order);
        } catch (ViolationException e) {
          throw e;
        } catch (RuntimeException e) {
          process.trace("the store refuses: {}", e);
        }
        return;
      }
      answer(
          caller,
          answer,
          session,
          () -> {
            server.commit(order);
            return null;
          });
    }

    /** Asks the server for the outcome until it answers. */
    void settle() {
      if (answer.future().isComplete()) {
        return;
      }
      process.afterMillis(
          SETTLE_MILLIS,
          () ->
              caller.runOnContext(
                  v -> {
                    if (!answer.future().isComplete()) {
                      answer.fail(MemoryEngine.unknown("no answer to a commit"));
                    }
                  }));
      askOutcome();
    }

    private void askOutcome() {
      if (isSettled) {
        return;
      }
      int asked = server.session();
      if (network.fate() == Fate.ARRIVES) {
        scheduler.after(
            network.delayNanos(),
            () -> {
              if (server.session() != asked) {
                return;
              }
              DatabaseServer.Outcome outcome = server.settle(order);
              if (outcome != DatabaseServer.Outcome.OPEN && network.fate() == Fate.ARRIVES) {
                process.after(
                    network.delayNanos(),
                    () -> {
                      if (server.session() == asked) {
                        caller.runOnContext(v -> settled(outcome));
                      }
                    });
              }
            });
      }
      process.afterMillis(SETTLE_AGAIN_MILLIS, () -> caller.runOnContext(v -> askOutcome()));
    }

    private void settled(DatabaseServer.Outcome outcome) {
      if (isSettled) {
        return;
      }
      isSettled = true;
      boolean isStored = outcome == DatabaseServer.Outcome.STORED;
      process.trace("a commit without an answer is {}", outcome);
      if (!answer.future().isComplete()) {
        if (isStored) {
          answer.complete();
        } else {
          answer.fail(new StoreUnavailableException("the commit was lost", null));
        }
      } else if (isStored && !answer.future().succeeded()) {
        recordStored();
        // The callers learned that the outcome is unknown, so the process receives the changes like
        // another's.
        tell(heeding -> changes.forEach(heeding::changed));
      }
    }
  }

  private void tell(Consumer<ChangeListener> word) {
    ChangeListener heeding = listener;
    Context context = listening;
    if (heeding != null && context != null) {
      context.runOnContext(v -> word.accept(heeding));
    }
  }

  /** Commits that this process knew are lost: its memory is compared with the store. */
  private void setBack() {
    process.trace("finds that the database was set back");
    own = null;
    tell(ChangeListener::missed);
  }

  @Override
  public void listen(ChangeListener heeding) {
    listener = heeding;
    listening = process.vertx().getOrCreateContext();
    heard = server.position();
    process.afterMillis(POLL_MILLIS, this::pollAgain);
  }

  /** A commit happened: the feed is polled soon, unless the wake-up is lost. */
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
    DatabaseServer.Position from = heard;
    DatabaseServer.Position recorded = own;
    int session = server.session();
    if (network.fate() == Fate.LOST) {
      process.afterMillis(POLL_MILLIS, () -> isPolling = false);
      return;
    }
    scheduler.after(
        network.delayNanos(),
        () -> {
          if (server.session() != session) {
            process.after(0, () -> isPolling = false);
            return;
          }
          boolean isSetBack =
              server.hasLost(from) || (recorded != null && server.hasLost(recorded));
          List<Change> news = isSetBack ? List.of() : server.news(process.name(), from);
          DatabaseServer.Position until = server.position();
          boolean isLost = network.fate() == Fate.LOST;
          process.after(
              network.delayNanos(),
              () -> {
                isPolling = false;
                if (!isLost && server.session() == session) {
                  heard = until;
                  if (isSetBack) {
                    setBack();
                  }
                  tell(news, asked);
                }
              });
        });
  }

  private void tell(List<Change> news, long asked) {
    boolean losesPlace = network.losesPlace();
    tell(
        heeding -> {
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

  /** The server knows the commits in progress. */
  @Override
  public Future<Long> settledTrail(long enough) {
    return ask(server::settledTrail);
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
