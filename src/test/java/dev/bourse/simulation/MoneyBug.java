package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bugs of billing. */
enum MoneyBug implements Bug {
  /** Hours end by the clock of the process's own machine instead of the server's. */
  POSTS_BY_OWN_CLOCK {
    @Override
    <T> Future<List<T>> read(
        Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
      return sql.equals("SELECT " + store.clockSql())
          ? store.ask("SELECT CAST(? AS BIGINT)", List.of(slot.wall.millis()), mapper)
          : store.ask(sql, parameters, mapper);
    }
  },

  /** Hours that another process has posted are posted again. */
  HOUR_POSTED_TWICE {
    @Override
    Statement changed(Statement statement, Store store) {
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.replaceAll(
          value ->
              value instanceof String text && text.startsWith("usage:")
                  ? text + store.slot.index
                  : value);
      return new Statement(
          statement.sql().replace("INSERT INTO usage_line", "INSERT OR REPLACE INTO usage_line"),
          parameters,
          statement.refusal(),
          statement.demandedRows());
    }
  },

  /** A node is billed from its grant on, before it is usable. */
  ACTIVE_TIME_IGNORED {
    @Override
    <T> Future<List<T>> read(
        Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
      return store.ask(
          sql.replace(
              "gpus_per_node, a.active_at, a.reclaim_at",
              "gpus_per_node, a.granted_at, a.reclaim_at"),
          parameters,
          mapper);
    }
  },

  /** The clearing price is billed even above the ceiling. */
  CEILING_IGNORED {
    @Override
    <T> Future<List<T>> read(
        Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
      return store.ask(
          sql.replace("c.ceiling_cents AS cents", "99999 AS cents")
              .replace("a.ceiling_cents AS cents", "99999 AS cents"),
          parameters,
          mapper);
    }
  },

  /** A transaction does not change the balance. */
  BALANCE_NOT_MOVED {
    @Override
    boolean isLeftOut(Statement statement) {
      return statement.sql().contains("INTO ledger_account")
          && ("" + statement.parameters().get(0)).equals("revenue");
    }
  },

  /** Usage posted while a clock ran ahead is not reversed. */
  NOTHING_REVERSED {
    @Override
    <T> Future<List<T>> read(
        Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
      return store.ask(
          sql.replace("t.made_at > ?", "t.made_at > ? + 9999999999"), parameters, mapper);
    }
  },

  /** A reversed hour stays in its month's total. */
  TOTAL_NOT_REVERSED {
    @Override
    Statement changed(Statement statement, Store store) {
      return new Statement(
          statement.sql().replace("month_start = NULL, ", ""),
          statement.parameters(),
          statement.refusal(),
          statement.demandedRows());
    }
  },

  /** A stage is recorded as if it had been entered a minute earlier. */
  HOLD_HURRIES {
    @Override
    Statement changed(Statement statement, Store store) {
      if (!statement.sql().startsWith("UPDATE billing_org SET hold_stage = ?,")) {
        return statement;
      }
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.set(2, (Long) parameters.get(2) - 60_000);
      return new Statement(
          statement.sql(), parameters, statement.refusal(), statement.demandedRows());
    }
  },

  /** A lifted hold stays on the clusters. */
  HOLD_STAYS_ON_CLUSTERS {
    @Override
    Statement changed(Statement statement, Store store) {
      return new Statement(
          statement
              .sql()
              .replace(
                  "hold_stage = ?, hold_reason = ?, hold_enforce_after = ?",
                  "hold_stage = COALESCE(?, hold_stage), hold_reason = COALESCE(?, hold_reason),"
                      + " hold_enforce_after = COALESCE(?, hold_enforce_after)"),
          statement.parameters(),
          statement.refusal(),
          statement.demandedRows());
    }
  },

  /** The market ignores limits. */
  LIMIT_IGNORED {
    @Override
    <T> Future<List<T>> read(
        Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
      return store.ask(
          sql.startsWith("SELECT org_id FROM billing_org WHERE limit_micros IS NOT NULL")
              ? "SELECT org_id FROM billing_org WHERE 1 = 0"
              : sql,
          parameters,
          mapper);
    }
  },

  /** A repeated booking is booked again. */
  BOOKED_AGAIN {
    @Override
    Statement changed(Statement statement, Store store) {
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.replaceAll(
          value ->
              value instanceof String text
                      && (text.startsWith("credit:") || text.startsWith("payment:"))
                  ? text.replaceFirst(":", ":" + store.slot.index + "-" + store.commits + ":")
                  : value);
      return new Statement(
          statement.sql(), parameters, statement.refusal(), statement.demandedRows());
    }
  };

  /** The store in which a bug is planted, without the bug. */
  static final class Store extends ForwardingDatabase {
    private final MoneyBug bug;
    private final World.Slot slot;
    private int commits;

    Store(Database store, MoneyBug bug, World.Slot slot) {
      super(store);
      this.bug = bug;
      this.slot = slot;
    }

    <T> Future<List<T>> ask(String sql, List<?> parameters, RowMapper<T> mapper) {
      return super.read(sql, parameters, mapper);
    }

    @Override
    public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
      return bug.read(this, slot, sql, parameters, mapper);
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      commits++;
      List<Statement> changed = new ArrayList<>();
      for (Statement statement : statements) {
        if (!bug.isLeftOut(statement)) {
          changed.add(bug.changed(statement, this));
        }
      }
      return super.commit(changed, changes);
    }
  }

  <T> Future<List<T>> read(
      Store store, World.Slot slot, String sql, List<?> parameters, RowMapper<T> mapper) {
    return store.ask(sql, parameters, mapper);
  }

  boolean isLeftOut(Statement statement) {
    return false;
  }

  Statement changed(Statement statement, Store store) {
    return statement;
  }

  @Override
  public Database around(Database store, World world, World.Slot slot) {
    return new Store(store, this, slot);
  }
}
