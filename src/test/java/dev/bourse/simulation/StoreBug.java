package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/** Bugs of how the store is used. */
enum StoreBug implements Bug {
  /** A cluster is written whatever its revision is: the write of another process is lost. */
  REVISION_NOT_DEMANDED {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public Future<Void> commit(List<Statement> statements, List<Change> changes) {
          List<Statement> unguarded = new ArrayList<>();
          for (Statement statement : statements) {
            unguarded.add(
                statement.sql().endsWith(" AND revision = ?")
                    ? new Statement(
                        statement.sql().replace(" AND revision = ?", " AND revision >= ? - 1000"),
                        statement.parameters(),
                        null,
                        0)
                    : statement);
          }
          return super.commit(unguarded, changes);
        }
      };
    }
  }
}
