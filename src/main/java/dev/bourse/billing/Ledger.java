package dev.bourse.billing;

import dev.bourse.core.Times;
import java.util.List;
import java.util.Locale;

/**
 * Double-entry bookkeeping. An organization's credit is positive; each transaction moves money
 * between accounts, so that all accounts always sum to zero.
 */
public final class Ledger {
  /** Usage billed to organizations. */
  public static final String REVENUE = "revenue";

  /** Payments of organizations; negative, as the counterpart of their accounts. */
  public static final String CASH = "cash";

  /** Money given to organizations by the platform; negative. */
  public static final String CREDITS = "credits";

  private Ledger() {}

  /** The kind of a transaction. */
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

    /** The kind as stored and shown. */
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
   * A movement of money between accounts.
   *
   * @param key idempotency key: a transaction with a stored key is not stored again
   * @param atMillis when it was made
   * @param effectiveMillis the moment, and thereby the month, that it belongs to; for usage the
   *     start of the hour
   * @param orgId the organization
   * @param actor the actor who made it, as in audit rows
   * @param memo for people
   * @param entries ordered by account name, so that two transactions cannot deadlock
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

  /** Returns the account of an organization. */
  public static String account(String orgId) {
    return "org:" + orgId;
  }

  /** Returns the transaction of one hour's usage, which debits the organization. */
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

  /** Key prefix of credits for failed nodes; credits by operators have another. */
  static final String HEALTH = "health:";

  /** Returns the credit for an hour of a failed node. */
  static Transaction health(String orgId, HealthCredits.Credit credit, long nowMillis) {
    return between(
        HEALTH + credit.allocationId() + ":" + credit.hourMillis(),
        nowMillis,
        credit.hourMillis(),
        Kind.CREDIT,
        orgId,
        "system:billing",
        credit.memo(),
        credit.amountMicros());
  }

  /**
   * Reverses a transaction that was posted for an hour before the hour had happened.
   *
   * @param kind usage, or the credit for a failed node
   * @param micros change of the balance, positive or negative
   * @param transactionId the reversed transaction
   */
  static Transaction reversal(
      Kind kind, String orgId, long hourMillis, long micros, long transactionId, long nowMillis) {
    return between(
        reversalKey(transactionId),
        nowMillis,
        hourMillis,
        kind,
        orgId,
        "system:billing",
        """
        reverses transaction %d, the %s of %s, which was posted early while a clock ran \
        ahead\
        """
            .formatted(transactionId, kind.label(), Times.rfc3339(hourMillis)),
        micros);
  }

  /** Returns the key of the reversal of a transaction. */
  static String reversalKey(long transactionId) {
    return "reversal:" + transactionId;
  }

  /**
   * Returns a booking of money for an organization.
   *
   * @param key unique among those of its kind and organization
   * @param micros positive; negative for an adjustment
   */
  public static Transaction given(
      Kind kind, String orgId, String key, long micros, String actor, String memo, long nowMillis) {
    // A credit and its adjustment share their keys, so that a retry with another sign is noticed.
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
