package dev.bourse.simulation;

import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Invariants of clusters' alerts. */
final class AlertInvariants {
  private AlertInvariants() {}

  static List<Invariant> all(AllocationLog log) {
    return List.of(new AlertsAreToldOnce(log), new AlertsAreRaised(log));
  }

  /** A cluster's stored alerts and the values that they depend on. */
  private record Stored(
      String cluster, @Nullable String alerts, long version, long maxGpus, @Nullable Long until) {

    TreeSet<String> raised() {
      TreeSet<String> raised = new TreeSet<>();
      if (alerts != null) {
        new JsonObject(alerts).getJsonArray("raised").forEach(kind -> raised.add((String) kind));
      }
      return raised;
    }

    /** Returns a threshold; null if the alert is off. */
    @Nullable Long from(String field) {
      return alerts == null ? null : new JsonObject(alerts).getLong(field);
    }

    /** Returns the thresholds alone. */
    String thresholds() {
      return alerts == null ? "" : new JsonObject(alerts).put("raised", new JsonArray()).encode();
    }
  }

  private static List<Stored> stored(MemoryEngine engine) {
    return engine.query(
        "SELECT name, alerts, version, COALESCE(max_gpus, 0) AS wanted, until_at FROM cluster"
            + " ORDER BY name",
        List.of(),
        row ->
            new Stored(
                row.text("name"),
                row.textOrNull("alerts"),
                row.integer("version"),
                row.integer("wanted"),
                row.integerOrNull("until_at")));
  }

  /** A published alert. */
  record Told(String cluster, String kind) {}

  /** Returns the alerts that statements add to the activity. */
  static List<Told> told(List<Statement> statements) {
    List<Told> told = new ArrayList<>();
    for (Statement statement : statements) {
      if (!statement.sql().startsWith("INSERT INTO activity")) {
        continue;
      }
      List<@Nullable Object> values = statement.parameters();
      for (Object value : values) {
        if (value instanceof String event && event.startsWith("alert-")) {
          told.add(new Told(String.valueOf(values.get(1)), event.substring("alert-".length())));
        }
      }
    }
    return told;
  }

  /**
   * An alert is published when it is raised, in the same commit, and at no other time, whichever
   * process runs the market. It is raised again only after it was cleared: an approaching end or
   * spent money only by another declaration; a price only after it fell by the margin.
   */
  static final class AlertsAreToldOnce extends Invariant {
    private static final int MARGIN_PERCENT = 5;

    /** A publication: its time, process and reason. */
    private record Word(
        String process, long atNanos, long version, String thresholds, boolean wasOver) {
      Word over() {
        return new Word(process, atNanos, version, thresholds, true);
      }
    }

    private final AllocationLog log;
    private final Map<String, Stored> last = new HashMap<>();
    private final Map<Told, Word> words = new HashMap<>();

    AlertsAreToldOnce(AllocationLog log) {
      this.log = log;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      for (Statement statement : statements) {
        if (statement.sql().startsWith("INSERT INTO price_point")
            || statement.sql().startsWith("INSERT INTO org_price_point")) {
          priced(world.server.engine());
        }
      }
      if (!touches(statements, "UPDATE cluster SET")) {
        return;
      }
      List<Told> told = told(statements);
      for (Stored now : stored(world.server.engine())) {
        Stored before = last.put(now.cluster(), now);
        if (now.equals(before) && told.isEmpty()) {
          continue;
        }
        TreeSet<String> raised = now.raised();
        if (before != null) {
          raised.removeAll(before.raised());
        }
        List<String> words =
            told.stream()
                .filter(word -> word.cluster().equals(now.cluster()))
                .map(Told::kind)
                .sorted()
                .toList();
        if (!List.copyOf(raised).equals(words)) {
          throw violated(
              "{}: {} was published when {} became {}", now.cluster(), words, before, now);
        }
        for (String kind : words) {
          judge(world, process, now, kind);
        }
      }
    }

    private void judge(World world, String process, Stored now, String kind) {
      long nanos = world.scheduler.nowNanos();
      Told what = new Told(now.cluster(), kind);
      Word before =
          words.put(what, new Word(process, nanos, now.version(), now.thresholds(), false));
      if (before == null
          || !before.thresholds.equals(now.thresholds())
          || !log.areClocksRight(world)) {
        return;
      }
      boolean isAgain =
          switch (kind) {
            case "lease", "spend" -> before.version == now.version();
            // Nothing is known here of a price that could not be stored.
            case "price" ->
                !before.wasOver
                    && before.process.equals(process)
                    && quietNanos(world) > nanos - before.atNanos;
            default -> false;
          };
      if (isAgain) {
        throw violated(
            "{}: its {} was published {} ms ago, and was not cleared since",
            now,
            kind,
            (nanos - before.atNanos) / 1_000_000);
      }
    }

    /** Returns how long all links to the database have worked without faults. */
    private static long quietNanos(World world) {
      long last = 0;
      for (World.Slot slot : world.slots()) {
        last = Math.max(last, slot.route.lastTroubleNanos());
      }
      return world.scheduler.nowNanos() - last;
    }

    private void priced(MemoryEngine engine) {
      words.replaceAll(
          (told, word) -> {
            if (!told.kind().equals("price")) {
              return word;
            }
            Long price = clearing(engine, told.cluster());
            Long above = new JsonObject(word.thresholds).getLong("price_cents");
            boolean isOver =
                price == null || above == null || price * 100 <= above * (100 - MARGIN_PERCENT);
            return isOver ? word.over() : word;
          });
    }
  }

  /** Returns the price that a cluster's organization pays. */
  private static @Nullable Long clearing(MemoryEngine engine, String cluster) {
    List<Optional<Long>> last =
        engine.query(
            "SELECT COALESCE((SELECT o.cents FROM org_price_point o JOIN cluster c ON c.org_id ="
                + " o.org_id WHERE c.name = ? ORDER BY o.ts DESC LIMIT 1), clearing_cents) AS cents"
                + " FROM price_point ORDER BY ts DESC LIMIT 1",
            List.of(cluster),
            row -> Optional.ofNullable(row.integerOrNull("cents")));
    return last.isEmpty() ? null : last.get(0).orElse(null);
  }

  /** At rest all due alerts are published, and no others are raised. */
  static final class AlertsAreRaised extends Invariant {
    /** Some ticks, and a change of the market's process. */
    private static final int WAIT_SECONDS = 60;

    private final AllocationLog log;

    AlertsAreRaised(AllocationLog log) {
      this.log = log;
    }

    @Override
    void atRest(World world) {
      if (!log.areClocksRight(world)) {
        return;
      }
      String wrong = wrong(world);
      for (int i = 0; wrong != null && i < WAIT_SECONDS; i++) {
        MarketInvariants.Pause.seconds(world, 1);
        wrong = wrong(world);
      }
      if (wrong != null) {
        throw violated("for {} s {}", WAIT_SECONDS, wrong);
      }
    }

    private static @Nullable String wrong(World world) {
      for (Stored one : stored(world.server.engine())) {
        if (one.maxGpus() == 0) {
          continue;
        }
        Long clearing = clearing(world.server.engine(), one.cluster());
        Long within = one.from("lease_millis");
        Long until = one.until();
        boolean isNear = within != null && until != null && until - world.nowMillis() <= within;
        if (isNear != one.raised().contains("lease")) {
          return one + " ends " + (isNear ? "soon" : "late or never");
        }
        Long above = one.from("price_cents");
        boolean isAbove = above != null && clearing != null && clearing > above;
        boolean isUnder = above == null || clearing == null || clearing * 100 <= above * 95;
        if ((isAbove || isUnder) && isAbove != one.raised().contains("price")) {
          return one + " at " + clearing;
        }
      }
      return null;
    }
  }
}
