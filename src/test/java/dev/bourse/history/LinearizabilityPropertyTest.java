package dev.bourse.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.history.History.Row;
import dev.bourse.history.History.State;
import dev.bourse.history.History.Stored;
import dev.bourse.history.RecordedOperation.Kind;
import dev.bourse.history.RecordedOperation.Outcome;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a faultless service could have answered passes; one thing wrong in it is found. */
class LinearizabilityPropertyTest {
  private static final int HISTORIES = 150;

  private final long seed = Long.getLong("bourse.seed", System.nanoTime());
  private final String replay = "replay with -Dbourse.seed=" + seed;
  private final Random random = new Random(seed);

  private History any() {
    return ReferenceHistory.of(random, 200 + random.nextInt(200), 6, 2);
  }

  @Test
  void faultlessHistoriesPass() {
    for (int i = 0; i < HISTORIES; i++) {
      assertEquals(List.of(), LinearizabilityChecker.check(any()), replay);
    }
  }

  @Test
  void theTimeOfACheckDoesNotGrowWithTheSquareOfItsOperations() {
    History long_ = ReferenceHistory.of(random, 100_000, 16, 8);
    // CPU time, because the machine may stand still for seconds meanwhile.
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    assertEquals(List.of(), LinearizabilityChecker.check(long_), replay);
    long millis = (threads.getCurrentThreadCpuTime() - before) / 1_000_000;
    // A small machine takes 0.3 s, and a check of the square would take minutes.
    assertTrue(millis < 12_000, millis + " ms");
  }

  /** Ways to spoil a history, and what has to be said of it. */
  private enum Fault {
    ROW_MISSING(HistoryViolation.Kind.LOST) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write = history.anyAcknowledged(Kind.WRITE, random);
        history.trail.removeIf(
            row -> row.subject().equals(write.subject()) && row.version() == write.version());
      }
    },
    ROW_TWICE(HistoryViolation.Kind.DOUBLED) {
      @Override
      void plant(Spoiled history, Random random) {
        history.trail.add(history.trail.get(random.nextInt(history.trail.size())));
      }
    },
    WRITES_ROLLED_BACK(HistoryViolation.Kind.LOST) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write = history.anyAcknowledged(Kind.WRITE, random);
        history.trail.removeIf(
            row -> row.subject().equals(write.subject()) && row.version() >= write.version());
        String declared =
            history.trail.stream()
                .filter(row -> row.subject().equals(write.subject()))
                .max(Comparator.comparingLong(Row::version))
                .map(Row::what)
                .orElse(RecordedOperation.NOTHING);
        history.clusters.put(write.subject(), new State(write.version() - 1, declared));
      }
    },
    UPDATE_LOST(HistoryViolation.Kind.DOUBLED) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write = history.anyAcknowledged(Kind.WRITE, random);
        history.operations.add(
            new RecordedOperation(
                "x-1",
                write.process(),
                Kind.WRITE,
                write.subject(),
                write.invokedMicros(),
                write.completedMicros(),
                write.expected(),
                "another",
                Outcome.ACKNOWLEDGED,
                write.version(),
                ""));
      }
    },
    READ_STALE(HistoryViolation.Kind.STALE) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write = history.anyAcknowledged(Kind.WRITE, random);
        boolean isFirst = write.expected() == 0;
        history.operations.add(
            new RecordedOperation(
                "x-1",
                write.process(),
                Kind.READ,
                write.subject(),
                write.completedMicros() + 1,
                write.completedMicros() + 2,
                0,
                "",
                Outcome.ACKNOWLEDGED,
                write.expected(),
                isFirst
                    ? RecordedOperation.NOTHING
                    : history.trail.stream()
                        .filter(
                            row ->
                                row.subject().equals(write.subject())
                                    && row.version() == write.expected())
                        .findFirst()
                        .orElseThrow()
                        .what()));
      }
    },
    WRITE_TOO_LATE(HistoryViolation.Kind.OUT_OF_ORDER) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write =
            history.any(
                random,
                o ->
                    o.kind() == Kind.WRITE
                        && o.isAcknowledged()
                        && o.version() < history.version(o.subject()) - 5);
        long end = history.end();
        history.operations.set(
            history.operations.indexOf(write),
            new RecordedOperation(
                write.id(),
                write.process(),
                Kind.WRITE,
                write.subject(),
                end + 1,
                end + 2,
                write.expected(),
                write.sent(),
                Outcome.ACKNOWLEDGED,
                write.version(),
                ""));
      }
    },
    REFUSED_STORED(HistoryViolation.Kind.UNASKED) {
      @Override
      void plant(Spoiled history, Random random) {
        String cluster = history.clusters.keySet().iterator().next();
        long version = history.version(cluster);
        history.operations.add(history.refusal(cluster, version, "storage-full"));
        history.trail.add(new Row(Kind.WRITE, cluster, version + 1, "8 at 1"));
        history.clusters.put(cluster, new State(version + 1, "8 at 1"));
      }
    },
    REFUSED_WITHOUT_CAUSE(HistoryViolation.Kind.REFUSED_WITHOUT_CAUSE) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write =
            history.any(
                random,
                o ->
                    o.kind() == Kind.WRITE
                        && o.isAcknowledged()
                        && o.version() == history.version(o.subject()));
        history.operations.add(
            history.refusal(write.subject(), write.version(), "version-mismatch"));
      }
    },
    CONTENT_ALTERED(HistoryViolation.Kind.ALTERED) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation write = history.anyAcknowledged(Kind.WRITE, random);
        history.trail.replaceAll(
            row ->
                row.subject().equals(write.subject()) && row.version() == write.version()
                    ? new Row(row.kind(), row.subject(), row.version(), "another")
                    : row);
      }
    },
    MEMBER_LOST(HistoryViolation.Kind.LOST) {
      @Override
      void plant(Spoiled history, Random random) {
        String member = history.anyAcknowledged(Kind.ADD, random).sent();
        history.trail.removeIf(row -> row.what().equals(member));
        history.members.remove(member);
      }
    },
    MEMBER_STAYS(HistoryViolation.Kind.STALE) {
      @Override
      void plant(Spoiled history, Random random) {
        RecordedOperation remove = history.anyAcknowledged(Kind.REMOVE, random);
        history.operations.add(
            new RecordedOperation(
                "x-1",
                "q",
                Kind.LOOK,
                remove.subject(),
                remove.completedMicros() + ReferenceHistory.LAG + 1,
                remove.completedMicros() + ReferenceHistory.LAG + 2,
                0,
                remove.sent(),
                Outcome.ACKNOWLEDGED,
                0,
                RecordedOperation.PRESENT));
      }
    };

    private final HistoryViolation.Kind found;

    Fault(HistoryViolation.Kind found) {
      this.found = found;
    }

    abstract void plant(Spoiled history, Random random);
  }

  /** A history that can be changed. */
  private static final class Spoiled {
    final List<RecordedOperation> operations;
    final List<Row> trail;
    final Map<String, State> clusters;
    final Set<String> members;

    Spoiled(History history) {
      operations = new ArrayList<>(history.operations());
      trail = new ArrayList<>(history.stored().trail());
      clusters = new HashMap<>(history.stored().clusters());
      members = new HashSet<>(history.stored().sets().get("keys"));
    }

    History history() {
      return new History(
          ReferenceHistory.LAG,
          operations,
          List.of(),
          new Stored(clusters, Map.of("keys", members), trail));
    }

    long version(String cluster) {
      return Objects.requireNonNull(clusters.get(cluster)).version();
    }

    RecordedOperation any(Random random, Predicate<RecordedOperation> wanted) {
      List<RecordedOperation> all = operations.stream().filter(wanted).toList();
      return all.get(random.nextInt(all.size()));
    }

    RecordedOperation anyAcknowledged(Kind kind, Random random) {
      return any(random, o -> o.kind() == kind && o.isAcknowledged());
    }

    long end() {
      return operations.stream().mapToLong(RecordedOperation::completedMicros).max().orElse(0);
    }

    /** After all others were over. */
    RecordedOperation refusal(String cluster, long expected, String code) {
      long end = end();
      return new RecordedOperation(
          "x-1",
          "p",
          Kind.WRITE,
          cluster,
          end + 1,
          end + 2,
          expected,
          "8 at 1",
          Outcome.REFUSED,
          0,
          code);
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachFaultIsFound(Fault fault) {
    int planted = 0;
    for (int i = 0; i < HISTORIES; i++) {
      Spoiled spoiled = new Spoiled(any());
      boolean isPossible = true;
      try {
        fault.plant(spoiled, random);
      } catch (IllegalArgumentException none) {
        // A random history may lack what this fault needs; a few of so many do.
        isPossible = false;
      }
      if (isPossible) {
        planted++;
        List<HistoryViolation> found = LinearizabilityChecker.check(spoiled.history());
        assertTrue(
            found.stream().anyMatch(v -> v.kind() == fault.found),
            () -> fault + " is not in " + found + ", " + replay);
      }
    }
    assertTrue(planted > HISTORIES / 2, planted + " planted, " + replay);
  }
}
