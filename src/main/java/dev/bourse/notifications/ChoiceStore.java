package dev.bourse.notifications;

import dev.bourse.access.CallerGuard;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Offboarding.Author;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.events.ActivityStore;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of members' choices, and of how far their mails have come. */
final class ChoiceStore {
  /** Clusters that one mail looks at; the next mail looks at the others. */
  private static final int MAX_CLUSTERS = 100;

  private static final String OF_MEMBER = " WHERE org_id = ? AND username = ?";

  /** The activity of a cluster c past the progress p of a member, whose position there is k. */
  private static final String AHEAD =
      """
      EXISTS (SELECT 1 FROM activity a WHERE a.cluster = c.name AND a.kind IN ('action', 'request')
      AND a.ts >= COALESCE(k.at, p.since) - CAST(? AS BIGINT)
      AND a.id > COALESCE(k.position, p.activity)
      AND (a.kind = 'action' OR a.reason IS NOT NULL))\
      """;

  private static final String CLUSTERS =
      """
      FROM cluster c LEFT JOIN mail_position k ON k.org_id = p.org_id AND k.username = p.username
      AND k.pace = p.pace AND k.cluster = c.name WHERE c.org_id = p.org_id AND %s\
      """
          .formatted(AHEAD);

  private final Database database;

  ChoiceStore(Database database) {
    this.database = database;
  }

  /** Returns a member's choices: the pace of each kind that is not off, by label. */
  Future<Map<String, String>> findChoices(Recipient member) {
    return database
        .read(
            "SELECT kind, pace FROM mail_choice" + OF_MEMBER,
            List.of(member.orgId(), member.username()),
            row -> Map.entry(row.text("kind"), row.text("pace")))
        .map(
            rows -> {
              Map<String, String> choices = new LinkedHashMap<>();
              rows.forEach(row -> choices.put(row.getKey(), row.getValue()));
              return choices;
            });
  }

  /**
   * Where the mails of a new pace begin.
   *
   * @param activity the newest entry of all clusters
   * @param trail the newest settled entry of the trail
   */
  record Start(long activity, long trail, long nowMillis) {}

  /**
   * Stores choices; kinds that are left out keep theirs.
   *
   * @param choices the pace of kinds, or {@link Pace#OFF}, by label
   */
  Future<Void> change(Recipient member, Map<String, String> choices, Start start, AuditRow audit) {
    List<Statement> statements =
        new ArrayList<>(CallerGuard.of(member.orgId(), "member:" + member.username()));
    choices.forEach(
        (kind, pace) ->
            statements.add(
                pace.equals(Pace.OFF)
                    ? Statement.of(
                        "DELETE FROM mail_choice" + OF_MEMBER + " AND kind = ?",
                        member.orgId(),
                        member.username(),
                        kind)
                    : Statement.of(
                        """
                        INSERT INTO mail_choice (org_id, username, kind, pace) VALUES (?, ?, ?, ?)
                        ON CONFLICT (org_id, username, kind) DO UPDATE SET pace = excluded.pace\
                        """,
                        member.orgId(),
                        member.username(),
                        kind,
                        pace)));
    for (Pace pace : Pace.values()) {
      statements.addAll(follow(member, pace, start));
    }
    statements.add(AuditStore.insert(audit));
    return database.commit(statements);
  }

  /** Returns the statements that keep the progress of a pace if a choice has that pace. */
  private static List<Statement> follow(Recipient member, Pace pace, Start start) {
    String chosen =
        "EXISTS (SELECT 1 FROM mail_choice WHERE org_id = ? AND username = ? AND pace = ?)";
    List<Statement> statements = new ArrayList<>();
    for (String table : List.of("mail_position", "mail_progress")) {
      statements.add(
          Statement.of(
              "DELETE FROM %s WHERE org_id = ? AND username = ? AND pace = ? AND NOT %s"
                  .formatted(table, chosen),
              member.orgId(),
              member.username(),
              pace.label(),
              member.orgId(),
              member.username(),
              pace.label()));
    }
    statements.add(
        Statement.of(
            """
            INSERT INTO mail_progress
            (org_id, username, pace, activity, trail, since, due_at, revision)
            SELECT org_id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT),
            CAST(? AS BIGINT), CAST(? AS BIGINT), 0 FROM org WHERE org_id = ? AND %s
            ON CONFLICT (org_id, username, pace) DO NOTHING\
            """
                .formatted(chosen),
            member.username(),
            pace.label(),
            start.activity(),
            start.trail(),
            start.nowMillis(),
            pace.firstDue(start.nowMillis()),
            member.orgId(),
            member.orgId(),
            member.username(),
            pace.label()));
    return statements;
  }

  /**
   * Ends all mails of a member; records it if there was a choice. The organization's row is locked
   * first, so that of two requests at the same time one records it.
   */
  Future<Void> end(Recipient member, AuditRow audit) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.of("UPDATE org SET retired_at = retired_at WHERE org_id = ?", member.orgId()));
    statements.add(
        AuditStore.insertEach(
            audit,
            "CAST('' AS TEXT)",
            "org WHERE org_id = ? AND EXISTS (SELECT 1 FROM mail_choice" + OF_MEMBER + ")",
            member.orgId(),
            member.orgId(),
            member.username()));
    statements.addAll(deletion(new Author(member.orgId(), member.username())));
    return database.commit(statements);
  }

  /** Returns the statements that delete the rows of a member, or of an organization. */
  private static List<Statement> deletion(Author author) {
    String username = author.username();
    List<Statement> statements = new ArrayList<>();
    for (String table : List.of("mail_choice", "mail_position", "mail_progress")) {
      statements.add(
          username == null
              ? Statement.of("DELETE FROM %s WHERE org_id = ?".formatted(table), author.orgId())
              : Statement.of("DELETE FROM " + table + OF_MEMBER, author.orgId(), username));
    }
    return statements;
  }

  /** Deletes the choices of members who leave. */
  static Offboarding offboarding() {
    return new Offboarding() {
      @Override
      public List<Statement> ending(Author author, long nowMillis) {
        return deletion(author);
      }

      @Override
      public Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis) {
        return Future.succeededFuture(new JsonObject());
      }
    };
  }

  /**
   * A member whose mails of one pace may be due.
   *
   * @param address where the mails go
   * @param revision the guard of the next commit
   */
  record Progress(
      Recipient member,
      String address,
      Pace pace,
      long activity,
      long trail,
      long sinceMillis,
      long revision) {}

  /**
   * Lists members with mails due: of the pace {@link Pace#AT_ONCE} those with new events only.
   * Members who left or are suspended, and retired organizations, are left out.
   */
  Future<List<Progress>> listDue(long nowMillis, int most) {
    return database.read(
        """
        SELECT p.org_id, p.username, p.pace, p.activity, p.trail, p.since, p.revision, m.email
        FROM mail_progress p
        JOIN org o ON o.org_id = p.org_id AND o.retired_at IS NULL
        JOIN member m ON m.org_id = p.org_id AND m.username = p.username
        AND m.suspended_at IS NULL
        WHERE p.due_at <= ? AND (p.pace = 'digest' OR EXISTS
        (SELECT 1 FROM audit t WHERE t.org_id = p.org_id AND t.is_read = 0 AND t.id > p.trail)
        OR EXISTS (SELECT 1 %s)) ORDER BY p.due_at, p.org_id, p.username LIMIT ?\
        """
            .formatted(CLUSTERS),
        List.of(nowMillis, ActivityStore.SKEW_MILLIS, most),
        ChoiceStore::progress);
  }

  private static Progress progress(Row row) {
    return new Progress(
        new Recipient(row.text("org_id"), row.text("username")),
        row.text("email"),
        Pace.of(row.text("pace")),
        row.integer("activity"),
        row.integer("trail"),
        row.integer("since"),
        row.integer("revision"));
  }

  /** Lists the kinds that a member receives at a pace, by label. */
  Future<List<String>> listKinds(Progress progress) {
    return database.read(
        "SELECT kind FROM mail_choice" + OF_MEMBER + " AND pace = ?",
        List.of(progress.member().orgId(), progress.member().username(), progress.pace().label()),
        row -> row.text("kind"));
  }

  /** A position in the activity of a cluster. */
  record Position(String cluster, long id, long atMillis) {}

  /** Lists the positions in clusters with activity past them. */
  Future<List<Position>> listAhead(Progress progress) {
    return database.read(
        """
        SELECT c.name, COALESCE(k.position, p.activity) AS id, COALESCE(k.at, p.since) AS at
        FROM mail_progress p CROSS JOIN %s
        AND p.org_id = ? AND p.username = ? AND p.pace = ? LIMIT %s\
        """
            .formatted(CLUSTERS.replaceFirst("FROM ", ""), MAX_CLUSTERS),
        List.of(
            ActivityStore.SKEW_MILLIS,
            progress.member().orgId(),
            progress.member().username(),
            progress.pace().label()),
        row -> new Position(row.text("name"), row.integer("id"), row.integer("at")));
  }

  /** Another process advanced the progress, or the member's choices ended. */
  static final class ProgressConflictException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ProgressConflictException() {
      super("the mails of the member were advanced or ended meanwhile", null, false, false);
    }
  }

  /**
   * Advances the progress in one commit with the mail.
   *
   * @param mail the statements that store it; empty without one
   * @param dueMillis the earliest time of the next mail
   */
  Future<Void> advance(
      Progress progress,
      List<Position> positions,
      long trail,
      long dueMillis,
      List<Statement> mail) {
    Recipient member = progress.member();
    List<Statement> statements =
        new ArrayList<>(CallerGuard.of(member.orgId(), "member:" + member.username()));
    statements.add(
        Statement.guarded(
            ProgressConflictException::new,
            """
            UPDATE mail_progress SET trail = ?, due_at = ?, revision = revision + 1
            WHERE org_id = ? AND username = ? AND pace = ? AND revision = ?\
            """,
            trail,
            dueMillis,
            member.orgId(),
            member.username(),
            progress.pace().label(),
            progress.revision()));
    for (Position position : positions) {
      statements.add(
          Statement.of(
              """
              INSERT INTO mail_position (org_id, username, pace, cluster, position, at)
              VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org_id, username, pace, cluster)
              DO UPDATE SET position = excluded.position, at = excluded.at\
              """,
              member.orgId(),
              member.username(),
              progress.pace().label(),
              position.cluster(),
              position.id(),
              position.atMillis()));
    }
    statements.addAll(mail);
    return database.commit(statements);
  }

  /**
   * Deletes some rows of members whom a process of the previous release removed; returns whether
   * there may be more.
   */
  Future<Boolean> prune(int most) {
    return database
        .read(
            """
            SELECT p.org_id, p.username FROM mail_progress p WHERE NOT EXISTS
            (SELECT 1 FROM member m WHERE m.org_id = p.org_id AND m.username = p.username)
            LIMIT ?\
            """,
            List.of(most),
            row -> new Author(row.text("org_id"), row.text("username")))
        .compose(
            gone ->
                gone.isEmpty()
                    ? Future.succeededFuture(false)
                    : database
                        .commit(gone.stream().flatMap(each -> deletion(each).stream()).toList())
                        .map(done -> gone.size() == most));
  }
}
