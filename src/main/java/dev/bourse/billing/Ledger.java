package dev.bourse.billing;

import dev.bourse.core.Times;
import java.util.List;
import java.util.Locale;

/**
 * Double entry. What an organization has is positive; whatever is put into one account is taken out
 * of another, so that all accounts always sum to zero.
 */
public final class Ledger {
  /** What organizations were billed. */
  public static final String REVENUE = "revenue";

  /** What organizations paid; negative, for it is what they were given in return. */
  public static final String CASH = "cash";

  /** What organizations were given for nothing; negative. */
  public static final String CREDITS = "credits";

  private Ledger() {}

  /** Why money moves. */
  public enum Kind {
    /** An hour's usage of all clusters of an organization. */
    USAGE(REVENUE),
    /** Money given by the platform. */
    CREDIT(CREDITS),
    /** Money received. */
    PAYMENT(CASH),
    /** A credit taken back. */
    ADJUSTMENT(CREDITS);

    private final String counterpart;

    Kind(String counterpart) {
      this.counterpart = counterpart;
    }

    /** As stored and shown. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    static Kind of(String label) {
      return valueOf(label.toUpperCase(Locale.ROOT));
    }
  }

  /** One account's part of a transaction, in micro-dollars. */
  public record Entry(String account, long micros) {}

  /**
   * Money moved between accounts.
   *
   * @param key what makes it unique: a transaction with a key that is stored already is not stored
   *     again
   * @param atMillis when it was made
   * @param effectiveMillis which moment, and so which month, it belongs to: of usage the hour's
   *     beginning
   * @param orgId whose it is
   * @param actor who made it
   * @param memo for people
   * @param entries by account name, so that two transactions never wait for each other's rows
   */
  public record Transaction(
      String key,
      long atMillis,
      long effectiveMillis,
      Kind kind,
      String orgId,
      String actor,
      String memo,
      List<Entry> entries) {
    public Transaction {
      entries = List.copyOf(entries);
      long sum = 0;
      for (Entry entry : entries) {
        sum = Math.addExact(sum, entry.micros());
      }
      if (sum != 0) {
        throw new IllegalArgumentException("entries of " + key + " sum to " + sum);
      }
    }
  }

  /** The account of an organization. */
  public static String account(String orgId) {
    return "org:" + orgId;
  }

  /** One hour's usage; the amount is taken from the organization. */
  public static Transaction usage(String orgId, long hourMillis, long micros, long nowMillis) {
    return between(
        "usage:" + orgId + ":" + hourMillis,
        nowMillis,
        hourMillis,
        Kind.USAGE,
        orgId,
        "system:billing",
        "",
        -micros);
  }

  /**
   * Gives back an hour's usage that was posted before the hour had happened.
   *
   * @param micros what was taken; positive
   * @param transactionId the transaction that is reversed
   */
  static Transaction reversal(
      String orgId, long hourMillis, long micros, long transactionId, long nowMillis) {
    return between(
        reversalKey(transactionId),
        nowMillis,
        hourMillis,
        Kind.USAGE,
        orgId,
        "system:billing",
        """
        reverses transaction %d, the usage of %s, which a clock that was ahead had posted before \
        its time\
        """
            .formatted(transactionId, Times.rfc3339(hourMillis)),
        micros);
  }

  /** The key of what reverses a transaction. */
  static String reversalKey(long transactionId) {
    return "reversal:" + transactionId;
  }

  /**
   * Money for an organization.
   *
   * @param key unique among those of its kind and organization
   * @param micros positive; negative for an adjustment
   */
  public static Transaction given(
      Kind kind, String orgId, String key, long micros, String actor, String memo, long nowMillis) {
    // A credit and its taking back share their keys, so that a retry with another sign is noticed.
    String family = kind == Kind.ADJUSTMENT ? Kind.CREDIT.label() : kind.label();
    return between(
        family + ":" + orgId + ":" + key, nowMillis, nowMillis, kind, orgId, actor, memo, micros);
  }

  private static Transaction between(
      String key,
      long nowMillis,
      long effectiveMillis,
      Kind kind,
      String orgId,
      String actor,
      String memo,
      long orgMicros) {
    Entry mine = new Entry(account(orgId), orgMicros);
    Entry other = new Entry(kind.counterpart, Math.negateExact(orgMicros));
    boolean mineFirst = mine.account().compareTo(other.account()) < 0;
    return new Transaction(
        key,
        nowMillis,
        effectiveMillis,
        kind,
        orgId,
        actor,
        memo,
        mineFirst ? List.of(mine, other) : List.of(other, mine));
  }
}
