package dev.bourse.billing;

import java.util.Map;
import java.util.TreeMap;

/** The balances of all accounts after some transactions, as the store should have them. */
public record BalancesModel(Map<String, Long> balances) {
  /** Nothing has happened. */
  public static final BalancesModel EMPTY = new BalancesModel(Map.of());

  /** The balances after one more transaction. */
  public BalancesModel after(Ledger.Transaction transaction) {
    Map<String, Long> moved = new TreeMap<>(balances);
    transaction.entries().forEach(e -> moved.merge(e.account(), e.micros(), Math::addExact));
    return new BalancesModel(moved);
  }

  /** An account's balance; 0 for one that nothing has happened on. */
  public long balance(String account) {
    return balances.getOrDefault(account, 0L);
  }

  /** The sum of all accounts, which is zero. */
  public long sum() {
    return balances.values().stream().mapToLong(Long::longValue).reduce(0, Math::addExact);
  }
}
