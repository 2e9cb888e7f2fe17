package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;

/** Bugs of the change feed, of commits' answers, and of revocations. */
@SuppressWarnings("ImmutableEnumChecker") // what a bug keeps, it keeps by the world.
enum AccessBug implements Bug {
  /** Some changes are never delivered, and no gap is reported. */
  FEED_DROPS_A_CHANGE {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        private int told;

        @Override
        public void listen(ChangeListener listener) {
          super.listen(
              new ChangeListener() {
                @Override
                public void changed(Change change) {
                  if (++told % 20 != 0) {
                    listener.changed(change);
                  }
                }

                @Override
                public void missed() {
                  listener.missed();
                }

                @Override
                public void heardUntil(long nanoTime) {
                  listener.heardUntil(nanoTime);
                }
              });
        }
      };
    }
  },

  /** Reads show the store as of some seconds ago, like a lagging standby. */
  READS_LAG {
    private final Map<World, Standby> standbys = Collections.synchronizedMap(new WeakHashMap<>());

    @Override
    public void begin(World world) {
      try {
        Standby standby = new Standby(new DatabaseServer(world.serverClock, world.data()));
        standbys.put(world, standby);
        world.server.watch(
            (process, statements) ->
                standby.log.add(new Logged(world.scheduler.nowMillis(), statements)));
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public Database around(Database store, World world, World.Slot slot) {
      Standby standby = Objects.requireNonNull(standbys.get(world));
      return new ForwardingDatabase(store) {
        @Override
        public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
          return super.read("SELECT 1", List.of(), row -> true)
              .map(
                  answered ->
                      standby
                          .asOf(world.scheduler.nowMillis() - LAG_MILLIS)
                          .read(sql, parameters, mapper));
        }
      };
    }
  },

  /** A commit is acknowledged before it is executed; a crash or a lost message loses it. */
  ACKNOWLEDGED_BEFORE_STORED {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      Replica process = slot.replica;
      return new ForwardingDatabase(store) {
        @Override
        public Future<Void> commit(List<Statement> statements, List<Change> changes) {
          // Guarded commits wait for their result, as on an engine without flushes.
          if (process == null || statements.stream().anyMatch(s -> s.refusal() != null)) {
            return super.commit(statements, changes);
          }
          process.afterMillis(50, () -> super.commit(statements, changes));
          return Future.succeededFuture();
        }
      };
    }
  },

  /** A commit whose answer was lost is reported as certainly not stored. */
  LOST_ANSWER_MEANS_FAILED {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public Future<Void> commit(List<Statement> statements, List<Change> changes) {
          return super.commit(statements, changes)
              .recover(
                  e ->
                      Future.failedFuture(
                          e instanceof StoreUnavailableException
                              ? new StoreUnavailableException("away", null)
                              : e));
        }
      };
    }
  },

  /** An organization is retired but its tokens stay valid. */
  ORGANIZATION_RETIRED_BUT_TOKENS_LIVE {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public Future<Void> commit(List<Statement> statements, List<Change> changes) {
          boolean retires =
              statements.stream().anyMatch(s -> s.sql().contains("SET retired_at = ?"));
          return super.commit(
              retires
                  ? statements.stream().filter(s -> !s.sql().startsWith("UPDATE token")).toList()
                  : statements,
              changes);
        }
      };
    }
  },

  /** A starting process accepts tokens that were revoked before. */
  REVOCATION_FORGOTTEN_AT_RESTART {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
          return super.read(
              parameters.isEmpty() && sql.contains("FROM token")
                  ? sql.replace("revoked_at IS NULL", "1 = 1")
                  : sql,
              parameters,
              mapper);
        }
      };
    }
  };

  private static final long LAG_MILLIS = 4_000;

  /** A commit and when it was stored. */
  private record Logged(long atMillis, List<Statement> statements) {}

  /** A second server that executes the commits of the first with a delay. */
  private static final class Standby {
    final ArrayDeque<Logged> log = new ArrayDeque<>();
    private final DatabaseServer server;

    Standby(DatabaseServer server) {
      this.server = server;
    }

    DatabaseServer asOf(long millis) {
      Logged next = log.peek();
      while (next != null && next.atMillis <= millis) {
        server.carryOut(next.statements);
        log.remove();
        next = log.peek();
      }
      return server;
    }
  }
}
