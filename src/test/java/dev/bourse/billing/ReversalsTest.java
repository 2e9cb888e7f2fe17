package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.FakeClock;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Usage posted while a clock ran ahead is reversed, and posted again when it is due. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ReversalsTest extends StoreFixture {
  private static final long HOUR = Usage.HOUR_MILLIS;
  private static final long SETTLE = 120_000;
  private static final long MINUTE = 60_000;
  private static final long DAYS = 72 * HOUR;
  private static final long PER_HOUR = 8_000_000;

  /** A node is active from the start of this hour. */
  private final long hour = Usage.hourOf(Sample.T0) + HOUR;

  private UsagePosting posting;

  @BeforeEach
  void hold() throws Exception {
    clock.advance(hour + 10 * MINUTE - clock.millis());
    posting = new UsagePosting(database, SETTLE, clock);
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO price_point (pool, ts, clearing_cents, cents_millis,"
                        + " priced_millis) VALUES ('h100', ?, 100, 0, 0)",
                    hour - HOUR),
                Statement.of(
                    "INSERT INTO cluster (name, org_id, pool, kind, posture, writes_armed,"
                        + " maintenance, version, revision, max_gpus, ceiling_cents, priced_at,"
                        + " bid_too_low, last_write_at, provision_failures, created_at)"
                        + " VALUES ('c1', 'acme', 'h100', 'VM', 'MARKET', 1, 0, 0, 0, 8, 200, ?, 0,"
                        + " 0, 0, 0)",
                    hour - HOUR),
                Statement.of(
                    "INSERT INTO allocation (allocation_id, cluster, node_id, slot, state,"
                        + " granted_at, active_at, grant_ceiling_cents, pinned, nomination,"
                        + " key_ids) VALUES ('a0', 'c1', 'n0', 0, 'ACTIVE', ?, ?, 200, 0, 0, '')",
                    hour,
                    hour))));
  }

  private void release(long atMillis) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE allocation SET reclaim_at = ?, gone_at = ?, state = 'RECLAIMING'",
                    atMillis,
                    atMillis))));
  }

  private void post() throws Exception {
    int steps = 0;
    while (await(posting.step())) {
      assertTrue(++steps < 10_000, "it comes to an end");
    }
  }

  private List<Long> lines() throws Exception {
    return integers("SELECT hour FROM usage_line ORDER BY hour");
  }

  private long balance() throws Exception {
    return integers(
            "SELECT COALESCE((SELECT micros FROM ledger_account WHERE account = 'org:acme'), 0)")
        .get(0);
  }

  private AccountStore.Account account() throws Exception {
    return await(new AccountStore(database).get("acme", Month.at(clock.millis())));
  }

  private long posted() throws Exception {
    return integers("SELECT through FROM billing_posted WHERE name = 'usage'").get(0);
  }

  private void sound() throws Exception {
    assertTrue(await(new LedgerStore(database).verify()).isSound());
  }

  /** Usage that was partly posted while a clock ran ahead is completely posted when it is due. */
  @Test
  void anHourOfWhichTheFirstPageWasReversedIsPostedFromItsFirstPageOn() throws Exception {
    List<Statement> others = new ArrayList<>();
    for (int i = 0; i < 2 * UsagePosting.ORGS_PER_STEP; i++) {
      // Sorts after acme, which alone holds a node.
      String org = "b" + (1_000 + i);
      others.add(AccessStore.insert(new Organization(org, "B", "standard"), Sample.T0));
      others.addAll(
          CapacityStore.insert(
              Cluster.created(org, org, "h100", Cluster.Kind.VM, Cluster.Posture.MARKET),
              Sample.T0));
    }
    await(database.commit(others));
    clock.advance(HOUR);
    post();
    assertEquals(List.of(hour), lines());
    clock.advance(HOUR);
    assertTrue(await(posting.step()), "more organizations are left");
    assertEquals(List.of(hour, hour + HOUR), lines());

    clock.advance(-HOUR);
    post();
    assertEquals(List.of(hour), lines());
    clock.advance(HOUR);
    post();
    assertEquals(List.of(hour, hour + HOUR), lines());
    assertEquals(-2 * PER_HOUR, balance());
    sound();
  }

  @Test
  void nothingIsPostedWhileNoClockIsConfirmed() throws Exception {
    clock.confirm(false);
    clock.advance(DAYS);
    post();
    assertEquals(List.of(), lines());
    assertEquals(0, balance());

    clock.confirm(true);
    post();
    assertEquals(72, lines().size());
  }

  @Test
  void hoursPostedByAClockThatWasAheadAreGivenBackAndPostedWhenTheyAreOver() throws Exception {
    clock.advance(DAYS);
    post();
    assertEquals(72, lines().size());
    assertEquals(-72 * PER_HOUR, balance());

    clock.advance(-DAYS + 12_000);
    post();
    assertEquals(List.of(), lines());
    assertEquals(0, balance());
    assertEquals(hour, posted());
    assertEquals(72, posting.reversals());
    sound();

    release(hour + HOUR + HOUR / 2);
    clock.advance(DAYS);
    post();
    assertEquals(List.of(hour, hour + HOUR), lines());
    assertEquals(-PER_HOUR - PER_HOUR / 2, balance());
    sound();
  }

  @Test
  void theReversalNamesWhatItReverses() throws Exception {
    clock.advance(HOUR);
    post();
    clock.advance(-HOUR);
    post();

    List<LedgerStore.Posting> all = await(new LedgerStore(database).list("acme", 99, 9));
    assertEquals(2, all.size());
    LedgerStore.Posting reversal = all.get(0);
    LedgerStore.Posting reversed = all.get(1);
    assertEquals(reversed.id(), reversal.reverses());
    assertEquals(-reversed.micros(), reversal.micros());
    assertEquals(reversed.effectiveMillis(), reversal.effectiveMillis(), "the same month");
    assertEquals(Ledger.Kind.USAGE, reversal.kind());
    assertTrue(reversal.memo().contains("transaction " + reversed.id()), reversal.memo());
  }

  @Test
  void anHourThatHadNotEndedWhenItWasPostedIsPostedAsItCameToBe() throws Exception {
    clock.advance(DAYS);
    await(posting.step());
    while (lines().isEmpty()) {
      await(posting.step());
    }
    clock.advance(-DAYS);
    release(hour + HOUR / 4);
    // The hour is over when time is confirmed again, so it is no longer in the future.
    clock.advance(HOUR);
    post();

    assertEquals(List.of(hour), lines());
    assertEquals(-PER_HOUR / 4, balance());
    sound();
  }

  @Test
  void twoProcessesThatReverseAtOnceReverseOnce() throws Exception {
    clock.advance(DAYS);
    post();
    clock.advance(-DAYS);
    UsagePosting other = new UsagePosting(database, SETTLE, clock);
    boolean isMore = true;
    while (isMore) {
      Future<Boolean> mine = posting.step();
      Future<Boolean> theirs = other.step();
      boolean isMine = await(mine);
      boolean isTheirs = await(theirs);
      isMore = isMine || isTheirs;
    }

    assertEquals(0, balance());
    assertEquals(List.of(), lines());
    assertEquals(
        List.of(72L),
        integers("SELECT COUNT(*) FROM ledger_transaction WHERE reverses IS NOT NULL"));
    assertEquals(72, posting.reversals() + other.reversals());
    sound();
  }

  @Test
  void whatFailsInBetweenIsTakenUpAgain() throws Exception {
    clock.advance(10 * HOUR);
    post();
    clock.advance(-10 * HOUR);
    for (int fail = 1; fail <= 3; fail++) {
      failNextCommits(1);
      fails(StoreUnavailableException.class, posting.step());
    }
    post();
    assertEquals(0, balance());
    assertEquals(hour, posted());
    sound();
  }

  @Test
  void anHourPassedOverBeforeItHappenedIsPostedThoughNothingWasUsedInItThen() throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE allocation SET active_at = ?", hour + HOUR + HOUR / 2),
                Statement.of(
                    "INSERT INTO billing_posted (name, through) VALUES ('usage', ?)", hour))));
    // Past the hour and the next, both without usage.
    release(hour + HOUR + HOUR / 2);
    clock.advance(2 * HOUR);
    post();
    assertEquals(hour + 2 * HOUR, posted());

    clock.advance(-HOUR);
    release(hour + 2 * HOUR);
    clock.advance(HOUR - 5 * MINUTE);
    post();
    assertEquals(List.of(hour + HOUR), lines());
    assertEquals(-PER_HOUR / 2, balance());
  }

  @Test
  void billingDoesNotBeginInAnHourThatLiesAhead() throws Exception {
    await(
        database.commit(List.of(Statement.of("UPDATE allocation SET active_at = ?", hour + DAYS))));
    post();
    assertEquals(List.of(), integers("SELECT through FROM billing_posted"));
  }

  private void health(long atMillis, boolean isCredited) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO allocation_health (allocation_id, org_id, ts, state, credited,"
                        + " reasons) VALUES ('a0', 'acme', ?, ?, ?, ?)",
                    atMillis,
                    isCredited ? "FAILED" : "OK",
                    isCredited,
                    isCredited ? "GPU 3 fails\nand more" : null))));
  }

  private List<String> credits() throws Exception {
    return texts(
        "SELECT memo FROM ledger_transaction WHERE kind = 'credit' AND reversed_at IS NULL"
            + " AND reverses IS NULL ORDER BY effective_at");
  }

  /** The credit can be recomputed from the stored changes, is posted once, and names its reason. */
  @Test
  void aFailedNodeIsCreditedOnceWithTheHourThatItIsBilledFor() throws Exception {
    health(hour + HOUR / 2, true);
    health(hour + HOUR + HOUR / 4, false);
    clock.advance(2 * HOUR);
    post();
    assertEquals(-2 * PER_HOUR + PER_HOUR / 2 + PER_HOUR / 4, balance());
    assertEquals(2, credits().size());
    assertTrue(credits().get(0).endsWith(": GPU 3 fails"), credits().toString());
    assertTrue(credits().get(0).startsWith("node "), credits().toString());

    // A process that stopped between the credit and the usage finds the credit posted.
    await(
        database.commit(
            List.of(
                Statement.of("DELETE FROM usage_line"),
                Statement.of("UPDATE billing_posted SET through = ?", hour))));
    posting = new UsagePosting(database, SETTLE, clock);
    post();
    assertEquals(2, credits().size());
    assertEquals(-2 * PER_HOUR + PER_HOUR / 2 + PER_HOUR / 4, balance());
    sound();
  }

  @Test
  void twoProcessesThatPostAtOnceCreditOnce() throws Exception {
    health(hour, true);
    clock.advance(3 * HOUR);
    UsagePosting other = new UsagePosting(database, SETTLE, clock);
    boolean isMore = true;
    while (isMore) {
      Future<Boolean> mine = posting.step();
      Future<Boolean> theirs = other.step();
      boolean isMine = await(mine);
      boolean isTheirs = await(theirs);
      isMore = isMine || isTheirs;
    }
    assertEquals(3, credits().size());
    assertEquals(0, balance());
    sound();
  }

  @Test
  void aCreditThatAClockAheadPostedIsTakenBackWithItsUsageAndGivenAgain() throws Exception {
    health(hour, true);
    clock.advance(DAYS);
    post();
    // Of 72 hours one day is credited.
    assertEquals(24, credits().size());
    assertEquals(-48 * PER_HOUR, balance());

    clock.advance(-DAYS);
    post();
    assertEquals(List.of(), credits());
    assertEquals(List.of(), lines());
    assertEquals(0, balance());
    assertEquals(hour, posted());
    sound();

    health(hour + HOUR / 2, false);
    clock.advance(HOUR);
    post();
    assertEquals(1, credits().size());
    assertEquals(-PER_HOUR / 2, balance());
    sound();
  }

  @Test
  void changesOfHealthAreDeletedOnlyWhenNoHourNeedsThem() throws Exception {
    HealthRetention retention = new HealthRetention(database, 24 * HOUR, clock);
    health(hour, true);
    health(hour + HOUR / 2, false);
    health(hour + HOUR, true);
    clock.advance(DAYS);
    assertFalse(await(retention.step()));
    assertEquals(List.of(3L), integers("SELECT COUNT(*) FROM allocation_health"), "not posted");

    post();
    assertFalse(await(retention.step()));
    assertEquals(
        List.of(hour + HOUR), integers("SELECT ts FROM allocation_health"), "the last stays");
    release(hour + 2 * HOUR);
    await(retention.step());
    assertEquals(List.of(), integers("SELECT ts FROM allocation_health"));
  }

  /** After any clock steps the final bill is exactly for the held nodes. */
  @Test
  void aClockThatJumpsAboutBillsInTheEndWhatWasHeld() throws Exception {
    long seed = Long.getLong("bourse.test.seed", System.nanoTime());
    Random random = new Random(seed);
    FakeClock truth = new FakeClock(clock.millis());
    long reclaimed = hour + 5 * HOUR + random.nextInt((int) HOUR);
    boolean isReleased = false;
    List<String> told = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      truth.advance(random.nextInt(30 * (int) MINUTE));
      if (!isReleased && truth.millis() >= reclaimed) {
        release(reclaimed);
        isReleased = true;
      }
      long ahead = random.nextInt(3) == 0 ? random.nextInt((int) DAYS) : 0;
      clock.advance(truth.millis() + ahead - clock.millis());
      told.add(truth.millis() - hour + "+" + ahead);
      for (int step = random.nextInt(20); step > 0; step--) {
        await(posting.step());
      }
      if (ahead == 0) {
        post();
        String where = "seed " + seed + " after " + told;
        AccountStore.Account account = account();
        assertTrue(account.throughMillis() <= truth.millis(), where);
        long heldUntil = Math.min(account.throughMillis(), isReleased ? reclaimed : Long.MAX_VALUE);
        // Each line is rounded down separately.
        long due = (heldUntil - hour) * PER_HOUR / HOUR;
        assertTrue(Math.abs(balance() + due) <= 10, where);
        assertFalse(lines().stream().anyMatch(h -> h + HOUR > truth.millis()), where);
      }
    }
    sound();
  }
}
