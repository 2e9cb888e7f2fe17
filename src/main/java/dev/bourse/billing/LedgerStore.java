package dev.bourse.billing;

import dev.bourse.core.Page;
import dev.bourse.schemas.common.LedgerPageJson;
import dev.bourse.schemas.common.TransactionJson;
import dev.bourse.store.Columns;
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
  private static final Columns<Ledger.Transaction> TRANSACTION =
      Columns.<Ledger.Transaction>of("ledger_transaction")
          .fixed("tx_key", Ledger.Transaction::key)
          .fixed("made_at", Ledger.Transaction::atMillis)
          .fixed("effective_at", Ledger.Transaction::effectiveMillis)
          .fixed("month", transaction -> Month.at(transaction.effectiveMillis()).number())
          .fixed("kind", transaction -> transaction.kind().label())
          .fixed("org_id", Ledger.Transaction::orgId)
          .fixed("actor", Ledger.Transaction::actor)
          .fixed("memo", Ledger.Transaction::memo);

  /** Faults listed by one verification; more would not be read. */
  private static final int MAX_FAULTS = 100;

  private final Database database;

  public LedgerStore(Database database) {
    this.database = database;
  }

  /**
   * Returns the statements that store a transaction, its entries and the balances they change. They
   * belong in the commit of the recorded event. The commit fails with {@link
   * ConcurrentUpdateException} if the key is stored already.
   */
  public static List<Statement> insert(Ledger.Transaction transaction) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        TRANSACTION
            .insert(transaction, "ON CONFLICT (tx_key) DO NOTHING")
            .orElse(ConcurrentUpdateException::new));
    for (Ledger.Entry entry : transaction.entries()) {
      statements.add(
          Statement.of(
              """
              INSERT INTO ledger_entry (transaction_id, account, micros)
              SELECT id, CAST(? AS TEXT), CAST(? AS BIGINT) FROM ledger_transaction
              WHERE tx_key = ?\
              """,
              entry.account(),
              entry.micros(),
              transaction.key()));
    }
    statements.add(
        Statement.guarded(
            () -> new IllegalStateException("the entries of a transaction do not sum to zero"),
            """
            UPDATE ledger_transaction SET tx_key = tx_key WHERE tx_key = ? AND 0 =
            (SELECT SUM(e.micros) FROM ledger_entry e
            WHERE e.transaction_id = ledger_transaction.id)\
            """,
            transaction.key()));
    for (Ledger.Entry entry : transaction.entries()) {
      statements.add(
          Statement.of(
              """
              INSERT INTO ledger_account (account, micros) VALUES (?, ?)
              ON CONFLICT (account) DO UPDATE
              SET micros = ledger_account.micros + excluded.micros\
              """,
              entry.account(),
              entry.micros()));
    }
    return statements;
  }

  /**
   * Marks a transaction as reversed, and frees its key. The commit fails with {@link
   * ConcurrentUpdateException} if it is reversed already.
   */
  static Statement markReversed(long id, long nowMillis) {
    return Statement.guarded(
        ConcurrentUpdateException::new,
        """
        UPDATE ledger_transaction SET reversed_at = ?, tx_key = tx_key || ':reversed:' || id
        WHERE id = ? AND reversed_at IS NULL\
        """,
        nowMillis,
        id);
  }

  /** Links a reversal to its transaction; in the reversal's commit, after {@link #insert}. */
  static Statement linkReversal(long id) {
    return Statement.of(
        "UPDATE ledger_transaction SET reverses = ? WHERE tx_key = ?", id, Ledger.reversalKey(id));
  }

  /**
   * A transaction as an organization sees it.
   *
   * @param micros change of the balance
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
      @Nullable Long reverses) {

    /** Returns a page of transactions as the contracts show it. */
    public static LedgerPageJson page(Page<Posting> page) {
      return new LedgerPageJson(
          page.items().stream().map(Posting::toJson).toList(),
          page.more(),
          page.next(last -> String.valueOf(last.id())));
    }

    private TransactionJson toJson() {
      return new TransactionJson(
          id, atMillis, effectiveMillis, kind.label(), actor, memo, micros, reverses);
    }
  }

  private static final String POSTING =
      """
      SELECT t.id, t.made_at, t.effective_at, t.kind, t.actor, t.memo, e.micros, t.reverses
      FROM ledger_transaction t JOIN ledger_entry e
      ON e.transaction_id = t.id AND e.account = 'org:' || t.org_id\
      """;

  /** Lists an organization's transactions below an id, newest first. */
  Future<List<Posting>> list(String orgId, long before, int limit) {
    return database.read(
        POSTING + " WHERE t.org_id = ? AND t.id < ? ORDER BY t.id DESC LIMIT ?",
        List.of(orgId, before, limit),
        LedgerStore::posting);
  }

  /** Finds the transaction with a key. */
  Future<Optional<Posting>> find(String key) {
    return database.readFirst(POSTING + " WHERE t.tx_key = ?", List.of(key), LedgerStore::posting);
  }

  private static Posting posting(Row row) {
    return new Posting(
        row.integer("id"),
        row.integer("made_at"),
        row.integer("effective_at"),
        Ledger.Kind.of(row.text("kind")),
        row.text("actor"),
        row.text("memo"),
        row.integer("micros"),
        row.integerOrNull("reverses"));
  }

  /** Returns the month of an organization's first transaction; empty if there is none. */
  Future<Optional<Month>> findFirstMonth(String orgId) {
    return database.readFirst(
        "SELECT month FROM ledger_transaction WHERE org_id = ? ORDER BY month LIMIT 1",
        List.of(orgId),
        row -> Month.ofNumber(row.integer("month")));
  }

  /** The sum of an organization's transactions of one kind in one month. */
  record MonthlySum(Month month, Ledger.Kind kind, long micros) {}

  /** Lists the sums of an organization's transactions by month and kind. */
  Future<List<MonthlySum>> listMonthlySums(String orgId) {
    return database.read(
        """
        SELECT t.month, t.kind, CAST(SUM(e.micros) AS BIGINT) AS moved FROM ledger_transaction t
        JOIN ledger_entry e ON e.transaction_id = t.id AND e.account = ?
        WHERE t.org_id = ? GROUP BY t.month, t.kind ORDER BY t.month, t.kind\
        """,
        List.of(Ledger.account(orgId), orgId),
        row ->
            new MonthlySum(
                Month.ofNumber(row.integer("month")),
                Ledger.Kind.of(row.text("kind")),
                row.integer("moved")));
  }

  /** An account whose stored balance is not the sum of its entries. */
  public record Misfit(String account, long storedMicros, long entriesMicros) {}

  /**
   * The result of a verification of the whole ledger.
   *
   * @param sumMicros the sum of all accounts; 0 if the ledger is sound
   * @param unbalanced transactions whose entries do not sum to zero, at most 100
   * @param misfits accounts with a wrong balance, at most 100
   */
  public record Report(
      long transactions,
      long accounts,
      long sumMicros,
      List<Long> unbalanced,
      List<Misfit> misfits) {
    /** Returns true if there is no fault. */
    public boolean isSound() {
      return sumMicros == 0 && unbalanced.isEmpty() && misfits.isEmpty();
    }
  }

  /** Adds up every entry of the ledger. */
  public Future<Report> verify() {
    Future<List<Long>> unbalanced =
        database.read(
            """
            SELECT t.id FROM ledger_transaction t LEFT JOIN ledger_entry e
            ON e.transaction_id = t.id GROUP BY t.id
            HAVING COALESCE(SUM(e.micros), 1) <> 0 ORDER BY t.id LIMIT ?\
            """,
            List.of(MAX_FAULTS),
            row -> row.integer("id"));
    Future<List<Misfit>> misfits =
        database.read(
            """
            SELECT a.account, a.micros, CAST(COALESCE(s.micros, 0) AS BIGINT) AS entries
            FROM ledger_account a LEFT JOIN
            (SELECT account, SUM(micros) AS micros FROM ledger_entry GROUP BY account) s
            ON s.account = a.account WHERE a.micros <> COALESCE(s.micros, 0)
            ORDER BY a.account LIMIT ?\
            """,
            List.of(MAX_FAULTS),
            row -> new Misfit(row.text("account"), row.integer("micros"), row.integer("entries")));
    return Future.all(unbalanced, misfits)
        .compose(
            found ->
                database.read(
                    """
                    SELECT (SELECT COUNT(*) FROM ledger_transaction) AS transactions,
                    (SELECT COUNT(*) FROM ledger_account) AS accounts,
                    (SELECT CAST(COALESCE(SUM(micros), 0) AS BIGINT) FROM ledger_account) AS total
                    """,
                    List.of(),
                    row ->
                        new Report(
                            row.integer("transactions"),
                            row.integer("accounts"),
                            row.integer("total"),
                            unbalanced.result(),
                            misfits.result())))
        .map(reports -> reports.get(0));
  }
}
