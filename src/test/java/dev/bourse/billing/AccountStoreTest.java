package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.capacity.Holds;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A hold changes only if the state it was decided on is unchanged. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class AccountStoreTest extends StoreFixture {
  private static final HoldState ENFORCE =
      new HoldState(HoldState.Stage.ENFORCE, HoldState.Reason.BALANCE, Sample.T0, true);

  private AccountStore accounts;

  @BeforeEach
  void openAccounts() {
    accounts = new AccountStore(database);
  }

  private AccountStore.Account account() throws Exception {
    return await(accounts.get("acme", Month.at(Sample.T0)));
  }

  private void refused(AccountStore.Account seen) throws Exception {
    ExecutionException failure =
        assertThrows(
            ExecutionException.class,
            () -> await(database.commit(AccountStore.hold(seen, ENFORCE))));
    assertInstanceOf(Holds.HoldMovedException.class, failure.getCause());
    assertEquals(HoldState.NONE, account().hold());
  }

  @Test
  void aHoldMovesUponWhatIsSoStill() throws Exception {
    await(database.commit(AccountStore.hold(account(), ENFORCE)));

    assertEquals(ENFORCE, account().hold());
    await(database.commit(AccountStore.hold(account(), HoldState.NONE)));
    assertEquals(HoldState.NONE, account().hold());
  }

  @Test
  void whatWasSeenBeforeAPaymentMovesNoHold() throws Exception {
    AccountStore.Account seen = account();
    await(
        database.commit(
            LedgerStore.insert(
                Ledger.given(
                    Ledger.Kind.PAYMENT, "acme", "k", 5_000_000, "operator:x", "", Sample.T0))));

    refused(seen);
  }

  @Test
  void whatWasSeenBeforeTheLimitChangedMovesNoHold() throws Exception {
    AccountStore.Account seen = account();
    SpendLimits limits = new SpendLimits(null, 5_000_000L);
    await(database.commit(AccountStore.limits("acme", SpendLimits.NONE, limits)));

    refused(seen);
    AccountStore.Account limited = account();
    await(database.commit(AccountStore.limits("acme", limits, SpendLimits.NONE)));
    refused(limited);
  }
}
