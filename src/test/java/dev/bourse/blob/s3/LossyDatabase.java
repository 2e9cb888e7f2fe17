package dev.bourse.blob.s3;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.BooleanSupplier;

/** The database of a process that loses an answer or crashes. */
final class LossyDatabase extends ForwardingDatabase {
  private final BooleanSupplier lives;
  private final int losesAnswerOf;
  private int commits;
  private int underWay;

  /**
   * @param lives asked before each commit; nothing arrives from a process that does not
   * @param losesAnswerOf the number, from 0 on, of the commit whose answer is lost; -1 for none
   */
  LossyDatabase(Database real, BooleanSupplier lives, int losesAnswerOf) {
    super(real);
    this.lives = lives;
    this.losesAnswerOf = losesAnswerOf;
  }

  /** Returns the number of commits. */
  synchronized int commits() {
    return commits;
  }

  /** Returns whether no commit is in progress. */
  synchronized boolean isIdle() {
    return underWay == 0;
  }

  private synchronized void count(int change) {
    underWay += change;
  }

  private synchronized boolean losesNextAnswer() {
    return commits++ == losesAnswerOf;
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    // Before it is asked whether it lives, so that no commit of a dead process is overlooked.
    count(1);
    if (!lives.getAsBoolean()) {
      count(-1);
      return Future.failedFuture(new StoreUnavailableException("the process is dead", null));
    }
    boolean isLost = losesNextAnswer();
    return super.commit(statements, changes)
        .onComplete(done -> count(-1))
        .compose(
            done ->
                isLost
                    ? Future.failedFuture(
                        new StoreUnavailableException("the answer is lost", null, false, true))
                    : Future.succeededFuture());
  }

  /** Crashes the process; the rows stay. */
  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
