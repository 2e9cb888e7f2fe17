package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The simulated database server: one engine that all processes reach over their links, with a clock
 * of its own and a log of its commits. It executes one operation at a time. Another server may
 * replace it, with all stored data or with an earlier state.
 */
final class DatabaseServer implements AutoCloseable {
  /** The server's clock, as an SQL expression. */
  static final String CLOCK_SQL = "(SELECT millis FROM simulated_clock)";

  /** A stored commit: its process and its changes. */
  private record Entry(String process, List<Change> changes) {}

  /** Is called after every stored commit, in order. */
  interface Watcher {
    void stored(String process, List<Statement> statements);
  }

  /**
   * A position in the log: a number of commits within a session.
   *
   * @param session number of earlier servers
   */
  record Position(int session, int commits) {}

  /** The state of a server at a moment, like that of a standby that stopped following. */
  record Image(MemoryEngine.Image rows, Position position, long lastTrailId, long atNanos) {}

  /** A commit request, which the server recognizes when it is repeated. */
  static final class Order {
    private final String process;
    private final List<Statement> statements;
    private final List<Change> changes;
    private final int session;
    private TrailNumbers.Numbered numbered;
    private Position stored;
    private boolean isForbidden;

    private Order(String process, List<Statement> statements, List<Change> changes, int session) {
      this.process = process;
      this.statements = statements;
      this.changes = changes;
      this.session = session;
      numbered = new TrailNumbers.Numbered(statements, 0);
      stored = NOWHERE;
    }

    List<Statement> statements() {
      return statements;
    }
  }

  /** The outcome of a commit whose answer was lost. */
  enum Outcome {
    STORED,
    /** It is not stored and never will be. */
    NOT_STORED,
    /** It is in progress. */
    OPEN
  }

  private static final Position NOWHERE = new Position(-1, 0);

  private final MemoryEngine engine;
  private final SimulatedClock clock;
  private final Path data;
  private final List<Entry> log = new ArrayList<>();
  private final List<Order> underWay = new ArrayList<>();
  private final List<Watcher> watchers = new ArrayList<>();
  private final TrailNumbers trail = new TrailNumbers();

  /** The target of each set-back; its session is the one that the set-back started. */
  private final List<Position> setBacks = new ArrayList<>();

  private int session;
  private long setMillis;

  /** Whether outcomes are settled without preventing a later commit: a bug. */
  boolean settlesWithoutTombstone;

  /**
   * @param data a folder for images, which the caller deletes
   */
  DatabaseServer(SimulatedClock clock, Path data) throws Exception {
    this.clock = clock;
    this.data = data;
    engine = MemoryEngine.migrated();
    engine.commit(
        List.of(
            Statement.of("CREATE TABLE simulated_clock (millis INTEGER)"),
            Statement.of("INSERT INTO simulated_clock VALUES (0)")));
  }

  void watch(Watcher watcher) {
    watchers.add(watcher);
  }

  /** Returns the engine, for checks from outside the simulation. */
  MemoryEngine engine() {
    return engine;
  }

  <T> List<T> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    if (sql.contains(CLOCK_SQL)) {
      setClock();
    }
    return engine.query(sql, parameters, mapper);
  }

  /**
   * Increases when another server takes over; requests in progress at the previous one are lost.
   */
  int session() {
    return session;
  }

  /** Creates the request of a commit that is sent now. */
  Order order(String process, List<Statement> statements, List<Change> changes) {
    return new Order(process, statements, changes, session);
  }

  /** Returns true if a commit may begin: it was sent to this server and not forbidden. */
  boolean admits(Order order) {
    return order.session == session && !order.isForbidden;
  }

  /** Begins a commit that has arrived; others may be stored before it. */
  void begin(Order order) {
    order.numbered = trail.begin(order.statements);
    underWay.add(order);
  }

  /** Returns true if a commit that began was not lost with its server. */
  boolean isUnderWay(Order order) {
    return underWay.contains(order);
  }

  /** Rolls back a commit that began. */
  void abort(Order order) {
    underWay.remove(order);
    trail.end(order.numbered);
    order.isForbidden = true;
  }

  /** Stores a commit that began, and publishes its changes. */
  void commit(Order order) {
    underWay.remove(order);
    trail.end(order.numbered);
    List<Statement> statements = order.numbered.statements();
    try {
      carryOut(statements);
    } catch (RuntimeException e) {
      order.isForbidden = true;
      throw e;
    }
    log.add(new Entry(order.process, order.changes));
    order.stored = position();
    watchers.forEach(watcher -> watcher.stored(order.process, statements));
  }

  /** Returns the outcome of a commit; one that has not begun is forbidden from now on. */
  Outcome settle(Order order) {
    if (order.stored.session >= 0) {
      return hasLost(order.stored) ? Outcome.NOT_STORED : Outcome.STORED;
    }
    if (underWay.contains(order)) {
      return settlesWithoutTombstone ? Outcome.NOT_STORED : Outcome.OPEN;
    }
    order.isForbidden = !settlesWithoutTombstone;
    return Outcome.NOT_STORED;
  }

  /** Returns the log position of a stored commit. */
  Position positionOf(Order order) {
    return order.stored;
  }

  /** Returns the end of the log. */
  Position position() {
    return new Position(session, log.size());
  }

  /** Returns true if anything up to a log position was lost since. */
  boolean hasLost(Position position) {
    for (Position setBack : setBacks) {
      if (setBack.session > position.session && setBack.commits < position.commits) {
        return true;
      }
    }
    return false;
  }

  /** Returns true if it was ever set back. */
  boolean wasSetBack() {
    return !setBacks.isEmpty();
  }

  /** Returns the present state, at a moment of true time. */
  Image image(long atNanos) {
    return new Image(engine.image(data), position(), trail.last(), atNanos);
  }

  /** Another server takes over with all stored data. */
  void switchOver() {
    session++;
    underWay.clear();
    trail.restart(trail.last());
  }

  /**
   * Another server takes over with the state of an image.
   *
   * @return false if the image is of a lost past, and nothing was done
   */
  boolean setBack(Image image) {
    if (hasLost(image.position)) {
      return false;
    }
    session++;
    underWay.clear();
    engine.restore(image.rows);
    setMillis = Long.MIN_VALUE;
    log.subList(image.position.commits, log.size()).clear();
    setBacks.add(position());
    trail.restart(image.lastTrailId);
    return true;
  }

  /** Returns the newest trail id below which no commit in progress can add a row. */
  long settledTrail() {
    return trail.settled();
  }

  /** Executes statements that another server has stored, without publishing changes. */
  void carryOut(List<Statement> statements) {
    for (Statement statement : statements) {
      if (statement.sql().contains(CLOCK_SQL)) {
        setClock();
        break;
      }
    }
    engine.commit(statements);
  }

  private void setClock() {
    long now = clock.millis();
    if (now != setMillis) {
      engine.commit(List.of(Statement.of("UPDATE simulated_clock SET millis = ?", now)));
      setMillis = now;
    }
  }

  /** Returns the changes of other processes after a log position, of which nothing is lost. */
  List<Change> news(String process, Position from) {
    List<Change> news = new ArrayList<>();
    for (Entry entry : log.subList(from.commits, log.size())) {
      if (!entry.process.equals(process)) {
        news.addAll(entry.changes);
      }
    }
    return news;
  }

  @Override
  public void close() {
    engine.close();
  }
}
