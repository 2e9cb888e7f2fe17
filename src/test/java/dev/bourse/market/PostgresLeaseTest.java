package dev.bourse.market;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Sample;
import dev.bourse.pools.Quote;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.testing.SharedPostgres;
import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Leases on a server that several processes share; the clock of the server alone decides whether
 * they have expired.
 */
class PostgresLeaseTest extends MarketFixture {
  private static final long MINUTE = 60_000;
  private static final long DAYS = 3 * 24 * 60 * MINUTE;

  @Override
  protected Future<? extends Database> open() throws Exception {
    return SharedPostgres.openStore(vertx, clock);
  }

  private LeaseStore store() {
    return new LeaseStore(database);
  }

  private Optional<Lease> acquire(String owner) throws Exception {
    return await(store().acquire("h100", owner, MINUTE));
  }

  private long leftMillis() throws Exception {
    return integers("SELECT expires_at - " + database.clockSql() + " FROM lease").get(0);
  }

  private void expireIn(long millis) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE lease SET expires_at = " + database.clockSql() + " + ?", millis))));
  }

  private long epoch() {
    try {
      return integers("SELECT epoch FROM lease").get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aProcesssOwnClockNeitherGivesNorTakesALease() throws Exception {
    clock.advance(DAYS);
    Lease lease = acquire("p1").orElseThrow();
    assertTrue(leftMillis() > 0 && leftMillis() <= MINUTE, "of a minute: " + leftMillis());

    clock.advance(DAYS);
    assertEquals(Optional.empty(), acquire("p2"));
    clock.advance(-9 * DAYS);
    assertEquals(Optional.empty(), acquire("p2"));
    await(store().renew(lease, 2 * MINUTE, Optional.empty()));
    assertTrue(leftMillis() > MINUTE && leftMillis() <= 2 * MINUTE, "renewed: " + leftMillis());

    await(store().release(lease));
    assertEquals(2, acquire("p2").orElseThrow().epoch());
  }

  @Test
  void aLeaseAnOlderProcessWroteWithAClockOfItsOwnIsHeldUntilThenAndNeverForDays()
      throws Exception {
    acquire("older");
    expireIn(MINUTE);
    assertEquals(Optional.empty(), acquire("p2"));
    expireIn(DAYS);
    assertEquals(2, acquire("p2").orElseThrow().epoch());
    expireIn(-MINUTE);
    assertEquals(3, acquire("p3").orElseThrow().epoch());
  }

  @Test
  void ofManyThatTakeALeaseAtOnceOneHasItAndTheOthersAreToldSo() throws Exception {
    for (int round = 1; round <= 3; round++) {
      List<Future<Optional<Lease>>> asked = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        asked.add(store().acquire("h100", "p" + i, MINUTE));
      }
      List<Lease> got = new ArrayList<>();
      for (Future<Optional<Lease>> one : asked) {
        await(one).ifPresent(got::add);
      }
      assertEquals(1, got.size(), "round " + round);
      assertEquals(round, got.get(0).epoch());
      await(store().release(got.get(0)));
    }
  }

  @Test
  void whoSawALeaseExpiredDoesNotTakeItOnceItIsRenewed() throws Exception {
    Lease lease = acquire("p1").orElseThrow();
    expireIn(-1);
    Promise<Void> renewed = Promise.promise();
    Future<Void> seen = holdNextRead(renewed.future());
    Future<Optional<Lease>> other = store().acquire("h100", "p2", MINUTE);
    await(seen);
    await(store().renew(lease, MINUTE, Optional.empty()));
    renewed.complete();

    assertEquals(Optional.empty(), await(other));
    await(store().renew(lease, MINUTE, Optional.empty()));
  }

  @Test
  void aLeaseThatWasRequestedBeforeAStopIsFreeAfterIt() throws Exception {
    for (int round = 0; round < 5; round++) {
      MarketService brief = newMarket();
      brief.start();
      await(brief.stop());
      Lease next = acquire("next").orElseThrow();
      await(store().release(next));
    }
  }

  @Test
  void aRenewalThatFailsIsTriedAgainWhileTheLeaseStandsAndTheMarketGoesOn() throws Exception {
    adopt(Sample.empty());
    await(market.start());
    eventually("ticking", () -> clusters.findQuote("h100").isPresent());
    // Nothing changes, so renewals are the only commits.
    ticks(3);
    List<Long> before = integers("SELECT expires_at FROM lease");
    failNextCommits(3);

    eventually("renewed after all", () -> !expiry().equals(before));
    assertEquals(1, epoch());
    ticks(3);
    declare(8);
    eventually("granted under the same lease", () -> !cluster().allocations().isEmpty());
    assertEquals(1, epoch());
  }

  private List<Long> expiry() {
    try {
      return integers("SELECT expires_at FROM lease");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @Slow("a lease of twelve seconds is renewed in real time, after a third of it")
  void aLeaseThatSomebodyElseHasIsGivenUpAtItsRenewal() throws Exception {
    adopt(Sample.empty());
    await(market.start());
    eventually("ticking", () -> clusters.findQuote("h100").isPresent());
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE lease SET epoch = 2, owner = 'other', expires_at = "
                        + database.clockSql()
                        + " + 1000"))));

    eventually("taken again once it is free", () -> epoch() == 3);
    declare(8);
    eventually("granted", () -> !cluster().allocations().isEmpty());
  }

  /** Gives another process the lease for a long time, with a stored quote. */
  private void heldElsewhere(Quote told, long epochOfQuote) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO lease (pool, owner, epoch, expires_at, quote, quote_epoch)"
                        + " VALUES ('h100', 'other', 7, "
                        + database.clockSql()
                        + " + ?, ?, ?)",
                    MINUTE,
                    QuoteText.write(told),
                    epochOfQuote))));
  }

  private static Quote quoteOf(long cents) {
    return new Quote(cents, cents + 1, 3, 2, 1, 2);
  }

  @Test
  void whoWaitsForTheLeaseShowsWhatItsHolderPublishes() throws Exception {
    adopt(Sample.empty());
    heldElsewhere(quoteOf(12_345), 7);
    await(market.start());
    eventually("shown", () -> clusters.findQuote("h100").equals(Optional.of(quoteOf(12_345))));
    await(
        database.commit(
            List.of(Statement.of("UPDATE lease SET quote = ?", QuoteText.write(quoteOf(23_456))))));
    eventually("shown anew", () -> clusters.findQuote("h100").equals(Optional.of(quoteOf(23_456))));
  }

  @Test
  void whatAnEarlierHolderPublishedIsNotShown() throws Exception {
    adopt(Sample.empty());
    heldElsewhere(quoteOf(12_345), 6);
    await(market.start());
    eventually("computed by itself", () -> clusters.findQuote("h100").isPresent());
    assertNotEquals(Optional.of(quoteOf(12_345)), clusters.findQuote("h100"));
  }

  @Test
  void aHolderTellsWhatItPublishedWithEachRenewal() throws Exception {
    Lease lease = acquire("p1").orElseThrow();
    await(store().renew(lease, MINUTE, Optional.empty()));
    assertEquals(Optional.empty(), await(store().readQuote("h100")));
    await(store().renew(lease, MINUTE, Optional.of(quoteOf(12_345))));
    assertEquals(Optional.of(quoteOf(12_345)), await(store().readQuote("h100")));

    await(store().release(lease));
    assertEquals(2, acquire("p2").orElseThrow().epoch());
    assertEquals(Optional.empty(), await(store().readQuote("h100")), "of the next holder's");
  }
}
