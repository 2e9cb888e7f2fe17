package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Sample;
import dev.bourse.core.Price;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stored total of an organization's month is the sum of its lines. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class MonthTotalTest extends ExchangeFixture {
  private static final Month FEBRUARY = Month.parse("2026-02");
  private static final Month MARCH = Month.parse("2026-03");

  private final TreeMap<Long, Long> billed = new TreeMap<>();
  private AccountStore accounts;

  @BeforeEach
  void openAccounts() throws Exception {
    accounts = new AccountStore(database);
    adopt(Sample.empty());
  }

  private static long hour(int number) {
    return MARCH.startMillis() + Usage.HOUR_MILLIS * number;
  }

  private Statement line(long hour, long micros) {
    billed.put(hour, micros);
    return UsageStore.insert(
        "acme",
        new Usage.Line(Sample.empty().name(), hour, 1, micros * Price.CENT_GPU_MILLIS_PER_MICRO));
  }

  private void post(long hour, long micros) throws Exception {
    await(database.commit(List.of(line(hour, micros), AccountStore.recordPosted("acme", hour))));
  }

  /** Posts as a process of the previous release does, which has no totals. */
  private void postAsBefore(long hour, long micros) throws Exception {
    await(
        database.commit(
            List.of(
                line(hour, micros),
                Statement.of(
                    """
                    INSERT INTO billing_org (org_id, posted_through) VALUES ('acme', ?)
                    ON CONFLICT (org_id) DO UPDATE SET posted_through = excluded.posted_through\
                    """,
                    hour + Usage.HOUR_MILLIS))));
  }

  private void reverse(long hour) throws Exception {
    billed.remove(hour);
    await(
        database.commit(
            List.of(UsageStore.delete("acme", hour), AccountStore.resetPosted("acme", hour))));
  }

  private long total(Month month) throws Exception {
    return await(accounts.get("acme", month)).postedMonthMicros();
  }

  private void isTheSumOfItsLines(String after) throws Exception {
    for (Month month : List.of(FEBRUARY, MARCH)) {
      long sum = billed.tailMap(month.startMillis()).values().stream().mapToLong(m -> m).sum();
      assertEquals(sum, total(month), month + " after " + after);
    }
  }

  @Test
  void aTotalIsTheSumOfItsLinesWhateverIsPostedAndReversed() throws Exception {
    Random random = new Random(5);
    int next = -40;
    for (int step = 0; step < 250; step++) {
      long micros = 1L + random.nextInt(1_000_000);
      String what = "step " + step + ", hour " + next;
      int kind = random.nextInt(10);
      if (kind < 5) {
        post(hour(next++), micros);
      } else if (kind < 7) {
        postAsBefore(hour(next++), micros);
      } else if (kind == 7) {
        // An hour without usage.
        next++;
      } else if (kind == 8 && !billed.isEmpty()) {
        // The newest first, as if a clock had run ahead; they are posted again.
        for (int i = random.nextInt(3); i >= 0 && !billed.isEmpty(); i--) {
          reverse(billed.lastKey());
        }
        next =
            billed.isEmpty() ? next : (int) ((billed.lastKey() - hour(0)) / Usage.HOUR_MILLIS) + 1;
      } else {
        long late = hour(next - 1 - random.nextInt(5));
        if (!billed.containsKey(late)) {
          post(late, micros);
        }
      }
      isTheSumOfItsLines(what);
    }
  }

  @Test
  void aTotalIsReadWithoutTheLinesThatAreInIt() throws Exception {
    for (int i = 0; i < 3; i++) {
      post(hour(i), 100);
    }
    List<Statement> spoilt = new ArrayList<>();
    spoilt.add(Statement.of("UPDATE usage_line SET amount_micros = 0"));
    await(database.commit(spoilt));
    assertEquals(300, total(MARCH));
  }
}
