package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/** Bugs of trails. */
enum TrailBug implements Bug {
  /** Reads whose commit was stored although its answer was lost are stored again. */
  READS_STORED_TWICE {
    @Override
    boolean isLeftOut(Statement statement) {
      return statement.sql().contains("audit_read_batch");
    }
  },

  /** Reads are assumed stored, whatever the outcome of their commit. */
  READS_NOT_TRIED_AGAIN {
    @Override
    Future<Void> answered(List<Statement> statements, Future<Void> commit) {
      return statements.stream().anyMatch(s -> s.sql().contains("INTO audit_read_batch"))
          ? commit.otherwiseEmpty()
          : commit;
    }
  },

  /** A declaration is stored without its row. */
  TRAIL_ROW_DROPPED {
    @Override
    boolean isLeftOut(Statement statement) {
      return statement.sql().contains("INTO audit (")
          && statement.parameters().contains("vm_capacity_put");
    }
  },

  /** A page begins with the newest row, although older ids may appear later. */
  PAGES_NOT_SETTLED {
    @Override
    Future<Long> settledTrail(Database store, long enough) {
      return store
          .read(
              "SELECT COALESCE(MAX(id), 0) AS found FROM audit",
              List.of(),
              row -> row.integer("found"))
          .map(rows -> rows.get(0));
    }
  },

  /** Rows count as settled before they are stored. */
  SEALS_TOO_EARLY {
    @Override
    Future<Long> settledTrail(Database store, long enough) {
      // Pages request a lower bound.
      return store.settledTrail(enough).map(id -> enough == Long.MAX_VALUE ? id + 20 : id);
    }
  },

  /** Old rows of reads are compacted although they are sealed. */
  SEALED_ROW_CHANGED {
    @Override
    List<Statement> more(List<Statement> statements) {
      return statements.stream().anyMatch(s -> s.sql().contains("INTO audit_seal "))
          ? List.of(
              Statement.of(
                  "UPDATE audit SET detail = '-' WHERE is_read = 1"
                      + " AND id < (SELECT MAX(through_id) FROM audit_sealed) - 10"))
          : List.of();
    }
  },

  /** A release is not recorded in the activity. */
  RELEASE_NOT_TOLD {
    @Override
    boolean isLeftOut(Statement statement) {
      return statement.sql().contains("INTO activity")
          && statement.parameters().stream().anyMatch(v -> "released".equals(v));
    }
  };

  boolean isLeftOut(Statement statement) {
    return false;
  }

  List<Statement> more(List<Statement> statements) {
    return List.of();
  }

  Future<Void> answered(List<Statement> statements, Future<Void> commit) {
    return commit;
  }

  Future<Long> settledTrail(Database store, long enough) {
    return store.settledTrail(enough);
  }

  @Override
  public Database around(Database store, World world, World.Slot slot) {
    return new ForwardingDatabase(store) {
      @Override
      public Future<Void> commit(List<Statement> statements, List<Change> changes) {
        List<Statement> changed = new ArrayList<>(statements);
        changed.removeIf(TrailBug.this::isLeftOut);
        changed.addAll(more(statements));
        return answered(statements, super.commit(changed, changes));
      }

      @Override
      public Future<Long> settledTrail(long enough) {
        return TrailBug.this.settledTrail(store, enough);
      }
    };
  }
}
