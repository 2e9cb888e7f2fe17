package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bugs of clusters' alerts. */
enum AlertBug implements Bug {
  /** A raised alert is stored but not published. */
  ALERT_NOT_TOLD {
    @Override
    List<Statement> changed(List<Statement> statements) {
      return statements.stream().filter(s -> AlertInvariants.told(List.of(s)).isEmpty()).toList();
    }
  },

  /** A published alert is not stored, so that it is published again. */
  ALERT_NOT_STORED {
    @Override
    List<Statement> changed(List<Statement> statements) {
      return forgetting(statements);
    }
  },

  /** Every other read of a budget's accrued spending is empty, so that the spending alternates. */
  SPENT_COMES_AND_GOES {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        private int readings;

        @Override
        public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
          boolean isAccrual =
              sql.contains("a.active_at, a.reclaim_at")
                  && !isWholeHour(parameters.get(parameters.size() - 1));
          return isAccrual && readings++ % 2 == 1
              ? Future.succeededFuture(List.of())
              : super.read(sql, parameters, mapper);
        }
      };
    }

    /** Reads for budgets start when the budgets were set, all others on the hour. */
    private boolean isWholeHour(Object fromMillis) {
      return (Long) fromMillis % 3_600_000 == 0;
    }
  };

  List<Statement> changed(List<Statement> statements) {
    return statements;
  }

  private static List<Statement> forgetting(List<Statement> statements) {
    List<Statement> changed = new ArrayList<>();
    for (Statement statement : statements) {
      if (!statement.sql().startsWith("UPDATE cluster SET")) {
        changed.add(statement);
        continue;
      }
      List<@Nullable Object> parameters = new ArrayList<>(statement.parameters());
      parameters.replaceAll(AlertBug::forgotten);
      changed.add(
          new Statement(
              statement.sql(), parameters, statement.refusal(), statement.demandedRows()));
    }
    return changed;
  }

  private static @Nullable Object forgotten(@Nullable Object parameter) {
    return parameter instanceof String text && text.startsWith("{") && text.contains("\"raised\"")
        ? new JsonObject(text).put("raised", new JsonArray()).encode()
        : parameter;
  }

  @Override
  public Database around(Database store, World world, World.Slot slot) {
    return new ForwardingDatabase(store) {
      @Override
      public Future<Void> commit(List<Statement> statements, List<Change> changes) {
        return super.commit(changed(statements), changes);
      }
    };
  }
}
