package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of the ledger. */
public final class LedgerStore {
  /** The guard of a transaction: one with its key is stored already. */
  static final String KEY_GUARD = "ledger transaction is new";

  /** The guard of a reversal: somebody else has reversed the transaction. */
  static final String REVERSAL_GUARD = "ledger transaction is not reversed";

  /** The guard of a transaction's entries: they do not sum to zero. */
  private static final String SUM_GUARD = "ledger entries sum to zero";

  /** Faults of one verification: one would be too many, and more than these nobody reads. */
  private static final int MAX_FAULTS = 100;

  private final Database database;

  LedgerStore(Database database) {
    this.database = database;
  }

  /**
   * Stores a transaction, its entries and the balances they move; in the commit of whatever it
   * records. Fails the commit with {@link #KEY_GUARD} when its key is stored already.
   */
  public static List<Statement> insert(Ledger.Transaction transaction) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.guarded(
            KEY_GUARD,
            "INSERT INTO ledger_transaction (tx_key, made_at, effective_at, month, kind, org_id,"
                + " actor, memo) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tx_key) DO NOTHING",
            transaction.key(),
            transaction.atMillis(),
            transaction.effectiveMillis(),
            Month.at(transaction.effectiveMillis()).number(),
            transaction.kind().label(),
            transaction.orgId(),
            transaction.actor(),
            transaction.memo()));
    for (Ledger.Entry entry : transaction.entries()) {
      statements.add(
          Statement.of(
              "INSERT INTO ledger_entry (transaction_id, account, micros)"
                  + " SELECT id, CAST(? AS TEXT), CAST(? AS BIGINT) FROM ledger_transaction"
                  + " WHERE tx_key = ?",
              entry.account(),
              entry.micros(),
              transaction.key()));
    }
    statements.add(
        Statement.guarded(
            SUM_GUARD,
            "UPDATE ledger_transaction SET tx_key = tx_key WHERE tx_key = ? AND 0 ="
                + " (SELECT SUM(e.micros) FROM ledger_entry e"
                + " WHERE e.transaction_id = ledger_transaction.id)",
            transaction.key()));
    for (Ledger.Entry entry : transaction.entries()) {
      statements.add(
          Statement.of(
              "INSERT INTO ledger_account (account, micros) VALUES (?, ?)"
                  + " ON CONFLICT (account) DO UPDATE"
                  + " SET micros = ledger_account.micros + excluded.micros",
              entry.account(),
              entry.micros()));
    }
    return statements;
  }

  /**
   * Marks a transaction as reversed, and frees its key for another. Fails the commit with {@link
   * #REVERSAL_GUARD} when it is reversed already.
   */
  static Statement reversed(long id, long nowMillis) {
    return Statement.guarded(
        REVERSAL_GUARD,
        "UPDATE ledger_transaction SET reversed_at = ?, tx_key = tx_key || ':reversed:' || id"
            + " WHERE id = ? AND reversed_at IS NULL",
        nowMillis,
        id);
  }

  /** Notes what a transaction reverses; in its commit, after {@link #insert}. */
  static Statement reverses(long id) {
    return Statement.of(
        "UPDATE ledger_transaction SET reverses = ? WHERE tx_key = ?", id, Ledger.reversalKey(id));
  }

  /**
   * A transaction as an organization sees it.
   *
   * @param micros what it adds to the balance
   * @param reverses the transaction it reverses; null for an ordinary one
   */
  public record Posting(
      long id,
      long atMillis,
      long effectiveMillis,
      Ledger.Kind kind,
      String actor,
      String memo,
      long micros,
      @Nullable Long reverses) {}

  private static final String POSTING =
      "SELECT t.id, t.made_at, t.effective_at, t.kind, t.actor, t.memo, e.micros, t.reverses"
          + " FROM ledger_transaction t JOIN ledger_entry e"
          + " ON e.transaction_id = t.id AND e.account = 'org:' || t.org_id";

  /** An organization's transactions below an id, newest first. */
  Future<List<Posting>> list(String orgId, long before, int limit) {
    return database.read(
        POSTING + " WHERE t.org_id = ? AND t.id < ? ORDER BY t.id DESC LIMIT ?",
        List.of(orgId, before, limit),
        LedgerStore::posting);
  }

  /** The transaction with a key. */
  Future<Optional<Posting>> find(String key) {
    return database
        .read(POSTING + " WHERE t.tx_key = ?", List.of(key), LedgerStore::posting)
        .map(found -> found.stream().findFirst());
  }

  private static Posting posting(Row row) {
    return new Posting(
        row.integer(0),
        row.integer(1),
        row.integer(2),
        Ledger.Kind.of(row.text(3)),
        row.text(4),
        row.text(5),
        row.integer(6),
        row.integerOrNull(7));
  }

  /** How much the transactions of one kind moved an organization's balance in one month. */
  record Moved(Month month, Ledger.Kind kind, long micros) {}

  /** All that moved an organization's balance, by month. */
  Future<List<Moved>> listMoved(String orgId) {
    return database.read(
        "SELECT t.month, t.kind, CAST(SUM(e.micros) AS BIGINT) FROM ledger_transaction t"
            + " JOIN ledger_entry e ON e.transaction_id = t.id AND e.account = ?"
            + " WHERE t.org_id = ? GROUP BY t.month, t.kind ORDER BY t.month, t.kind",
        List.of(Ledger.account(orgId), orgId),
        row ->
            new Moved(Month.ofNumber(row.integer(0)), Ledger.Kind.of(row.text(1)), row.integer(2)));
  }

  /** An account whose stored balance is not the sum of its entries. */
  public record Misfit(String account, long storedMicros, long entriesMicros) {}

  /**
   * What a look at the whole ledger found.
   *
   * @param sumMicros the sum of all accounts; 0 when it is sound
   * @param unbalanced transactions whose entries do not sum to zero, at most 100
   * @param misfits accounts at fault, at most 100
   */
  public record Report(
      long transactions,
      long accounts,
      long sumMicros,
      List<Long> unbalanced,
      List<Misfit> misfits) {
    /** Whether nothing was found. */
    public boolean isSound() {
      return sumMicros == 0 && unbalanced.isEmpty() && misfits.isEmpty();
    }
  }

  /** Adds up every entry there is. */
  Future<Report> verify() {
    Future<long[]> totals =
        database
            .read(
                "SELECT (SELECT COUNT(*) FROM ledger_transaction),"
                    + " (SELECT COUNT(*) FROM ledger_account),"
                    + " (SELECT CAST(COALESCE(SUM(micros), 0) AS BIGINT) FROM ledger_account)",
                List.of(),
                row -> new long[] {row.integer(0), row.integer(1), row.integer(2)})
            .map(rows -> rows.get(0));
    Future<List<Long>> unbalanced =
        database.read(
            "SELECT t.id FROM ledger_transaction t LEFT JOIN ledger_entry e"
                + " ON e.transaction_id = t.id GROUP BY t.id"
                + " HAVING COALESCE(SUM(e.micros), 1) <> 0 ORDER BY t.id LIMIT ?",
            List.of(MAX_FAULTS),
            row -> row.integer(0));
    Future<List<Misfit>> misfits =
        database.read(
            "SELECT a.account, a.micros, CAST(COALESCE(s.micros, 0) AS BIGINT)"
                + " FROM ledger_account a LEFT JOIN"
                + " (SELECT account, SUM(micros) AS micros FROM ledger_entry GROUP BY account) s"
                + " ON s.account = a.account WHERE a.micros <> COALESCE(s.micros, 0)"
                + " ORDER BY a.account LIMIT ?",
            List.of(MAX_FAULTS),
            row -> new Misfit(row.text(0), row.integer(1), row.integer(2)));
    return Future.all(totals, unbalanced, misfits)
        .map(
            all ->
                new Report(
                    totals.result()[0],
                    totals.result()[1],
                    totals.result()[2],
                    unbalanced.result(),
                    misfits.result()));
  }
}
