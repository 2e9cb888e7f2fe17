package dev.bourse.simulation;

import dev.bourse.audit.Chain;
import dev.bourse.audit.SealService;
import dev.bourse.audit.SegmentReads;
import dev.bourse.audit.Trails;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Invariants of the trails: audit, seals and activity. */
final class TrailInvariants {
  private TrailInvariants() {}

  static List<Invariant> all() {
    return List.of(
        new ReadsAreOnRecordOnce(),
        new WritesLeaveOneRow(),
        new NothingAppearsBehindAPage(),
        new SealsAreWhole(),
        new ActivityTellsOfEveryNode());
  }

  /** A read leaves one row; of a process that crashed since, at most one. */
  static final class ReadsAreOnRecordOnce extends Invariant {
    @Override
    void atRest(World world) {
      Map<List<String>, Long> ofSegments =
          world
              .server
              .engine()
              .query(SegmentReads.SELECT, List.of(), SegmentReads::entries)
              .stream()
              .flatMap(List::stream)
              .collect(
                  Collectors.groupingBy(
                      entry -> List.of(entry.actor(), entry.subject()), Collectors.counting()));
      for (Bookings.Read read : world.bookings.reads()) {
        long rows =
            world
                    .server
                    .engine()
                    .number(
                        "SELECT COUNT(*) FROM audit"
                            + " WHERE actor = ? AND subject = ? AND is_read = 1",
                        read.actor(),
                        read.cluster())
                + ofSegments.getOrDefault(List.of(read.actor(), read.cluster()), 0L);
        if (rows > 1 || (rows == 0 && !read.process().isDead())) {
          throw violated("{} has {} rows", read.actor(), rows);
        }
      }
    }
  }

  /**
   * Each write of a cluster by its clients, acknowledged or not, and each automatic end of a
   * declaration has its row, and every row has its write.
   */
  static final class WritesLeaveOneRow extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void atRest(World world) {
      for (String cluster : world.scale.clusters()) {
        MemoryEngine engine = world.server.engine();
        long version = engine.number("SELECT version FROM cluster WHERE name = ?", cluster);
        long rows =
            engine.number(
                "SELECT COUNT(*) FROM audit WHERE subject = ?"
                    + " AND action IN ('vm_capacity_put', 'vm_capacity_swap', 'vm_capacity_drill',"
                    + " 'vm_capacity_lapse')",
                cluster);
        if (rows != version) {
          throw violated("{} was written {} times and has {} rows", cluster, version, rows);
        }
      }
    }
  }

  /** No row appears below the newest row that a page of a trail has shown. */
  static final class NothingAppearsBehindAPage extends Invariant {
    private static final String INSERT = "INSERT INTO audit (id, ts, org_id";

    /** Ids that were taken before the statement's own INSERT, the first of them. */
    private static final Pattern TAKEN = Pattern.compile("SELECT (\\d+) AS first_id");

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      for (Statement statement : statements) {
        List<?> values = statement.parameters();
        Matcher taken = TAKEN.matcher(statement.sql());
        if (taken.find()) {
          // A segment starts with its owner, a row with its time.
          judge(
              world,
              (String) values.get(statement.sql().startsWith(INSERT) ? 1 : 0),
              Long.parseLong(taken.group(1)));
        }
        if (!statement.sql().startsWith(INSERT) || !statement.sql().contains("VALUES")) {
          continue;
        }
        for (int i = 0; i < values.size(); i += TrailNumbers.valuesOfRow(statement)) {
          judge(world, (String) values.get(i + 2), (Long) values.get(i));
        }
      }
    }

    private void judge(World world, String organization, long id) {
      long shown = world.bookings.shownThrough(organization);
      if (id <= shown) {
        throw violated(
            "row {} of {} was stored after a page had shown {}", id, organization, shown);
      }
    }
  }

  /** The seals of every chain match its rows, and every row is sealed before long. */
  static final class SealsAreWhole extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      greatest.clear();
      return true;
    }

    /** A round or two, and the time of commits. */
    private static final long SEALED_SECONDS = 150;

    private static final long ANSWER_NANOS = 60_000_000_000L;

    /** The greatest id, second by second. */
    private final ArrayDeque<Long> greatest = new ArrayDeque<>();

    @Override
    void everySecond(World world) {
      greatest.add(world.server.engine().number("SELECT COALESCE(MAX(id), 0) FROM audit"));
      if (greatest.size() > SEALED_SECONDS) {
        greatest.remove();
      }
    }

    @Override
    void atRest(World world) {
      long sealed =
          world
              .server
              .engine()
              .number("SELECT COALESCE(MAX(through_id), 0) FROM audit_sealed WHERE name = 'trail'");
      if (sealed < greatest.getFirst()) {
        throw violated(
            "{} s ago there were rows up to {}, and they are sealed up to {}",
            SEALED_SECONDS,
            greatest.getFirst(),
            sealed);
      }
      List<Chain> chains = new ArrayList<>(List.of(new Chain(Trails.PLATFORM, false)));
      for (String organization : world.scale.organizationIds()) {
        chains.add(new Chain(organization, false));
        chains.add(new Chain(organization, true));
      }
      List<SealService.Report> reports = new ArrayList<>();
      Future<?>[] done = {Future.succeededFuture()};
      Replica process = world.ready().get(0);
      process.doNow(
          () -> {
            SealService seals = process.readyCore().seals();
            Future<Void> verified = Future.succeededFuture();
            for (Chain chain : chains) {
              verified =
                  verified.compose(
                      before -> seals.verifySeals(chain, 0).map(reports::add).mapEmpty());
            }
            done[0] = verified;
          });
      long until = world.scheduler.nowNanos() + ANSWER_NANOS;
      while (!done[0].isComplete() || reports.size() < chains.size()) {
        if (!world.step(until) || done[0].failed()) {
          throw violated("the seals could not be verified: {}", done[0].cause());
        }
      }
      for (SealService.Report report : reports) {
        if (report.fault() != null) {
          throw violated("{}: {}", report.chain(), report.fault());
        }
      }
    }
  }

  /**
   * The activity has an entry for every node that was granted, was released or could not be
   * prepared.
   */
  static final class ActivityTellsOfEveryNode extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void atRest(World world) {
      judge(world);
    }

    @Override
    void whenReleased(World world) {
      judge(world);
    }

    private void judge(World world) {
      List<String> unlike =
          world
              .server
              .engine()
              .query(
                  "SELECT b.name || ': ' || b.granted || '/' || b.told_granted || ' granted, '"
                      + " || b.released || '/' || b.told_released || ' released, ' || b.unwound"
                      + " || '/' || b.told_unwound || ' unwound' AS found FROM (SELECT c.name,"
                      + " (SELECT COUNT(*) FROM allocation a WHERE a.cluster = c.name"
                      + " AND a.public_ip IS NOT NULL) AS granted,"
                      + " (SELECT COUNT(*) FROM allocation a WHERE a.cluster = c.name"
                      + " AND a.reclaim_reason <> 'unwound' COLLATE NOCASE) AS released,"
                      + " (SELECT COUNT(*) FROM allocation a WHERE a.cluster = c.name"
                      + " AND a.reclaim_reason = 'unwound' COLLATE NOCASE) AS unwound,"
                      + " (SELECT COUNT(*) FROM activity t WHERE t.cluster = c.name"
                      + " AND t.event = 'granted') AS told_granted,"
                      + " (SELECT COUNT(*) FROM activity t WHERE t.cluster = c.name"
                      + " AND t.event IN ('released', 'given-up')) AS told_released,"
                      + " (SELECT COUNT(*) FROM activity t WHERE t.cluster = c.name"
                      + " AND t.event = 'unwound') AS told_unwound"
                      + " FROM cluster c) AS b WHERE b.granted <> b.told_granted"
                      + " OR b.released <> b.told_released OR b.unwound <> b.told_unwound",
                  List.of(),
                  row -> row.text("found"));
      if (!unlike.isEmpty()) {
        throw violated("nodes and their activity entries differ: {}", unlike);
      }
    }
  }
}
