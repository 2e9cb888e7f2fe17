package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.billing.Ledger.Entry;
import dev.bourse.billing.Ledger.Kind;
import dev.bourse.billing.Ledger.Transaction;
import dev.bourse.core.ApiException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Double-entry bookkeeping. */
@Tag("fast")
class LedgerTest {
  private static Transaction given(Kind kind, long micros) {
    return Ledger.given(kind, "acme", "k", micros, "operator:first", "", 5);
  }

  @Test
  void aPaymentIsTheOrganizationsAndTakenOutOfCash() {
    BalancesModel ledger = BalancesModel.EMPTY.after(given(Kind.PAYMENT, 7));

    assertEquals(7, ledger.balance("org:acme"));
    assertEquals(-7, ledger.balance(Ledger.CASH));
  }

  @Test
  void usageIsTakenFromTheOrganizationAndIsRevenue() {
    BalancesModel ledger = BalancesModel.EMPTY.after(Ledger.usage("acme", 3_600_000, 9, 8_000_000));

    assertEquals(-9, ledger.balance("org:acme"));
    assertEquals(9, ledger.balance(Ledger.REVENUE));
  }

  @Test
  void entriesThatDoNotSumToZeroAreNoTransaction() {
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new Transaction(
                "k", 1, 1, Kind.CREDIT, "acme", "a", "", List.of(new Entry("org:acme", 1))));
  }

  @Test
  void aCreditAndItsTakingBackShareTheirKeys() {
    assertEquals(given(Kind.CREDIT, 1).key(), given(Kind.ADJUSTMENT, -1).key());
  }

  @Test
  void whateverHappensAllAccountsSumToZero() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    BalancesModel ledger = BalancesModel.EMPTY;
    for (int i = 0; i < 2_000; i++) {
      String org = "o" + random.nextInt(5);
      long micros = random.nextLong(1, 1L << 40);
      Kind kind = List.of(Kind.values()).get(random.nextInt(4));
      ledger =
          ledger.after(
              kind == Kind.USAGE
                  ? Ledger.usage(org, i * Usage.HOUR_MILLIS, micros, i)
                  : Ledger.given(
                      kind, org, "k" + i, kind == Kind.ADJUSTMENT ? -micros : micros, "a", "", i));
      assertEquals(0, ledger.sum(), "seed " + seed + " step " + i);
    }
  }

  @Test
  void monthsAreInUtc() {
    Month month = Month.parse("2026-02");

    assertEquals(month, Month.at(month.startMillis()));
    assertEquals(month, Month.at(month.endMillis() - 1));
    assertEquals("2026-03", Month.at(month.endMillis()).toString());
    assertEquals(month, Month.ofNumber(month.number()));
    assertEquals(202_602, month.number());
    for (String no : List.of("2026-13", "2026-1", "26-01", "2026-01-01", "")) {
      assertThrows(ApiException.class, () -> Month.parse(no), no);
    }
  }
}
