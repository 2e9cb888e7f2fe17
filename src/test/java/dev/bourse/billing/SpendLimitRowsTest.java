package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stored spend limits of organizations, also when the previous release writes them. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SpendLimitRowsTest extends StoreFixture {
  private AccountStore accounts;

  @BeforeEach
  void openAccounts() {
    accounts = new AccountStore(database);
  }

  private SpendLimits limits(String orgId) throws Exception {
    return await(accounts.get(orgId, Month.at(Sample.T0))).limits();
  }

  private void set(SpendLimits seen, SpendLimits after) throws Exception {
    await(database.commit(AccountStore.limits("acme", seen, after)));
  }

  /** The statement of the previous release, which has one limit only. */
  private static Statement asBefore(String orgId, @Nullable Long micros) {
    return Statement.of(
        """
        INSERT INTO billing_org (org_id, limit_micros) VALUES (?, ?)
        ON CONFLICT (org_id) DO UPDATE SET limit_micros = excluded.limit_micros\
        """,
        orgId,
        micros);
  }

  @Test
  void theLimitInForceIsStoredForThePreviousRelease() throws Exception {
    SpendLimits both = new SpendLimits(7L, 5L);
    set(SpendLimits.NONE, both);

    assertEquals(both, limits("acme"));
    assertEquals(List.of(5L), integers("SELECT limit_micros FROM billing_org"));
  }

  @Test
  void aWriteUponLimitsThatHaveChangedStoresNothing() throws Exception {
    SpendLimits first = new SpendLimits(4L, 5L);
    set(SpendLimits.NONE, first);

    for (SpendLimits seen :
        List.of(SpendLimits.NONE, new SpendLimits(4L, null), new SpendLimits(null, 5L))) {
      fails(
          ConcurrentUpdateException.class,
          database.commit(AccountStore.limits("acme", seen, new SpendLimits(9L, 9L))));
    }
    assertEquals(first, limits("acme"));
  }

  @Test
  void aLimitThatThePreviousReleaseWritesIsTheMembersAndTheOperatorsStays() throws Exception {
    set(SpendLimits.NONE, new SpendLimits(7L, 5L));

    await(database.commit(List.of(asBefore("acme", 9L))));
    assertEquals(new SpendLimits(9L, 5L), limits("acme"));
    set(limits("acme"), new SpendLimits(3L, 5L));
    assertEquals(new SpendLimits(3L, 5L), limits("acme"));

    await(database.commit(List.of(asBefore("acme", null))));
    assertEquals(new SpendLimits(null, 5L), limits("acme"));
    assertEquals(List.of("acme"), await(accounts.listLimited()));
  }
}
