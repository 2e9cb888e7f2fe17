package dev.bourse.billing;

import dev.bourse.core.Times;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reverses usage, and credits for failed nodes, that were posted while the clock ran ahead. Such a
 * transaction has a time in the future: its hour is in the future, or had not ended when it was
 * posted. Another transaction reverses it, its lines are deleted, and the hour is posted again when
 * it is over.
 *
 * <p>Each reversal is guarded by the transaction not being reversed yet, so that two processes, or
 * one that restarts after a crash, reverse it once. An organization's newest transaction is
 * reversed first, so that at every moment its usage is posted without gaps.
 */
final class Reversals {
  private static final Logger LOG = LoggerFactory.getLogger(Reversals.class);

  /** Transactions of one step, at some eight small statements each. */
  private static final int PER_STEP = 100;

  /** The condition matches a partial index for each kind. Takes a time twice. */
  private static final String AHEAD =
      """
       FROM (SELECT id, org_id, kind, effective_at, made_at FROM ledger_transaction
      WHERE kind = 'usage' AND reversed_at IS NULL AND reverses IS NULL AND made_at > ?
      UNION ALL SELECT id, org_id, kind, effective_at, made_at FROM ledger_transaction
      WHERE kind = 'credit' AND reversed_at IS NULL AND reverses IS NULL AND made_at > ?
      AND tx_key LIKE 'health:%') AS t\
      """;

  private final Database database;
  private final LongAdder reversed = new LongAdder();
  private boolean isLogged;

  Reversals(Database database) {
    this.database = database;
  }

  private record Ahead(long id, String orgId, Ledger.Kind kind, long hourMillis, long micros) {}

  /** Returns the number of hours reversed since the start of this process. */
  long count() {
    return reversed.sum();
  }

  /**
   * Reverses some of the transactions made after this moment; returns whether there were any.
   *
   * @param nowMillis confirmed time
   */
  Future<Boolean> step(long nowMillis) {
    return database
        .read(
            """
            SELECT t.id, t.org_id, t.kind, t.effective_at, (SELECT e.micros FROM ledger_entry e WHERE
            e.transaction_id = t.id AND e.account = 'org:' || t.org_id) AS micros%s
            ORDER BY t.made_at DESC, t.id DESC LIMIT ?\
            """
                .formatted(AHEAD),
            List.of(nowMillis, nowMillis, PER_STEP),
            row ->
                new Ahead(
                    row.integer("id"),
                    row.text("org_id"),
                    Ledger.Kind.of(row.text("kind")),
                    row.integer("effective_at"),
                    row.integer("micros")))
        .compose(
            ahead -> {
              if (ahead.isEmpty()) {
                isLogged = false;
                return Future.succeededFuture(false);
              }
              logOnce(nowMillis);
              return setBack(nowMillis).compose(done -> reverse(ahead, nowMillis)).map(true);
            });
  }

  private void logOnce(long nowMillis) {
    if (!isLogged) {
      isLogged = true;
      LOG.warn(
          """
          it is {} now, but usage was posted for later hours: it is reversed, and posted again \
          when the hours are over\
          """,
          Times.rfc3339(nowMillis));
    }
  }

  /** Sets the watermarks back before anything is reversed, so that none is past a reversed hour. */
  private Future<Void> setBack(long nowMillis) {
    return database
        .read(
            "SELECT COALESCE(MIN(t.effective_at), 0) AS first" + AHEAD,
            List.of(nowMillis, nowMillis),
            row -> row.integer("first"))
        .compose(
            first ->
                first.get(0) == 0
                    ? Future.succeededFuture()
                    : database.commit(
                        List.of(
                            WatermarkStore.setBack(
                                Math.min(first.get(0), Usage.hourOf(nowMillis))))));
  }

  private Future<Void> reverse(List<Ahead> ahead, long nowMillis) {
    Map<String, List<Statement>> byOrg = new LinkedHashMap<>();
    for (Ahead one : ahead) {
      List<Statement> statements = byOrg.computeIfAbsent(one.orgId(), org -> new ArrayList<>());
      statements.add(LedgerStore.markReversed(one.id(), nowMillis));
      statements.addAll(
          LedgerStore.insert(
              Ledger.reversal(
                  one.kind(), one.orgId(), one.hourMillis(), -one.micros(), one.id(), nowMillis)));
      statements.add(LedgerStore.linkReversal(one.id()));
      if (one.kind() == Ledger.Kind.USAGE) {
        statements.add(UsageStore.delete(one.orgId(), one.hourMillis()));
        statements.add(AccountStore.resetPosted(one.orgId(), one.hourMillis()));
      }
    }
    return BoundedWork.inTurn(
        byOrg.entrySet(),
        org ->
            database
                .commit(org.getValue())
                .onSuccess(
                    stored ->
                        reversed.add(
                            ahead.stream()
                                .filter(one -> one.orgId().equals(org.getKey()))
                                .filter(one -> one.kind() == Ledger.Kind.USAGE)
                                .count()))
                // Another process has reversed some of them; the next step continues.
                .recover(
                    e ->
                        e instanceof ConcurrentUpdateException
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }
}
