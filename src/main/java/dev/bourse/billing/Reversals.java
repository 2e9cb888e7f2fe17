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
 * Takes back usage that was posted by a clock that was ahead. Such a transaction was made at a time
 * that has not come yet: its hour may lie ahead, or had not ended when it was posted. Another
 * transaction reverses it, its lines go, and the hour is posted anew when it is over.
 *
 * <p>Each reversal is guarded by the transaction not being reversed yet, so that two processes, or
 * one that begins again after a crash, reverse it once. The newest of an organization goes first:
 * up to where its usage is posted, all of it is, at every moment.
 */
final class Reversals {
  private static final Logger LOG = LoggerFactory.getLogger(Reversals.class);

  /** Transactions of one step: some eight small statements each. */
  private static final int PER_STEP = 100;

  private static final String AHEAD =
      """
       FROM ledger_transaction t WHERE t.kind = 'usage' AND t.reversed_at IS NULL
      AND t.reverses IS NULL AND t.made_at > ?\
      """;

  private final Database database;
  private final LongAdder reversed = new LongAdder();
  private boolean toldNow;

  Reversals(Database database) {
    this.database = database;
  }

  private record Ahead(long id, String orgId, long hourMillis, long micros) {}

  /** Hours reversed since the start of this process. */
  long count() {
    return reversed.sum();
  }

  /**
   * Reverses some of what was made after this moment; whether there was any.
   *
   * @param nowMillis confirmed time
   */
  Future<Boolean> step(long nowMillis) {
    return database
        .read(
            """
            SELECT t.id, t.org_id, t.effective_at, (SELECT e.micros FROM ledger_entry e WHERE
            e.transaction_id = t.id AND e.account = 'org:' || t.org_id) AS micros%s
            ORDER BY t.made_at DESC, t.id DESC LIMIT ?\
            """
                .formatted(AHEAD),
            List.of(nowMillis, PER_STEP),
            row ->
                new Ahead(
                    row.integer("id"),
                    row.text("org_id"),
                    row.integer("effective_at"),
                    row.integer("micros")))
        .compose(
            ahead -> {
              if (ahead.isEmpty()) {
                toldNow = false;
                return Future.succeededFuture(false);
              }
              tell(nowMillis);
              return setBack(nowMillis).compose(done -> reverse(ahead, nowMillis)).map(true);
            });
  }

  private void tell(long nowMillis) {
    if (!toldNow) {
      toldNow = true;
      LOG.warn(
          """
          it is {} now, but usage was posted for later hours: it is reversed and posted \
          again later\
          """,
          Times.rfc3339(nowMillis));
    }
  }

  /** Before anything is reversed nothing may count as posted beyond it. */
  private Future<Void> setBack(long nowMillis) {
    return database
        .read(
            "SELECT COALESCE(MIN(t.effective_at), 0) AS first" + AHEAD,
            List.of(nowMillis),
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
      statements.add(LedgerStore.reversed(one.id(), nowMillis));
      statements.addAll(
          LedgerStore.insert(
              Ledger.reversal(one.orgId(), one.hourMillis(), -one.micros(), one.id(), nowMillis)));
      statements.add(LedgerStore.reverses(one.id()));
      statements.add(UsageStore.delete(one.orgId(), one.hourMillis()));
      statements.add(AccountStore.postedBack(one.orgId(), one.hourMillis()));
    }
    return BoundedWork.inTurn(
        byOrg.entrySet(),
        org ->
            database
                .commit(org.getValue())
                .onSuccess(
                    stored ->
                        reversed.add(
                            ahead.stream().filter(one -> one.orgId().equals(org.getKey())).count()))
                // Somebody else has reversed some of them; the next step sees what is left.
                .recover(
                    e ->
                        e instanceof Overtaken
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }
}
