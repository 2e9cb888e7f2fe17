package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.util.ArrayList;
import java.util.List;

/**
 * The database server of a simulation: one engine that all processes reach by their links, with a
 * clock of its own and a log of what each commit told. It carries out one thing at a time.
 */
final class DatabaseServer implements AutoCloseable {
  /** What the server's clock says, as an expression of SQL. */
  static final String CLOCK_SQL = "(SELECT millis FROM simulated_clock)";

  /** A change and the process that told it. */
  record Told(String process, Change change) {}

  /** Hears of every commit that is stored, in order. */
  interface Watcher {
    void stored(String process, List<Statement> statements);
  }

  private final MemoryEngine engine;
  private final SimulatedClock clock;
  private final List<Told> log = new ArrayList<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final TrailNumbers trail = new TrailNumbers();
  private long setMillis;

  DatabaseServer(SimulatedClock clock) throws Exception {
    this.clock = clock;
    engine = MemoryEngine.migrated();
    engine.commit(
        List.of(
            Statement.of("CREATE TABLE simulated_clock (millis INTEGER)"),
            Statement.of("INSERT INTO simulated_clock VALUES (0)")));
  }

  void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  /** The engine itself, for what looks at a simulation from outside. */
  MemoryEngine engine() {
    return engine;
  }

  <T> List<T> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    if (sql.contains(CLOCK_SQL)) {
      setClock();
    }
    return engine.query(sql, parameters, mapper);
  }

  /** A commit has arrived; others may be stored before it. */
  TrailNumbers.Numbered begin(List<Statement> statements) {
    return trail.begin(statements);
  }

  /** The newest id of the trail up to which no commit under way can bring a row. */
  long settledTrail() {
    return trail.settled();
  }

  /** Carries out what another server has stored; nobody is told. */
  void carryOut(List<Statement> statements) {
    for (Statement statement : statements) {
      if (statement.sql().contains(CLOCK_SQL)) {
        setClock();
        break;
      }
    }
    engine.commit(statements);
  }

  /** Stores a commit that has arrived and tells of it. */
  void commit(String process, TrailNumbers.Numbered commit, List<Change> changes) {
    List<Statement> statements = commit.statements();
    trail.end(commit);
    carryOut(statements);
    changes.forEach(change -> log.add(new Told(process, change)));
    watchers.forEach(watcher -> watcher.stored(process, statements));
  }

  private void setClock() {
    long now = clock.millis();
    if (now != setMillis) {
      engine.commit(List.of(Statement.of("UPDATE simulated_clock SET millis = ?", now)));
      setMillis = now;
    }
  }

  /** How many changes were told so far. */
  int told() {
    return log.size();
  }

  /** What others than this process told from a position on. */
  List<Change> news(String process, int from) {
    List<Change> news = new ArrayList<>();
    for (Told told : log.subList(from, log.size())) {
      if (!told.process.equals(process)) {
        news.add(told.change);
      }
    }
    return news;
  }

  @Override
  public void close() {
    engine.close();
  }
}
