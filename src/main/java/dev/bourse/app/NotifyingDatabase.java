package dev.bourse.app;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Consumer;

/**
 * The store, which also reports this process's own changes to it, like those of other processes. A
 * committer applies its change by reading it back; if the store becomes unreachable between the
 * two, this report makes up for it.
 */
final class NotifyingDatabase extends ForwardingDatabase {
  private final Consumer<List<Change>> listener;

  NotifyingDatabase(Database database, Consumer<List<Change>> listener) {
    super(database);
    this.listener = listener;
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    Future<Void> committed = super.commit(statements, changes);
    return changes.isEmpty() ? committed : committed.onSuccess(stored -> listener.accept(changes));
  }
}
