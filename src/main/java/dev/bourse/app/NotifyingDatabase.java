package dev.bourse.app;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Consumer;

/**
 * The store, telling this process of what it changes itself as the others are told. Whoever commits
 * puts the change in force by reading it back; when the store goes away between the two, this is
 * what makes up for it.
 */
final class NotifyingDatabase extends ForwardingDatabase {
  private final Consumer<List<Change>> told;

  NotifyingDatabase(Database database, Consumer<List<Change>> told) {
    super(database);
    this.told = told;
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    Future<Void> committed = super.commit(statements, changes);
    return changes.isEmpty() ? committed : committed.onSuccess(stored -> told.accept(changes));
  }
}
