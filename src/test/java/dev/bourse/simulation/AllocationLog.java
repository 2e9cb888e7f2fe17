package dev.bourse.simulation;

import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Changes of allocations by commits, in true time; parsed once for all invariants. */
final class AllocationLog {
  /** An allocation as stored. */
  record Stored(
      String id,
      String cluster,
      String node,
      String state,
      @Nullable Long activeAt,
      @Nullable Long protectedUntil,
      long grantCeiling,
      boolean pinned,
      boolean swapping,
      @Nullable String replaces,
      @Nullable String reason,
      @Nullable Long reclaimAt,
      @Nullable Long noticeEndsAt,
      @Nullable Long withdrawnEndsAt,
      @Nullable Long seatCeiling,
      int minimumSlots) {
    boolean isOpen() {
      return !state.equals("RECLAIMING");
    }
  }

  /** An allocation and the times of its changes, in true time. */
  static final class Life {
    final String id;
    final String node;
    Stored stored;
    long activeNanos = -1;
    long reclaimingNanos = -1;
    long swappingNanos = -1;

    /**
     * When its notice began; a second notice continues the first, and a replacement inherits that
     * of its node.
     */
    long noticeNanos = -1;

    /** When its last notice began. */
    long lastNoticeNanos = -1;

    /** When it entered its state. */
    long stateNanos;

    /** Whether the cluster's ceiling was ever below the one at the grant. */
    boolean isLowered;

    /** When the cluster's ceiling was last seen below the one that last seated the node. */
    long underSeatNanos = -1;

    /** Whether it is now. */
    private boolean isUnderSeat;

    /** Whether it replaces another allocation. */
    final boolean isReplacement;

    Life(Stored stored, long nowNanos) {
      id = stored.id;
      node = stored.node;
      this.stored = stored;
      isReplacement = stored.replaces != null;
      stateNanos = nowNanos;
    }
  }

  /**
   * A cluster as stored.
   *
   * @param minGpus 0 for no minimum
   * @param wasGivenUp whether its minimum could not be met since it was declared
   */
  record Buyer(
      String name,
      String org,
      boolean isStatic,
      int maxGpus,
      int minGpus,
      boolean wasGivenUp,
      long ceiling,
      @Nullable String hold) {
    /** Returns the number of nodes below which it is granted none. */
    int minimum() {
      return isStatic || maxGpus == 0 ? 1 : Math.max(1, minGpus / World.GPUS_PER_NODE);
    }
  }

  /**
   * A commit's change of one allocation.
   *
   * @param before null if it is new
   * @param after null if it ended
   */
  record Step(Life life, @Nullable Stored before, @Nullable Stored after) {}

  private static final String LIVE =
      "SELECT allocation_id, cluster, node_id, state, active_at, protected_until,"
          + " grant_ceiling_cents, pinned, swap_requested_at, replaces, reclaim_reason, reclaim_at, notice_reason,"
          + " notice_ends_at, seat_ceiling_cents, COALESCE(minimum_slots, 1) AS least"
          + " FROM allocation WHERE ";

  /** Allocations that have not ended, by id. */
  private final TreeMap<String, Life> live = new TreeMap<>();

  private final TreeMap<String, Life> gone = new TreeMap<>();
  private final TreeMap<String, Buyer> buyers = new TreeMap<>();
  private @Nullable List<Statement> latest;
  private List<Step> steps = List.of();
  private boolean areClocksRight = true;

  /** Returns a commit's changes of allocations; empty if there are none. */
  List<Step> steps(World world, List<Statement> statements) {
    if (statements != latest) {
      latest = statements;
      boolean isAboutThem =
          Invariant.touches(statements, "allocation")
              || Invariant.touches(statements, "UPDATE cluster SET");
      steps = isAboutThem ? read(world) : List.of();
    }
    return steps;
  }

  /** Returns allocations that have not ended, by id. */
  Map<String, Life> live() {
    return live;
  }

  /** Returns allocations that ended, by id. */
  Map<String, Life> gone() {
    return gone;
  }

  /** Returns an allocation, ended or not; null if there was never one of that id. */
  @Nullable Life find(String id) {
    Life found = live.get(id);
    return found == null ? gone.get(id) : found;
  }

  Map<String, Buyer> buyers() {
    return buyers;
  }

  /** Returns true if every process's clock was right at every check. */
  boolean areClocksRight(World world) {
    areClocksRight &= world.serverClock.mostOffMillis() == 0;
    for (World.Slot slot : world.slots()) {
      areClocksRight &= slot.wall.offMillis() == 0;
    }
    return areClocksRight;
  }

  private List<Step> read(World world) {
    long now = world.scheduler.nowNanos();
    readBuyers(world);
    List<Step> made = new ArrayList<>();
    TreeMap<String, Stored> found = new TreeMap<>();
    for (Stored stored :
        world.server.engine().query(LIVE + "gone_at IS NULL", List.of(), AllocationLog::stored)) {
      found.put(stored.id, stored);
    }
    for (Stored stored : found.values()) {
      Life life = live.get(stored.id);
      if (life == null) {
        life = new Life(stored, now);
        live.put(stored.id, life);
        made.add(new Step(life, null, stored));
      } else if (!stored.equals(life.stored)) {
        made.add(new Step(life, life.stored, stored));
      }
      note(life, stored, now);
    }
    for (Life life : List.copyOf(live.values())) {
      if (!found.containsKey(life.id)) {
        live.remove(life.id);
        gone.put(life.id, life);
        made.add(new Step(life, life.stored, null));
      }
    }
    return made;
  }

  private void note(Life life, Stored stored, long now) {
    if (!stored.state.equals(life.stored.state)) {
      life.stateNanos = now;
      if (stored.state.equals("ACTIVE")) {
        life.activeNanos = now;
      } else if (!stored.isOpen()) {
        life.reclaimingNanos = now;
      }
    }
    life.swappingNanos = !stored.swapping ? -1 : life.swappingNanos < 0 ? now : life.swappingNanos;
    life.noticeNanos =
        stored.noticeEndsAt == null
            ? -1
            : life.noticeNanos < 0 ? noticeNanos(life, now) : life.noticeNanos;
    life.lastNoticeNanos = life.noticeNanos < 0 ? life.lastNoticeNanos : life.noticeNanos;
    Buyer buyer = buyers.get(stored.cluster);
    life.isLowered |= buyer != null && buyer.ceiling < stored.grantCeiling;
    life.underSeatNanos = life.isUnderSeat ? now : life.underSeatNanos;
    life.isUnderSeat =
        buyer != null && stored.seatCeiling != null && buyer.ceiling < stored.seatCeiling;
    life.underSeatNanos = life.isUnderSeat ? now : life.underSeatNanos;
    life.stored = stored;
  }

  private long noticeNanos(Life life, long now) {
    if (life.stored.withdrawnEndsAt != null && life.lastNoticeNanos >= 0) {
      return life.lastNoticeNanos;
    }
    Life replaced = life.stored.replaces == null ? null : live.get(life.stored.replaces);
    return replaced == null || replaced.lastNoticeNanos < 0 ? now : replaced.lastNoticeNanos;
  }

  private void readBuyers(World world) {
    for (Buyer buyer :
        world
            .server
            .engine()
            .query(
                "SELECT name, org_id, posture, max_gpus, COALESCE(min_gpus, 0) AS least,"
                    + " gang_unwound_at, ceiling_cents, hold_stage FROM cluster",
                List.of(),
                AllocationLog::buyer)) {
      buyers.put(buyer.name, buyer);
    }
  }

  private static Buyer buyer(Row row) {
    Long maxGpus = row.integerOrNull("max_gpus");
    Long ceiling = row.integerOrNull("ceiling_cents");
    return new Buyer(
        row.text("name"),
        row.text("org_id"),
        row.text("posture").equals("STATIC"),
        maxGpus == null ? 0 : Math.toIntExact(maxGpus),
        row.smallInteger("least"),
        row.integerOrNull("gang_unwound_at") != null,
        ceiling == null ? 0 : ceiling,
        row.textOrNull("hold_stage"));
  }

  private static Stored stored(Row row) {
    boolean isNoticed = row.textOrNull("notice_reason") != null;
    Long noticeEndsAt = row.integerOrNull("notice_ends_at");
    return new Stored(
        row.text("allocation_id"),
        row.text("cluster"),
        row.text("node_id"),
        row.text("state"),
        row.integerOrNull("active_at"),
        row.integerOrNull("protected_until"),
        row.integer("grant_ceiling_cents"),
        row.truth("pinned"),
        row.integerOrNull("swap_requested_at") != null,
        row.textOrNull("replaces"),
        row.textOrNull("reclaim_reason"),
        row.integerOrNull("reclaim_at"),
        isNoticed ? noticeEndsAt : null,
        isNoticed ? null : noticeEndsAt,
        row.integerOrNull("seat_ceiling_cents"),
        row.smallInteger("least"));
  }
}
