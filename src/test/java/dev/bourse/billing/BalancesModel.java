package dev.bourse.billing;

import java.util.Map;
import java.util.TreeMap;

/** A model of the accounts' balances after a series of transactions. */
public record BalancesModel(Map<String, Long> balances) {
  /** No transactions. */
  public static final BalancesModel EMPTY = new BalancesModel(Map.of());

  /** Returns the balances after one more transaction. */
  public BalancesModel after(Ledger.Transaction transaction) {
    Map<String, Long> moved = new TreeMap<>(balances);
    transaction.entries().forEach(e -> moved.merge(e.account(), e.micros(), Math::addExact));
    return new BalancesModel(moved);
  }

  /** Returns an account's balance; 0 without transactions. */
  public long balance(String account) {
    return balances.getOrDefault(account, 0L);
  }

  /** Returns the sum of all accounts, which is zero. */
  public long sum() {
    return balances.values().stream().mapToLong(Long::longValue).reduce(0, Math::addExact);
  }
}
