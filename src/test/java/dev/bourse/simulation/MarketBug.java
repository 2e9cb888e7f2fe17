package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bugs of the market's use of the store. */
enum MarketBug implements Bug {
  /** A market's commits do not require that the process still has the lease. */
  NO_FENCE {
    @Override
    @Nullable Statement change(Statement statement) {
      return statement.sql().startsWith("UPDATE lease SET epoch = epoch") ? null : statement;
    }
  },

  /** The expiry of a lease is judged by the caller's own clock. */
  LEASE_BY_OWN_CLOCK {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public String clockSql() {
          return String.valueOf(slot.wall.millis());
        }
      };
    }
  },

  /** A grant does not require that its node was not retired concurrently. */
  NODE_GRANTED_AFTER_RETIREMENT {
    @Override
    @Nullable Statement change(Statement statement) {
      return statement
              .sql()
              .startsWith("UPDATE node SET cordoned = cordoned WHERE node_id = ? AND r")
          ? null
          : statement;
    }
  },

  /** Prices written while a clock ran ahead stay. */
  PRICES_AHEAD_KEPT {
    @Override
    @Nullable Statement change(Statement statement) {
      return statement.sql().startsWith("DELETE FROM price_point") ? null : statement;
    }
  },

  /** A price that is stored before others does not update their sums. */
  SUMS_NOT_CARRIED_ON {
    @Override
    @Nullable Statement change(Statement statement) {
      return statement.sql().startsWith("UPDATE price_point SET") ? null : statement;
    }
  },

  /** A node that becomes ready is not protected. */
  PROTECTION_LOST {
    private static final int STATE = 0;
    private static final int PROTECTED_UNTIL = 3;

    @Override
    Statement change(Statement statement) {
      if (!statement.sql().startsWith("UPDATE allocation SET state = ?")
          || !"ACTIVE".equals(statement.parameters().get(STATE))) {
        return statement;
      }
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.set(PROTECTED_UNTIL, null);
      return new Statement(
          statement.sql(), parameters, statement.refusal(), statement.demandedRows());
    }
  },

  /** A notice is given and not stored, so that the next process of the market gives it again. */
  NOTICE_NOT_STORED {
    private static final int REASON = 11;
    private static final int ENDS_AT = 12;

    @Override
    Statement change(Statement statement) {
      if (!statement.sql().startsWith("UPDATE allocation SET state = ?")) {
        return statement;
      }
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.set(REASON, null);
      parameters.set(ENDS_AT, null);
      return new Statement(
          statement.sql(), parameters, statement.refusal(), statement.demandedRows());
    }
  },

  /** A ready node is active although its gang is not complete. */
  READY_IS_ACTIVE {
    private static final int STATE = 0;
    private static final int ACTIVE_AT = 2;
    private static final int READY_AT = 13;

    @Override
    Statement change(Statement statement) {
      if (!statement.sql().startsWith("UPDATE allocation SET state = ?")
          || statement.parameters().get(READY_AT) == null) {
        return statement;
      }
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.set(STATE, "ACTIVE");
      parameters.set(ACTIVE_AT, parameters.get(READY_AT));
      return new Statement(
          statement.sql(), parameters, statement.refusal(), statement.demandedRows());
    }
  };

  /** Returns the statement with this bug; null to drop it. */
  @Nullable Statement change(Statement statement) {
    return statement;
  }

  @Override
  public Database around(Database store, World world, World.Slot slot) {
    return new ForwardingDatabase(store) {
      @Override
      public Future<Void> commit(List<Statement> statements, List<Change> changes) {
        List<Statement> changed = new ArrayList<>();
        for (Statement statement : statements) {
          Statement kept = change(statement);
          if (kept != null) {
            changed.add(kept);
          }
        }
        return super.commit(changed, changes);
      }
    };
  }
}
