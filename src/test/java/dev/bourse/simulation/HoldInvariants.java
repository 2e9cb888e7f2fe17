package dev.bourse.simulation;

import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.MemoryEngine;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Invariants of spend limits and holds. */
final class HoldInvariants {
  private HoldInvariants() {}

  static List<Invariant> all() {
    return List.of(new LimitsAreKept(), new HoldsKeepTheirTime(), new HoldsFollowTheMoney());
  }

  private static long monthOf(long millis) {
    return Instant.ofEpochMilli(millis)
        .atZone(ZoneOffset.UTC)
        .toLocalDate()
        .withDayOfMonth(1)
        .atStartOfDay(ZoneOffset.UTC)
        .toInstant()
        .toEpochMilli();
  }

  /**
   * Where limits are enforced, no grant exceeds the room that usage, commitments and the new nodes'
   * protection leave. Limits changed a moment ago are ignored, and the lowest of the recent
   * ceilings counts, because the tick may have begun earlier.
   */
  static final class LimitsAreKept extends Invariant {
    /** From the beginning of a tick to its grants: some queries, each repeated once. */
    private static final long TICK_MILLIS = 20_000;

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
                "SELECT limit_micros FROM billing_org WHERE org_id = ? AND limit_micros IS NOT"
                    + " NULL",
                List.of(organization),
                row -> row.integer("limit_micros"));
        if (!limits.isEmpty()
            && MoneyInvariants.areTimesTrue(world)
            && isQuiet(world, organization)) {
          judge(world, organization, limits.get(0), granted);
        }
      }
    }

    private static boolean isQuiet(World world, String organization) {
      long since = world.nowMillis() - TICK_MILLIS;
      Long asked = world.bookings.limitAskedAtMillis(organization);
      return asked == null || asked < since;
    }

    /** Returns the lowest ceiling since the beginning of a tick that may be granting now. */
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
              "SELECT allocation_id, cluster, replaces IS NOT NULL AS found, active_at,"
                  + " protected_until FROM allocation WHERE gone_at IS NULL AND state <>"
                  + " 'RECLAIMING' AND cluster LIKE ?",
              List.of(organization + "-%"),
              row ->
                  new Slot(
                      row.text("allocation_id"),
                      row.text("cluster"),
                      row.truth("found"),
                      row.integerOrNull("active_at"),
                      row.integerOrNull("protected_until")));
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
      long window = Math.min(world.settings.protectionSeconds() * 1_000L, monthEnd - now);
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
            "{} was granted {}, and may cost {} micro-dollars, over its limit of {}",
            organization,
            granted,
            most,
            limit);
      }
    }
  }

  /**
   * A hold starts with grace, continues with notice and enforce, each after the full time of the
   * previous stage, and may be lifted in any stage. Only where the server's clock was never set.
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
                String organization = row.text("org_id");
                String stage = row.text("hold_stage");
                boolean isEnforced = row.truth("hold_enforced");
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
          least == Long.MAX_VALUE
              || (MoneyInvariants.areTimesTrue(world)
                  && lasted < least - MoneyInvariants.APART_MILLIS);
      if (isEarly || (!stage.equals("NONE") && isEnforced != world.terms.isEnforced())) {
        throw violated(
            "the hold of {} went from {} to {} (enforced: {}) after {} ms",
            organization,
            before,
            stage,
            isEnforced,
            lasted);
      }
    }
  }

  /**
   * An organization without a shortfall has no hold; one with a shortfall has a hold that advances,
   * its clusters are under the same hold, and under enforce it holds nothing. A retired
   * organization has no shortfall, whatever is booked on it later: it can use nothing, so a hold
   * would have no effect, and an existing hold is lifted.
   */
  static final class HoldsFollowTheMoney extends Invariant {
    @Override
    boolean outlivesSetBack(World world) {
      return true;
    }

    /** A check of all organizations and its effects, each repeated once. */
    private static final long BOUND_MILLIS = 60_000;

    private record Stage(String stage, @Nullable String reason, long sinceMillis) {}

    @Override
    void atRest(World world) {
      Recount recount = new Recount(world.server.engine());
      for (String organization : world.scale.organizationIds()) {
        judge(world, organization, recount);
      }
    }

    private void judge(World world, String organization, Recount recount) {
      MemoryEngine engine = world.server.engine();
      Stage hold =
          engine
              .query(
                  "SELECT hold_stage, hold_reason, hold_since FROM billing_org WHERE org_id = ?",
                  List.of(organization),
                  row ->
                      new Stage(
                          row.text("hold_stage"),
                          row.textOrNull("hold_reason"),
                          row.integer("hold_since")))
              .stream()
              .findFirst()
              .orElse(new Stage("NONE", null, 0));
      long lasted = world.nowMillis() - hold.sinceMillis;
      if (MoneyInvariants.areTimesTrue(world)
          && lacks(world, organization, recount, -1)
          && hold.stage.equals("NONE")) {
        throw violated("{} has a shortfall and no hold", organization);
      }
      if (MoneyInvariants.areTimesTrue(world)
          && !lacks(world, organization, recount, 1)
          && !hold.stage.equals("NONE")) {
        throw violated("{} has no shortfall and is under {}", organization, hold);
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
              "SELECT name || ' ' || COALESCE(hold_stage, 'NONE') AS found FROM cluster WHERE"
                  + " org_id = ? AND COALESCE(hold_stage, 'NONE') <> ?",
              List.of(organization, hold.stage),
              row -> row.text("found"));
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
     * Returns true if an organization has a shortfall; a retired one never does.
     *
     * @param doubt 1 to include usage within the bound, -1 to exclude it
     */
    private static boolean lacks(World world, String organization, Recount recount, int doubt) {
      MemoryEngine engine = world.server.engine();
      if (engine.number(
              "SELECT COUNT(*) FROM org WHERE org_id = ? AND retired_at IS NOT NULL", organization)
          > 0) {
        return false;
      }
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
              row -> row.integer("limit_micros"));
      return (used > 0 && posted - accrued <= 0) || (!limit.isEmpty() && month >= limit.get(0));
    }
  }
}
