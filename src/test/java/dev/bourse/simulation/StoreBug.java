package dev.bourse.simulation;

import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Bugs of the use of the store. */
enum StoreBug implements Bug {
  /** A cluster is written regardless of its revision, so another process's write is lost. */
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
                        statement
                            .sql()
                            .replace(" AND revision = ?", " AND revision >= ? - 4294967296000"),
                        statement.parameters(),
                        null,
                        0)
                    : statement);
          }
          return super.commit(unguarded, changes);
        }
      };
    }
  },

  /** A commit whose answer was lost is assumed lost, and may be stored later. */
  TOMBSTONE_SKIPPED {
    @Override
    public void begin(World world) {
      world.server.settlesWithoutTombstone = true;
    }
  },

  /** Two states of a cluster with the same number are assumed equal, even of different writers. */
  COMPARED_BY_NUMBER {
    @Override
    public RandomGenerator around(RandomGenerator random) {
      return new RandomGenerator() {
        /** Distinguishes two states with the same number. */
        @Override
        public int nextInt() {
          return 0;
        }

        @Override
        public int nextInt(int bound) {
          return random.nextInt(bound);
        }

        @Override
        public int nextInt(int origin, int bound) {
          return random.nextInt(origin, bound);
        }

        @Override
        public long nextLong() {
          return random.nextLong();
        }
      };
    }
  },

  /** A process that finds the database set back keeps its state. */
  SET_BACK_IGNORED {
    @Override
    public Database around(Database store, World world, World.Slot slot) {
      return new ForwardingDatabase(store) {
        @Override
        public void listen(ChangeListener listener) {
          super.listen(
              new ChangeListener() {
                @Override
                public void changed(Change change) {
                  listener.changed(change);
                }

                @Override
                public void missed() {
                  if (!world.server.wasSetBack()) {
                    listener.missed();
                  }
                }

                @Override
                public void heardUntil(long nanoTime) {
                  listener.heardUntil(nanoTime);
                }
              });
        }
      };
    }
  }
}
