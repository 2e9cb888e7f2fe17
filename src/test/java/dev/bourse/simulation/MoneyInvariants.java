package dev.bourse.simulation;

import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Invariants of money. */
final class MoneyInvariants {
  /** Tolerated skew of two correct clocks, and the longest delay of an answer. */
  static final long APART_MILLIS = 3_000;

  /** How long a reading of the server's clock is used, including a lost query. */
  private static final long STALE_MILLIS = 70_000;

  private static final String UNREVERSED =
      " FROM ledger_transaction t WHERE t.kind = 'usage' AND t.reverses IS NULL"
          + " AND t.reversed_at IS NULL";

  private MoneyInvariants() {}

  static List<Invariant> all() {
    return List.of(
        new LedgerBalances(),
        new MonthTotalsAreTheirLines(),
        new NoHourIsPostedTwice(),
        new NothingIsPostedAhead(),
        new PostedIsWhatWasUsed(),
        new BookingsAreKeptOnce());
  }

  /**
   * Returns true if the clocks were good enough for stored times to be compared with true time: the
   * server's was never set, or was only ahead, which is corrected, while all others were right.
   */
  static boolean areTimesTrue(World world) {
    return world.serverClock.mostOffMillis() <= APART_MILLIS
        || (world.serverClock.mostBehindMillis() <= APART_MILLIS
            && world.slots().stream().allMatch(slot -> slot.wall.mostOffMillis() <= APART_MILLIS));
  }

  /** The entries of each transaction sum to zero, and each account is the sum of its entries. */
  static final class LedgerBalances extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "INTO ledger_")) {
        judge(world, process);
      }
    }

    @Override
    void atRest(World world) {
      judge(world, "all");
    }

    private void judge(World world, String process) {
      List<String> wrong =
          world
              .server
              .engine()
              .query(
                  "SELECT 'transaction ' || t.id AS found FROM ledger_transaction t LEFT JOIN"
                      + " ledger_entry e ON e.transaction_id = t.id GROUP BY t.id HAVING"
                      + " COUNT(e.micros) < 2 OR SUM(e.micros) <> 0 UNION ALL SELECT 'account ' ||"
                      + " a.account FROM ledger_account a LEFT JOIN ledger_entry e ON e.account ="
                      + " a.account GROUP BY a.account, a.micros HAVING COALESCE(SUM(e.micros), 0)"
                      + " <> a.micros UNION ALL SELECT 'entries of ' || e.account FROM ledger_entry"
                      + " e WHERE e.account NOT IN (SELECT account FROM ledger_account)",
                  List.of(),
                  row -> row.text("found"));
      if (!wrong.isEmpty()) {
        throw violated("after a commit of {} these do not add up: {}", process, wrong);
      }
    }
  }

  /** The stored total of a month is the sum of its lines up to its end. */
  static final class MonthTotalsAreTheirLines extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "usage_line")) {
        List<String> wrong =
            world
                .server
                .engine()
                .query(
                    "SELECT b.org_id AS found FROM billing_org b WHERE b.month_start IS NOT NULL"
                        + " AND b.month_micros <> COALESCE((SELECT SUM(u.amount_micros) FROM"
                        + " usage_line u WHERE u.org_id = b.org_id AND u.hour >= b.month_start"
                        + " AND u.hour < b.month_through), 0)",
                    List.of(),
                    row -> row.text("found"));
        if (!wrong.isEmpty()) {
          throw violated("after a commit of {} these have another total: {}", process, wrong);
        }
      }
    }
  }

  /** An organization has at most one unreversed transaction for an hour. */
  static final class NoHourIsPostedTwice extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "INTO ledger_transaction")) {
        return;
      }
      List<String> twice =
          world
              .server
              .engine()
              .query(
                  "SELECT t.org_id || ' ' || t.effective_at AS found"
                      + UNREVERSED
                      + " GROUP BY t.org_id, t.effective_at HAVING COUNT(*) > 1",
                  List.of(),
                  row -> row.text("found"));
      if (!twice.isEmpty()) {
        throw violated("after a commit of {} these are posted twice: {}", process, twice);
      }
    }
  }

  /**
   * An hour is posted only when it has ended and settled, once the server's clock is confirmed;
   * hours posted while the clock was wrong are reversed when it has been right long enough to be
   * confirmed.
   */
  static final class NothingIsPostedAhead extends Invariant {
    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (touches(statements, "INTO usage_line")
          && world.serverClock.rightForMillis() > STALE_MILLIS) {
        long ended = world.nowMillis() - world.terms.settleMillis() + APART_MILLIS;
        for (Statement statement : statements) {
          if (statement.sql().contains("INTO usage_line")
              && Objects.requireNonNull((Long) statement.parameters().get(1))
                      + MoneyTerms.HOUR_MILLIS
                  > ended) {
            throw violated(
                "{} posted the hour of {} at {}",
                process,
                Instant.ofEpochMilli((Long) statement.parameters().get(1)),
                Instant.ofEpochMilli(world.nowMillis()));
          }
        }
      }
    }

    @Override
    void atRest(World world) {
      List<String> ahead =
          world
              .server
              .engine()
              .query(
                  "SELECT t.org_id || ' ' || t.effective_at AS found"
                      + UNREVERSED
                      + " AND t.effective_at + ? > ?",
                  List.of(MoneyTerms.HOUR_MILLIS, world.nowMillis()),
                  row -> row.text("found"));
      if (!ahead.isEmpty()) {
        throw violated("posted before they ended: {}", ahead);
      }
    }
  }

  /**
   * The posted lines of an hour follow from machines, prices and declarations, its transaction is
   * the sum of its lines, and no due hour is missing. Only where the server's clock was never set,
   * because times written by a wrong clock are true by that clock alone.
   */
  static final class PostedIsWhatWasUsed extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    /** From the settling of an hour to its posting: a check of all organizations, with retries. */
    private static final long DUE_MILLIS = 90_000;

    @Override
    void atRest(World world) {
      judge(world);
    }

    @Override
    void whenReleased(World world) {
      judge(world);
    }

    private void judge(World world) {
      MemoryEngine engine = world.server.engine();
      List<String> unlike =
          engine.query(
              "SELECT t.org_id || ' ' || t.effective_at || ': ' || -e.micros || ' instead of '"
                  + " || COALESCE((SELECT SUM(u.amount_micros) FROM usage_line u WHERE u.org_id ="
                  + " t.org_id AND u.hour = t.effective_at), 0) AS found FROM ledger_transaction t"
                  + " JOIN ledger_entry e ON e.transaction_id = t.id"
                  + " AND e.account = 'org:' || t.org_id WHERE t.kind = 'usage'"
                  + " AND t.reverses IS NULL AND t.reversed_at IS NULL AND -e.micros <>"
                  + " COALESCE((SELECT SUM(u.amount_micros) FROM usage_line u WHERE u.org_id ="
                  + " t.org_id AND u.hour = t.effective_at), 0)",
              List.of(),
              row -> row.text("found"));
      if (!unlike.isEmpty()) {
        throw violated("transactions are not the sums of their lines: {}", unlike);
      }
      Map<String, long[]> posted = new HashMap<>();
      engine.query(
          "SELECT cluster, hour, gpu_millis, cent_gpu_millis, amount_micros FROM usage_line",
          List.of(),
          row ->
              posted.put(
                  row.text("cluster") + " " + row.integer("hour"),
                  new long[] {
                    row.integer("gpu_millis"),
                    row.integer("cent_gpu_millis"),
                    row.integer("amount_micros")
                  }));
      Recount recount = new Recount(engine);
      long due = world.nowMillis() - world.terms.settleMillis() - DUE_MILLIS;
      if (recount.firstMillis() > due) {
        return;
      }
      for (long hour = Recount.hourOf(recount.firstMillis());
          hour + MoneyTerms.HOUR_MILLIS <= due;
          hour += MoneyTerms.HOUR_MILLIS) {
        for (String cluster : world.scale.clusters()) {
          Recount.Bill bill = recount.of(cluster, hour, hour + MoneyTerms.HOUR_MILLIS);
          long[] line = posted.get(cluster + " " + hour);
          judge(world, cluster, hour, bill, line);
        }
      }
    }

    private void judge(
        World world, String cluster, long hour, Recount.Bill bill, long @Nullable [] line) {
      boolean isPosted = line != null;
      // A clock that is behind writes hours that are never posted, because they ended before the
      // first one.
      if (!isPosted && hour < world.beginMillis() && !areTimesTrue(world)) {
        return;
      }
      if (isPosted != bill.gpuMillis() > 0 && (!isPosted || areTimesTrue(world))) {
        throw violated(
            "the hour {} of {} has {} line, although it used {} GPU-milliseconds",
            Instant.ofEpochMilli(hour),
            cluster,
            isPosted ? "a" : "no",
            bill.gpuMillis());
      }
      if (line != null
          && areTimesTrue(world)
          && (line[0] != bill.gpuMillis()
              || line[1] != bill.centGpuMillis()
              || line[2] != bill.micros())) {
        throw violated(
            "the hour {} of {} is posted as {}, and is {} of {} micro-dollars",
            Instant.ofEpochMilli(hour),
            cluster,
            java.util.Arrays.toString(line),
            bill,
            bill.micros());
      }
    }
  }

  /** An acknowledged booking is stored once, however often it was requested. */
  static final class BookingsAreKeptOnce extends Invariant {
    @Override
    void atRest(World world) {
      MemoryEngine engine = world.server.engine();
      for (Bookings.Booking booking : world.bookings.bookings()) {
        long stored =
            engine.number(
                "SELECT COUNT(*) FROM ledger_transaction t JOIN ledger_entry e"
                    + " ON e.transaction_id = t.id AND e.account = 'org:' || t.org_id"
                    + " WHERE t.org_id = ? AND t.tx_key LIKE ? AND e.micros = ?",
                booking.organization,
                "%:" + booking.key,
                booking.micros);
        long rows =
            engine.number(
                "SELECT COUNT(*) FROM audit WHERE org_id = ? AND action = ? AND detail LIKE ?",
                booking.organization,
                "billing_" + booking.kind.label(),
                "amount_micros=" + booking.micros + " %" + booking.key + "%");
        if (stored != rows || stored > 1 || (booking.acknowledged > 0 && stored < 1)) {
          throw violated(
              "{} of {} was acknowledged {} times, stored {} times and has {} audit rows",
              booking.key,
              booking.organization,
              booking.acknowledged,
              stored,
              rows);
        }
      }
      for (Bookings.Limit limit : world.bookings.limits()) {
        long rows =
            engine.number(
                "SELECT COUNT(*) FROM audit WHERE action = 'spend_limit_set' AND detail = ?",
                "limit_micros=" + limit.micros);
        if (rows > 1 || (limit.isAcknowledged && rows < 1)) {
          throw violated("the limit of {} micro-dollars has {} audit rows", limit.micros, rows);
        }
      }
    }
  }
}
