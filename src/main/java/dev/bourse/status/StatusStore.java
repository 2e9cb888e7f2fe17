package dev.bourse.status;

import dev.bourse.store.Database;
import dev.bourse.store.Migrations;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts of what waits for somebody, read from what other parts store. */
final class StatusStore {
  private final Database database;

  StatusStore(Database database) {
    this.database = database;
  }

  /**
   * Something of which some wait.
   *
   * @param waiting how many
   * @param oldestMillis since when the one that waits longest does; null when none does
   */
  record Queue(long waiting, @Nullable Long oldestMillis) {}

  /**
   * So many organizations are held in one stage.
   *
   * @param enforced whether it is acted upon
   */
  record HeldCount(String stage, boolean enforced, long orgs) {}

  /** An organization that is held. */
  record HeldOrg(
      String orgId, String stage, @Nullable String reason, long sinceMillis, boolean enforced) {}

  /** The version of the store's schema, which a newer program may have made newer meanwhile. */
  Future<Long> readSchema() {
    return Migrations.readVersion(database);
  }

  /** Processes that said within the last minutes that they are there. */
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

  /** So many of them, those that have been held longest first. */
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

  /** Organizations that operators hold by hand. */
  Future<Long> countHeldByOperators() {
    return database.readOne(
        "SELECT COUNT(*) AS n FROM billing_org WHERE operator_hold_stage IS NOT NULL",
        List.of(),
        row -> row.integer("n"));
  }

  /** Public files that wait for a decision. */
  Future<Queue> readReviews() {
    return queue(
        """
        SELECT COUNT(*) AS n, MIN(i.changed_at) AS oldest FROM checkpoint_revision h
        CROSS JOIN checkpoint i WHERE h.state = 'review' AND i.item_id = h.item_id
        AND i.head_revision = h.revision AND NOT EXISTS
        (SELECT 1 FROM org o WHERE o.org_id = i.org_id AND o.retired_at IS NOT NULL)\
        """);
  }

  /** Uploads that were announced and are not complete. */
  Future<Queue> readUploads(long nowMillis) {
    return database.readOne(
        """
        SELECT COUNT(*) AS n, MIN(created_at) AS oldest FROM checkpoint_revision
        WHERE state = 'pending' AND expires_at > ?\
        """,
        List.of(nowMillis),
        StatusStore::queue);
  }

  /** Mails that the store keeps until they are sent. */
  Future<Queue> readMails() {
    return queue(
        """
        SELECT COUNT(*) AS n, MIN(accepted_at) AS oldest FROM outbox_mail
        WHERE dead_at IS NULL\
        """);
  }

  /** Events that wait for webhooks. */
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
