package dev.bourse.notifications;

import dev.bourse.access.CallerGuard;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Offboarding.Author;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of members' choices. */
final class ChoiceStore {
  private static final String OF_MEMBER = " WHERE org_id = ? AND username = ?";

  private static final List<String> TABLES = List.of("mail_choice", "mail_line", "mail_due");

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
   * Where a new choice begins.
   *
   * @param activity the newest entry of all clusters
   * @param trail the newest settled entry of the trail
   */
  record Start(long activity, long trail) {}

  /**
   * Stores choices; kinds that are left out keep theirs. A kind whose pace changes keeps where it
   * began, so each event has one line, at the pace of the time when it was read.
   *
   * @param choices the pace of kinds, or {@link Pace#OFF}, by label
   */
  Future<Void> change(Recipient member, Map<String, String> choices, Start start, AuditRow audit) {
    String orgId = member.orgId();
    String username = member.username();
    List<Statement> statements = new ArrayList<>(CallerGuard.of(orgId, "member:" + username));
    choices.forEach(
        (kind, pace) -> {
          if (pace.equals(Pace.OFF)) {
            for (String table : List.of("mail_choice", "mail_line")) {
              statements.add(
                  Statement.of(
                      "DELETE FROM " + table + OF_MEMBER + " AND kind = ?", orgId, username, kind));
            }
            return;
          }
          statements.add(
              Statement.of(
                  """
                  INSERT INTO mail_choice (org_id, username, kind, pace, activity, trail)
                  VALUES (?, ?, ?, ?, ?, ?)
                  ON CONFLICT (org_id, username, kind) DO UPDATE SET pace = excluded.pace\
                  """,
                  orgId,
                  username,
                  kind,
                  pace,
                  start.activity(),
                  start.trail()));
        });
    statements.add(
        Statement.of(
            """
            INSERT INTO mail_due (org_id, username, pace, written, told, spread_until)
            SELECT DISTINCT org_id, username, pace, 0, 0, 0 FROM mail_choice
            WHERE org_id = ? AND username = ? ON CONFLICT (org_id, username, pace) DO NOTHING\
            """,
            orgId,
            username));
    statements.add(
        Statement.of(
            "DELETE FROM mail_due"
                + OF_MEMBER
                + " AND NOT EXISTS (SELECT 1 FROM mail_choice"
                + OF_MEMBER
                + ")",
            orgId,
            username,
            orgId,
            username));
    statements.add(AuditStore.insert(audit));
    return database.commit(statements);
  }

  /**
   * Ends all mails of a member; records it if there was a choice. The organization's row is locked
   * first, so that of two requests at the same time one records it.
   */
  Future<Void> end(Recipient member, AuditRow audit) {
    List<Statement> statements = new ArrayList<>();
    statements.add(CallerGuard.lock(member.orgId()));
    statements.add(
        AuditStore.insertEach(
            audit,
            "CAST(? AS TEXT)",
            "org WHERE org_id = ? AND EXISTS (SELECT 1 FROM mail_choice" + OF_MEMBER + ")",
            audit.detail(),
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
    for (String table : TABLES) {
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
   * Deletes some rows of members whom a process of the previous release removed, and of retired
   * organizations; returns whether there may be more.
   */
  Future<Boolean> prune(int most) {
    String isGone =
        """
        NOT EXISTS (SELECT 1 FROM member m JOIN org o ON o.org_id = m.org_id
        WHERE m.org_id = %1$s.org_id AND m.username = %1$s.username AND o.retired_at IS NULL)\
        """;
    return database
        .read(
            "SELECT org_id, username FROM mail_choice WHERE %s ORDER BY org_id, username LIMIT ?"
                .formatted(isGone.formatted("mail_choice")),
            List.of(most),
            row -> new Recipient(row.text("org_id"), row.text("username")))
        .compose(
            gone -> {
              List<Statement> statements = new ArrayList<>();
              for (Recipient member : gone) {
                for (String table : TABLES) {
                  statements.add(
                      Statement.of(
                          "DELETE FROM " + table + OF_MEMBER + " AND " + isGone.formatted(table),
                          member.orgId(),
                          member.username()));
                }
              }
              return gone.isEmpty()
                  ? Future.succeededFuture(false)
                  : database.commit(statements).map(done -> gone.size() == most);
            });
  }
}
