package dev.bourse.status;

import dev.bourse.billing.Month;
import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the counts of pending work from tables that other packages own. */
final class StatusStore {
  private final Database database;

  StatusStore(Database database) {
    this.database = database;
  }

  /**
   * The length of a queue.
   *
   * @param waiting entries in it
   * @param oldestMillis when the oldest entry joined; null if the queue is empty
   */
  record Queue(long waiting, @Nullable Long oldestMillis) {}

  /**
   * The number of organizations held in one stage.
   *
   * @param enforced whether the hold is enforced
   */
  record HeldCount(String stage, boolean enforced, long orgs) {}

  /** An organization on hold. */
  record HeldOrg(
      String orgId, String stage, @Nullable String reason, long sinceMillis, boolean enforced) {}

  /**
   * Returns the version of the store's schema; a newer replica may have migrated it past this
   * program's own.
   */
  Future<Long> readSchema() {
    return Migrations.readVersion(database);
  }

  /** Counts the processes whose heartbeat has not expired. */
  Future<Long> countProcesses() {
    return database.readOne(
        "SELECT COUNT(*) AS n FROM upkeep_process WHERE expires_at > " + database.clockSql(),
        List.of(),
        row -> row.integer("n"));
  }

  Future<List<HeldCount>> countHeld() {
    return database.read(
        """
        SELECT hold_stage, hold_enforced, COUNT(*) AS orgs FROM billing_org
        WHERE hold_stage <> 'NONE' GROUP BY hold_stage, hold_enforced\
        """,
        List.of(),
        row ->
            new HeldCount(row.text("hold_stage"), row.truth("hold_enforced"), row.integer("orgs")));
  }

  /** Lists organizations on hold, those held longest first. */
  Future<List<HeldOrg>> listHeld(int limit) {
    return database.read(
        """
        SELECT org_id, hold_stage, hold_reason, hold_since, hold_enforced FROM billing_org
        WHERE hold_stage <> 'NONE' ORDER BY hold_since, org_id LIMIT ?\
        """,
        List.of(limit),
        row ->
            new HeldOrg(
                row.text("org_id"),
                row.text("hold_stage"),
                row.textOrNull("hold_reason"),
                row.integer("hold_since"),
                row.truth("hold_enforced")));
  }

  /** Counts organizations that operators hold by hand. */
  Future<Long> countHeldByOperators() {
    return database.readOne(
        "SELECT COUNT(*) AS n FROM billing_org WHERE operator_hold_stage IS NOT NULL",
        List.of(),
        row -> row.integer("n"));
  }

  /**
   * Returns the usage posted for a month, of all organizations, in micro-dollars. An organization
   * whose postings are being reversed counts again after its next posting.
   */
  Future<Long> readRevenue(Month month) {
    return database.readOne(
        """
        SELECT CAST(COALESCE(SUM(month_micros), 0) AS BIGINT) AS micros FROM billing_org
        WHERE month_start = ?\
        """,
        List.of(month.startMillis()),
        row -> row.integer("micros"));
  }

  /** Returns public files that wait for a review. */
  Future<Queue> readReviews() {
    return queue(
        """
        SELECT COUNT(*) AS n, MIN(i.changed_at) AS oldest FROM checkpoint_revision h
        CROSS JOIN checkpoint i WHERE h.state = 'review' AND i.item_id = h.item_id
        AND i.head_revision = h.revision AND NOT EXISTS
        (SELECT 1 FROM org o WHERE o.org_id = i.org_id AND o.retired_at IS NOT NULL)\
        """);
  }

  /** Returns uploads that were announced and are not complete. */
  Future<Queue> readUploads(long nowMillis) {
    return database.readOne(
        """
        SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM checkpoint_revision
        WHERE state = 'pending' AND expires_at > ?\
        """,
        List.of(nowMillis),
        StatusStore::queue);
  }

  /** Returns mails that wait to be sent. */
  Future<Queue> readMails() {
    return queue(
        """
        SELECT COUNT(*) AS n, MIN(accepted_at) AS oldest FROM outbox_mail
        WHERE dead_at IS NULL\
        """);
  }

  /** Returns events that wait for delivery to webhooks. */
  Future<Queue> readDeliveries() {
    return queue(
        """
        SELECT COUNT(*) AS n, MIN(made_at) AS oldest FROM webhook_delivery
        WHERE outcome IS NULL\
        """);
  }

  private Future<Queue> queue(String sql) {
    return database.readOne(sql, List.of(), StatusStore::queue);
  }

  private static Queue queue(Row row) {
    return new Queue(row.integer("n"), row.integerOrNull("oldest"));
  }
}
