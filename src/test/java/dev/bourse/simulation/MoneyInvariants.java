package dev.bourse.simulation;

import dev.bourse.store.MemoryEngine;
import dev.bourse.store.Statement;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What has to hold of money. */
final class MoneyInvariants {
  /** Two clocks that are both right may be as far apart, and an answer may be as long under way. */
  private static final long APART_MILLIS = 3_000;

  /** What was asked of the server's clock is used for at most so long, and a query may be lost. */
  private static final long STALE_MILLIS = 70_000;

  private static final String UNREVERSED =
      " FROM ledger_transaction t WHERE t.kind = 'usage' AND t.reverses IS NULL"
          + " AND t.reversed_at IS NULL";

  private MoneyInvariants() {}

  static List<Invariant> all() {
    return List.of(
        new LedgerBalances(),
        new NoHourIsPostedTwice(),
        new NothingIsPostedAhead(),
        new PostedIsWhatWasUsed(),
        new BookingsAreKeptOnce(),
        new LimitsAreKept(),
        new HoldsKeepTheirTime(),
        new HoldsFollowTheMoney());
  }

  static long monthOf(long millis) {
    return Instant.ofEpochMilli(millis)
        .atZone(ZoneOffset.UTC)
        .toLocalDate()
        .withDayOfMonth(1)
        .atStartOfDay(ZoneOffset.UTC)
        .toInstant()
        .toEpochMilli();
  }

  /** Whether clocks were good enough all the time for what is stored to be told by true time. */
  private static boolean areTimesTrue(World world) {
    return world.serverClock.mostOffMillis() <= APART_MILLIS;
  }

  /** Entries of each transaction sum to zero, and each account is the sum of its entries. */
  static final class LedgerBalances extends Invariant {
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
                  "SELECT 'transaction ' || t.id FROM ledger_transaction t LEFT JOIN ledger_entry e"
                      + " ON e.transaction_id = t.id GROUP BY t.id"
                      + " HAVING COUNT(e.micros) < 2 OR SUM(e.micros) <> 0"
                      + " UNION ALL SELECT 'account ' || a.account FROM ledger_account a"
                      + " LEFT JOIN ledger_entry e ON e.account = a.account"
                      + " GROUP BY a.account, a.micros HAVING COALESCE(SUM(e.micros), 0) <> a.micros"
                      + " UNION ALL SELECT 'entries of ' || e.account FROM ledger_entry e"
                      + " WHERE e.account NOT IN (SELECT account FROM ledger_account)",
                  List.of(),
                  row -> row.text(0));
      if (!wrong.isEmpty()) {
        throw violated("after a commit of {} these do not add up: {}", process, wrong);
      }
    }
  }

  /** An organization has at most one transaction for an hour that was not reversed. */
  static final class NoHourIsPostedTwice extends Invariant {
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
                  "SELECT t.org_id || ' ' || t.effective_at"
                      + UNREVERSED
                      + " GROUP BY t.org_id, t.effective_at HAVING COUNT(*) > 1",
                  List.of(),
                  row -> row.text(0));
      if (!twice.isEmpty()) {
        throw violated("after a commit of {} these are posted twice: {}", process, twice);
      }
    }
  }

  /**
   * An hour is posted only when it has ended and settled, as soon as nobody can take the server's
   * clock for another any more; and what was posted while it was wrong is taken back once it has
   * been right for long enough to be believed.
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
                  "SELECT t.org_id || ' ' || t.effective_at"
                      + UNREVERSED
                      + " AND t.effective_at + ? > ?",
                  List.of(MoneyTerms.HOUR_MILLIS, world.nowMillis()),
                  row -> row.text(0));
      if (!ahead.isEmpty()) {
        throw violated("posted though they have not ended: {}", ahead);
      }
    }
  }

  /**
   * What is posted for an hour is what follows from machines, prices and declarations, its
   * transaction is the sum of its lines, and nothing that is due is left out. Only where the
   * server's clock was never set: what a clock that was believed tells of when something happened
   * is true by that clock alone.
   */
  static final class PostedIsWhatWasUsed extends Invariant {
    /** From when an hour has settled until it is posted: a look of everybody, with retries. */
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
                  + " t.org_id AND u.hour = t.effective_at), 0) FROM ledger_transaction t"
                  + " JOIN ledger_entry e ON e.transaction_id = t.id"
                  + " AND e.account = 'org:' || t.org_id WHERE t.kind = 'usage'"
                  + " AND t.reverses IS NULL AND t.reversed_at IS NULL AND -e.micros <>"
                  + " COALESCE((SELECT SUM(u.amount_micros) FROM usage_line u WHERE u.org_id ="
                  + " t.org_id AND u.hour = t.effective_at), 0)",
              List.of(),
              row -> row.text(0));
      if (!unlike.isEmpty()) {
        throw violated("transactions are not the sums of their lines: {}", unlike);
      }
      Map<String, long[]> posted = new HashMap<>();
      engine.query(
          "SELECT cluster, hour, gpu_millis, cent_gpu_millis, amount_micros FROM usage_line",
          List.of(),
          row ->
              posted.put(
                  row.text(0) + " " + row.integer(1),
                  new long[] {row.integer(2), row.integer(3), row.integer(4)}));
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
      if (isPosted != bill.gpuMillis() > 0 && (!isPosted || areTimesTrue(world))) {
        throw violated(
            "the hour {} of {} has {} line, though it used {} GPU-milliseconds",
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

  /** What an operator was told is booked is booked once, however often it was asked for. */
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

  /**
   * Where limits are acted upon, nothing is granted that usage, what is committed and the new
   * nodes' protection together do not leave room for. Limits that were changed a moment ago are
   * left out, and of ceilings the lowest of the last moments counts: a tick may have begun before.
   */
  static final class LimitsAreKept extends Invariant {
    /** From the beginning of a tick to its grants: some queries, each repeated once. */
    private static final long TICK_MILLIS = 20_000;

    private static final long PROTECTION_MILLIS = 3_600_000;

    private final Set<String> known = new HashSet<>();

    private record Slot(
        String id,
        String cluster,
        boolean isReplacement,
        @Nullable Long active,
        @Nullable Long until) {}

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!world.terms.isEnforced() || !touches(statements, "INSERT INTO allocation")) {
        return;
      }
      MemoryEngine engine = world.server.engine();
      Set<String> granted = new HashSet<>();
      for (Statement statement : statements) {
        if (statement.sql().startsWith("INSERT INTO allocation")) {
          String id = (String) Objects.requireNonNull(statement.parameters().get(1));
          if (known.add(id)) {
            granted.add(id);
          }
        }
      }
      for (String organization : world.scale.organizationIds()) {
        List<Long> limits =
            engine.query(
                "SELECT limit_micros FROM billing_org WHERE org_id = ? AND limit_micros IS NOT NULL",
                List.of(organization),
                row -> row.integer(0));
        if (!limits.isEmpty() && areTimesTrue(world) && isQuiet(world, organization)) {
          judge(world, organization, limits.get(0), granted);
        }
      }
    }

    private static boolean isQuiet(World world, String organization) {
      long since = world.nowMillis() - TICK_MILLIS;
      Long asked = world.bookings.limitAskedAtMillis(organization);
      return asked == null || asked < since;
    }

    /** The lowest ceiling that was in force since a tick that grants now may have begun. */
    private static long leastCeiling(World world, String cluster, long since) {
      return world
          .server
          .engine()
          .number(
              "SELECT COALESCE(MIN(ceiling_cents), 0) FROM activity WHERE kind = 'request'"
                  + " AND cluster = ? AND ts >= COALESCE((SELECT MAX(x.ts) FROM activity x WHERE"
                  + " x.kind = 'request' AND x.cluster = ? AND x.ts <= ?), 0)",
              cluster,
              cluster,
              since);
    }

    private void judge(World world, String organization, long limit, Set<String> granted) {
      MemoryEngine engine = world.server.engine();
      List<Slot> slots =
          engine.query(
              "SELECT allocation_id, cluster, replaces IS NOT NULL, active_at, protected_until"
                  + " FROM allocation WHERE gone_at IS NULL AND state <> 'RECLAIMING'"
                  + " AND cluster LIKE ?",
              List.of(organization + "-%"),
              row ->
                  new Slot(
                      row.text(0),
                      row.text(1),
                      row.truth(2),
                      row.integerOrNull(3),
                      row.integerOrNull(4)));
      if (slots.stream().noneMatch(slot -> granted.contains(slot.id) && !slot.isReplacement)) {
        return;
      }
      long now = world.nowMillis();
      long monthEnd =
          Instant.ofEpochMilli(monthOf(now))
              .atZone(ZoneOffset.UTC)
              .plusMonths(1)
              .toInstant()
              .toEpochMilli();
      long window = Math.min(PROTECTION_MILLIS, monthEnd - now);
      long most = 0;
      Recount recount = new Recount(engine);
      for (String cluster : world.scale.clusters()) {
        if (!cluster.startsWith(organization + "-")) {
          continue;
        }
        most += recount.micros(cluster, monthOf(now), now - TICK_MILLIS);
        long ceiling = leastCeiling(world, cluster, now - TICK_MILLIS);
        for (Slot slot : slots) {
          if (slot.cluster.equals(cluster) && !slot.isReplacement) {
            long millis =
                slot.active == null
                    ? window
                    : slot.until == null ? 0 : Math.max(0, Math.min(window, slot.until - now));
            most += millis * World.GPUS_PER_NODE * ceiling / 360;
          }
        }
      }
      if (most > limit) {
        throw violated(
            "{} was granted {}, and may come to {} micro-dollars, over its limit of {}",
            organization,
            granted,
            most,
            limit);
      }
    }
  }

  /**
   * A hold begins with grace, goes on to notice and to enforce, each stage after the full time of
   * the one before, and is lifted from anywhere. Only where the server's clock was never set.
   */
  static final class HoldsKeepTheirTime extends Invariant {
    private record Hold(String stage, boolean isEnforced, long sinceMillis) {}

    private final Map<String, Hold> last = new HashMap<>();

    @Override
    void afterCommit(World world, String process, List<Statement> statements) {
      if (!touches(statements, "SET hold_stage = ?")) {
        return;
      }
      long now = world.nowMillis();
      world
          .server
          .engine()
          .query(
              "SELECT org_id, hold_stage, hold_enforced FROM billing_org ORDER BY org_id",
              List.of(),
              row -> {
                String organization = row.text(0);
                String stage = row.text(1);
                boolean isEnforced = row.truth(2);
                Hold before = last.getOrDefault(organization, new Hold("NONE", false, now));
                if (!before.stage.equals(stage) || before.isEnforced != isEnforced) {
                  judge(world, organization, before, stage, isEnforced);
                  last.put(organization, new Hold(stage, isEnforced, now));
                }
                return organization;
              });
    }

    private void judge(
        World world, String organization, Hold before, String stage, boolean isEnforced) {
      long least =
          switch (stage) {
            case "NONE", "GRACE" -> 0;
            case "NOTICE" ->
                before.stage.equals("GRACE") ? world.terms.graceMillis() : Long.MAX_VALUE;
            default -> before.stage.equals("NOTICE") ? world.terms.noticeMillis() : Long.MAX_VALUE;
          };
      long lasted = world.nowMillis() - before.sinceMillis;
      boolean isEarly =
          least == Long.MAX_VALUE || (areTimesTrue(world) && lasted < least - APART_MILLIS);
      if (isEarly || (!stage.equals("NONE") && isEnforced != world.terms.isEnforced())) {
        throw violated(
            "the hold of {} went from {} to {} (acted upon: {}) after {} ms",
            organization,
            before,
            stage,
            isEnforced,
            lasted);
      }
    }
  }

  /**
   * Who lacks nothing is under no hold, who lacks something is under one that goes on, its clusters
   * are under the same, and who is under enforce holds nothing.
   */
  static final class HoldsFollowTheMoney extends Invariant {
    /** A look at everybody and what it orders, each repeated once. */
    private static final long BOUND_MILLIS = 60_000;

    private record Hold(String stage, @Nullable String reason, long sinceMillis) {}

    @Override
    void atRest(World world) {
      Recount recount = new Recount(world.server.engine());
      for (String organization : world.scale.organizationIds()) {
        judge(world, organization, recount);
      }
    }

    private void judge(World world, String organization, Recount recount) {
      MemoryEngine engine = world.server.engine();
      Hold hold =
          engine
              .query(
                  "SELECT hold_stage, hold_reason, hold_since FROM billing_org WHERE org_id = ?",
                  List.of(organization),
                  row -> new Hold(row.text(0), row.textOrNull(1), row.integer(2)))
              .stream()
              .findFirst()
              .orElse(new Hold("NONE", null, 0));
      long lasted = world.nowMillis() - hold.sinceMillis;
      if (areTimesTrue(world)
          && lacks(world, organization, recount, -1)
          && hold.stage.equals("NONE")) {
        throw violated("{} lacks money and is under no hold", organization);
      }
      if (areTimesTrue(world)
          && !lacks(world, organization, recount, 1)
          && !hold.stage.equals("NONE")) {
        throw violated("{} lacks nothing and is under {}", organization, hold);
      }
      if (!world.terms.isEnforced()) {
        return;
      }
      long most =
          switch (hold.stage) {
            case "GRACE" -> world.terms.graceMillis();
            case "NOTICE" -> world.terms.noticeMillis();
            default -> Long.MAX_VALUE / 2;
          };
      if (lasted > most + BOUND_MILLIS) {
        throw violated("{} is under {} for {} ms", organization, hold, lasted);
      }
      List<String> others =
          engine.query(
              "SELECT name || ' ' || COALESCE(hold_stage, 'NONE') FROM cluster WHERE org_id = ?"
                  + " AND COALESCE(hold_stage, 'NONE') <> ?",
              List.of(organization, hold.stage),
              row -> row.text(0));
      if (!others.isEmpty() && lasted > BOUND_MILLIS) {
        throw violated("{} is under {}, and its clusters {}", organization, hold, others);
      }
      long open =
          engine.number(
              "SELECT COUNT(*) FROM allocation WHERE gone_at IS NULL AND state <> 'RECLAIMING'"
                  + " AND cluster LIKE ?",
              organization + "-%");
      if (hold.stage.equals("ENFORCE") && lasted > BOUND_MILLIS && open > 0) {
        throw violated("{} is under {} for {} ms and holds {}", organization, hold, lasted, open);
      }
    }

    /**
     * Whether an organization lacks something.
     *
     * @param doubt 1 to count what may be used within the bound in, -1 to leave it out
     */
    private static boolean lacks(World world, String organization, Recount recount, int doubt) {
      MemoryEngine engine = world.server.engine();
      long now = world.nowMillis();
      long until = now + (doubt > 0 ? 0 : -BOUND_MILLIS);
      long posted =
          engine.number(
              "SELECT COALESCE(SUM(micros), 0) FROM ledger_entry WHERE account = ?",
              "org:" + organization);
      long through =
          engine.number(
              "SELECT COALESCE(MAX(through), 0) FROM billing_posted WHERE name = 'usage'");
      long used = 0;
      long month = 0;
      long accrued = 0;
      for (String cluster : world.scale.clusters()) {
        if (cluster.startsWith(organization + "-") && recount.firstMillis() < until) {
          long first = Recount.hourOf(recount.firstMillis());
          used += recount.of(cluster, first, until).gpuMillis();
          month += recount.micros(cluster, Math.max(first, monthOf(now)), until);
          accrued += recount.micros(cluster, Math.max(first, through), until);
        }
      }
      List<Long> limit =
          engine.query(
              "SELECT limit_micros FROM billing_org WHERE org_id = ? AND limit_micros IS NOT NULL",
              List.of(organization),
              row -> row.integer(0));
      return (used > 0 && posted - accrued <= 0) || (!limit.isEmpty() && month >= limit.get(0));
    }
  }
}
