package dev.bourse.app;

import dev.bourse.logs.RequestContext.Standing;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A store that carries out an audited write only if its caller may still act. A request is
 * authenticated when it arrives, and its write may come much later: after a long body, behind
 * others, or in a process that was stopped. If the engine delays a commit for long, the caller is
 * checked again.
 */
final class ConfirmingDatabase extends ForwardingDatabase {
  private final LongSupplier nanoTime;

  /**
   * @param nanoTime the monotonic clock
   */
  ConfirmingDatabase(Database database, LongSupplier nanoTime) {
    super(database);
    this.nanoTime = nanoTime;
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    Standing caller = Statement.standing(statements);
    if (caller == null) {
      return super.commit(statements, changes);
    }
    Future<Void> confirmed =
        caller.confirm(nanoTime.getAsLong() - TimeUnit.MILLISECONDS.toNanos(Database.KNOWN_MILLIS));
    if (confirmed.succeeded()) {
      return super.commit(statements, changes);
    }
    // A commit answers on the context of its caller, not on the one that confirms.
    Promise<Void> here = ContextInternal.current().promise();
    confirmed.onComplete(here);
    return here.future().compose(acts -> super.commit(statements, changes));
  }
}
