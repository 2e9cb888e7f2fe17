package dev.bourse.notifications;

import dev.bourse.access.CallerGuard;
import dev.bourse.audit.TrailEntry;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Cluster;
import dev.bourse.events.ActivityStore.StoredActivity;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.webhooks.EventKind;
import dev.bourse.webhooks.WebhookEvent;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Rows of the service's position in the news, and of the events that wait for members' mails. */
final class NewsStore {
  private static final Logger LOG = LoggerFactory.getLogger(NewsStore.class);

  /** Events that wait for one mail, the newest; the mail counts the others. */
  static final int MAX_LINES = 50;

  private static final String OF_MEMBER = " WHERE org_id = ? AND username = ? AND pace = ?";

  /** Activity that a mail can tell, of organizations with choices, that was not read yet. */
  private static final String ACTIVITY =
      """
      SELECT %s,
      (SELECT c.org_id FROM cluster c WHERE c.name = activity.cluster) AS org_id,
      (SELECT c.kind FROM cluster c WHERE c.name = activity.cluster) AS surface,
      (SELECT COUNT(*) FROM cluster c JOIN mail_choice m ON m.org_id = c.org_id
      WHERE c.name = activity.cluster) AS choices,
      CASE WHEN EXISTS (SELECT 1 FROM activity b WHERE b.cluster = activity.cluster
      AND b.kind = 'action' AND b.ts >= activity.ts - %s AND b.ts <= activity.ts
      AND b.id < activity.id AND b.event = 'notice') THEN 0 ELSE 1 END AS is_first
      FROM activity WHERE id > ? AND ((kind = 'request' AND reason IS NOT NULL)
      OR (kind = 'action' AND (event IN ('notice', 'notice-withdrawn')
      OR event LIKE 'hold-%%' OR event LIKE 'alert-%%')))
      AND NOT EXISTS (SELECT 1 FROM mail_position k
      WHERE k.cluster = activity.cluster AND k.position >= activity.id)
      AND EXISTS (SELECT 1 FROM cluster c JOIN mail_choice m ON m.org_id = c.org_id
      WHERE c.name = activity.cluster)
      ORDER BY id LIMIT ?\
      """
          .formatted(ActivityRows.NAMES, Pace.PAUSE_MILLIS);

  private static final String TRAIL =
      """
      SELECT id, ts, org_id, actor, action, subject, detail,
      (SELECT COUNT(*) FROM mail_choice m WHERE m.org_id = audit.org_id) AS choices
      FROM audit WHERE id > ? AND id <= ? AND is_read = 0
      AND action IN ('node_silent', 'node_answers', 'node_health')
      AND EXISTS (SELECT 1 FROM mail_choice m WHERE m.org_id = audit.org_id)
      ORDER BY id LIMIT ?\
      """;

  /** The choice that row d of {@code mail_due} serves. */
  private static final String CHOICE =
      """
      mail_choice c WHERE c.org_id = d.org_id AND c.username = d.username AND c.pace = d.pace
      AND c.kind = ? AND c.%s < ?\
      """;

  private final Database database;

  NewsStore(Database database) {
    this.database = database;
  }

  /**
   * How far the service has read.
   *
   * @param activity all activity up to here is read
   * @param next becomes {@code activity} later
   * @param markedMillis when {@code next} was the newest activity
   * @param trail all of the trail up to here is read
   * @param revision the guard of the next commit
   */
  record Scan(long activity, long next, long markedMillis, long trail, long revision) {
    /** Before anything is read. */
    static final Scan BEGINNING = new Scan(0, 0, 0, 0, 0);
  }

  /** Reads how far the service has read. */
  Future<Scan> findScan() {
    return database
        .readFirst(
            "SELECT activity, activity_next, marked_at, trail, revision FROM mail_scan",
            List.of(),
            row ->
                new Scan(
                    row.integer("activity"),
                    row.integer("activity_next"),
                    row.integer("marked_at"),
                    row.integer("trail"),
                    row.integer("revision")))
        .map(found -> found.orElse(Scan.BEGINNING));
  }

  /**
   * A new entry.
   *
   * @param cluster the cluster whose activity has it; null for an entry of the trail
   * @param isFirst whether the cluster had no notice shortly before
   * @param choices how many choices its organization's members have, of all kinds
   * @param event what a mail tells; null if the row cannot be told
   */
  record News(
      long id,
      @Nullable String cluster,
      String orgId,
      long atMillis,
      boolean isFirst,
      long choices,
      @Nullable WebhookEvent event) {
    /** A notice is worth a mail before the pause ends, if it is the first of its cluster. */
    boolean isUrgent() {
      return isFirst && event != null && event.kind() == EventKind.NOTICE;
    }
  }

  /** Lists new activity by id. One cluster's entries are committed in the order of their ids. */
  Future<List<News>> listActivity(Scan scan, int most) {
    return database.read(
        ACTIVITY,
        List.of(scan.activity(), most),
        row -> {
          long id = row.integer("id");
          long at = row.integer("ts");
          String cluster = row.text("cluster");
          return new News(
              id,
              cluster,
              row.text("org_id"),
              at,
              row.integer("is_first") == 1,
              row.integer("choices"),
              told(
                  id,
                  () ->
                      WebhookEvent.of(
                          new StoredActivity(id, at, cluster, ActivityRows.activity(row)),
                          row.value(Cluster.Kind.class, "surface"))));
        });
  }

  /** Lists new entries of the trails by id, up to a settled one. */
  Future<List<News>> listTrail(Scan scan, long settled, int most) {
    return database.read(TRAIL, List.of(scan.trail(), settled, most), NewsStore::ofTrail);
  }

  private static News ofTrail(Row row) {
    long id = row.integer("id");
    TrailEntry entry =
        new TrailEntry(
            id,
            row.integer("ts"),
            row.text("actor"),
            row.text("action"),
            row.text("subject"),
            row.text("detail"));
    return new News(
        id,
        null,
        row.text("org_id"),
        entry.atMillis(),
        false,
        row.integer("choices"),
        told(id, () -> WebhookEvent.of(entry)));
  }

  /** A row that a later release wrote, or that is damaged, must not keep the news after it. */
  private static @Nullable WebhookEvent told(long id, Supplier<Optional<WebhookEvent>> event) {
    try {
      return event.get().orElse(null);
    } catch (RuntimeException e) {
      LOG.warn("no mail tells entry {}, which cannot be read", id, e);
      return null;
    }
  }

  /** Another process read the same news, or sent the same mail. */
  static final class NewsConflictException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NewsConflictException() {
      super("another process was faster", null, false, false);
    }
  }

  /**
   * Writes lines for all members who chose the news, and stores how far the service has read, in
   * one commit.
   *
   * @param read the new entries
   * @param told those of them that lines are written for
   */
  Future<Void> write(Scan before, Scan after, List<News> read, List<News> told, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    // A change of choices locks the row too, so that it comes before all lines or after them.
    for (String orgId : new TreeSet<>(told.stream().map(News::orgId).toList())) {
      statements.add(CallerGuard.lock(orgId));
    }
    statements.add(
        Statement.guarded(
            NewsConflictException::new,
            """
            INSERT INTO mail_scan (name, activity, activity_next, marked_at, trail, revision)
            VALUES ('mails', ?, ?, ?, ?, 1) ON CONFLICT (name) DO UPDATE
            SET activity = excluded.activity, activity_next = excluded.activity_next,
            marked_at = excluded.marked_at, trail = excluded.trail,
            revision = mail_scan.revision + 1 WHERE mail_scan.revision = ?\
            """,
            after.activity(),
            after.next(),
            after.markedMillis(),
            after.trail(),
            before.revision()));
    Map<String, Long> positions = new TreeMap<>();
    for (News entry : read) {
      if (entry.cluster() != null) {
        positions.merge(entry.cluster(), entry.id(), Math::max);
      }
    }
    positions.forEach(
        (cluster, position) ->
            statements.add(
                Statement.of(
                    """
                    INSERT INTO mail_position (cluster, position) VALUES (?, ?)
                    ON CONFLICT (cluster) DO UPDATE SET position = excluded.position\
                    """,
                    cluster,
                    position)));
    if (after.activity() != before.activity()) {
      statements.add(
          Statement.of("DELETE FROM mail_position WHERE position <= ?", after.activity()));
    }
    told.forEach(entry -> addLines(statements, entry, nowMillis));
    return database.commit(statements);
  }

  private static void addLines(List<Statement> statements, News entry, long nowMillis) {
    WebhookEvent event = entry.event();
    String kind =
        event == null ? null : MailKind.of(event.kind()).map(MailKind::label).orElse(null);
    if (event == null || kind == null) {
      return;
    }
    String choice = CHOICE.formatted(entry.cluster() == null ? "trail" : "activity");
    long ahead = entry.isUrgent() ? Pace.URGENT_MILLIS : Pace.BURST_MILLIS;
    for (Pace pace : Pace.values()) {
      // First notices use the member's time far ahead. No event waits longer than a pause for that.
      long earliest = pace.earliest(nowMillis);
      statements.add(
          Statement.of(
              """
              UPDATE mail_due AS d SET written = written + 1,
              due_at = CASE WHEN due_at <= CAST(? AS BIGINT) OR due_at <= spread_until - %1$s
              THEN due_at
              WHEN spread_until - %1$s > CAST(? AS BIGINT) + %3$s THEN CAST(? AS BIGINT) + %3$s
              WHEN spread_until - %1$s > CAST(? AS BIGINT) THEN spread_until - %1$s
              ELSE CAST(? AS BIGINT) END
              WHERE d.org_id = ? AND d.pace = ? AND EXISTS (SELECT 1 FROM %2$s)\
              """
                  .formatted(ahead, choice, Pace.PAUSE_MILLIS),
              earliest,
              earliest,
              earliest,
              earliest,
              earliest,
              entry.orgId(),
              pace.label(),
              kind,
              entry.id()));
    }
    statements.add(
        Statement.of(
            """
            INSERT INTO mail_line (org_id, username, pace, slot, kind, at, body)
            SELECT d.org_id, d.username, d.pace, d.written %% %s, CAST(? AS TEXT),
            CAST(? AS BIGINT), CAST(? AS TEXT) FROM mail_due d WHERE d.org_id = ?
            AND EXISTS (SELECT 1 FROM %s)
            ON CONFLICT (org_id, username, pace, slot)
            DO UPDATE SET kind = excluded.kind, at = excluded.at, body = excluded.body\
            """
                .formatted(MAX_LINES, choice),
            kind,
            // A clock that ran ahead must not keep the line for longer.
            Math.min(entry.atMillis(), nowMillis),
            event.body(),
            entry.orgId(),
            kind,
            entry.id()));
  }

  /**
   * A member whose mail is due.
   *
   * @param address where the mails go
   * @param written the lines that were ever written
   * @param told those that were told
   * @param spreadMillis until when mails that were sent are spread out
   */
  record Due(
      Recipient member, String address, Pace pace, long written, long told, long spreadMillis) {
    /** Returns the lines that newer ones replaced. */
    long replaced() {
      return Math.max(0, written - told - MAX_LINES);
    }
  }

  /**
   * Lists members whose mails of a pace are due, those who wait longest first. Members who left or
   * are suspended, and retired organizations, are left out.
   */
  Future<List<Due>> listDue(Pace pace, long nowMillis, int most) {
    return database.read(
        """
        SELECT d.org_id, d.username, d.written, d.told, d.spread_until, m.email FROM mail_due d
        JOIN org o ON o.org_id = d.org_id AND o.retired_at IS NULL
        JOIN member m ON m.org_id = d.org_id AND m.username = d.username
        AND m.suspended_at IS NULL
        WHERE d.pace = ? AND d.due_at <= ? ORDER BY d.due_at LIMIT ?\
        """,
        List.of(pace.label(), nowMillis, most),
        row ->
            new Due(
                new Recipient(row.text("org_id"), row.text("username")),
                row.text("email"),
                pace,
                row.integer("written"),
                row.integer("told"),
                row.integer("spread_until")));
  }

  /** Lists the events that wait, the oldest first, without those that are older than a time. */
  Future<List<JsonObject>> listLines(Due due, long sinceMillis) {
    return database
        .read(
            "SELECT body FROM mail_line" + OF_MEMBER + " AND at > ? ORDER BY at",
            List.of(due.member().orgId(), due.member().username(), due.pace().label(), sinceMillis),
            row -> row.text("body"))
        .map(bodies -> bodies.stream().map(JsonObject::new).toList());
  }

  /**
   * Deletes the lines of a mail in one commit with the mail.
   *
   * @param spreadMillis until when mails are spread out
   * @param mail the statements that store it; empty without one
   */
  Future<Void> end(Due due, long spreadMillis, List<Statement> mail) {
    Recipient member = due.member();
    List<Statement> statements =
        new ArrayList<>(CallerGuard.of(member.orgId(), "member:" + member.username()));
    statements.add(
        Statement.guarded(
            NewsConflictException::new,
            "UPDATE mail_due SET told = written, due_at = NULL, spread_until = ?"
                + OF_MEMBER
                + " AND written = ? AND told = ? AND due_at IS NOT NULL",
            spreadMillis,
            member.orgId(),
            member.username(),
            due.pace().label(),
            due.written(),
            due.told()));
    statements.add(
        Statement.of(
            "DELETE FROM mail_line" + OF_MEMBER,
            member.orgId(),
            member.username(),
            due.pace().label()));
    statements.addAll(mail);
    return database.commit(statements);
  }

  /** Delays a mail that failed. */
  Future<Void> delay(Due due, long untilMillis) {
    return database.commit(
        List.of(
            Statement.of(
                "UPDATE mail_due SET due_at = ?" + OF_MEMBER + " AND due_at IS NOT NULL",
                untilMillis,
                due.member().orgId(),
                due.member().username(),
                due.pace().label())));
  }

  /** Deletes lines that are as old as this. */
  Future<Void> forget(long untilMillis) {
    return database.commit(
        List.of(Statement.of("DELETE FROM mail_line WHERE at <= ?", untilMillis)));
  }
}
