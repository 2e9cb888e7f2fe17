package dev.bourse.testing;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The statements that services ran on the store of one data folder: the text of each, for {@link
 * StatementPlans}, and where they are to be replayed every commit in its order, with its outcome,
 * and the last query of each text, for {@link PostgresReplay}.
 */
final class StatementRecord {
  /** A commit in the order in which it reached the store, and what became of it. */
  record Commit(List<Statement> statements, Future<Void> outcome) {}

  /** A query, with the function that reads its rows. */
  record Query<T>(String sql, List<?> parameters, RowMapper<T> mapper) {}

  private final boolean isReplayed;
  private @Nullable Database store;
  private final Set<String> texts = ConcurrentHashMap.newKeySet();
  private final List<Commit> commits = new ArrayList<>();
  private final Map<String, Query<?>> queries = new LinkedHashMap<>();

  /**
   * Creates an empty record.
   *
   * @param isReplayed whether commits and queries are kept, besides their texts
   */
  StatementRecord(boolean isReplayed) {
    this.isReplayed = isReplayed;
  }

  /** Returns the store of a service with its statements recorded. */
  synchronized Database around(Database engine) {
    store = engine;
    return new Recording(engine, true);
  }

  /** Returns the same store for a test's own statements, whose plans do not matter. */
  synchronized Database forTest() {
    return new Recording(engine(), false);
  }

  boolean isReplayed() {
    return isReplayed;
  }

  /** Returns the recorded engine's {@link Database#newTrailIdsSql}. */
  synchronized String trailIdsSql() {
    return engine().newTrailIdsSql();
  }

  /** Returns the recorded engine's {@link Database#clockSql}. */
  synchronized String clockSql() {
    return engine().clockSql();
  }

  private Database engine() {
    return Objects.requireNonNull(store, "no service has started");
  }

  Set<String> texts() {
    return texts;
  }

  /** Returns the commits so far; only once the services have stopped. */
  synchronized List<Commit> commits() {
    return List.copyOf(commits);
  }

  /** Returns the last query of each text; only once the services have stopped. */
  synchronized List<Query<?>> queries() {
    return List.copyOf(queries.values());
  }

  /**
   * Replaces the engine's clock by the time of the call, so that the replay stores the same times.
   * Commits are recorded under the lock under which they are queued, because the store carries them
   * out in the order of its queue.
   */
  private final class Recording extends ForwardingDatabase {
    private final String clock;
    private final boolean isExplained;

    Recording(Database store, boolean isExplained) {
      super(store);
      clock = store.clockSql();
      this.isExplained = isExplained;
    }

    @Override
    public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
      note(sql);
      if (isReplayed) {
        synchronized (StatementRecord.this) {
          queries.put(sql, new Query<>(atNow(sql), List.copyOf(parameters), mapper));
        }
      }
      return super.read(sql, parameters, mapper);
    }

    @Override
    public Future<Void> commit(List<Statement> statements, List<Change> changes) {
      statements.forEach(statement -> note(statement.sql()));
      if (!isReplayed) {
        return super.commit(statements, changes);
      }
      List<Statement> timed = statements.stream().map(this::atNow).toList();
      synchronized (StatementRecord.this) {
        Future<Void> outcome = super.commit(timed, changes);
        commits.add(new Commit(timed, outcome));
        return outcome;
      }
    }

    private void note(String sql) {
      if (isExplained) {
        texts.add(sql);
      }
    }

    private Statement atNow(Statement statement) {
      return new Statement(
          atNow(statement.sql()),
          statement.parameters(),
          statement.refusal(),
          statement.demandedRows(),
          statement.appends());
    }

    private String atNow(String sql) {
      return sql.contains(clock)
          ? sql.replace(clock, String.valueOf(System.currentTimeMillis()))
          : sql;
    }
  }
}
