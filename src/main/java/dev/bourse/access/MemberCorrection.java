package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Corrects the times since which members are on the roster. Sessions, grants and uploads that are
 * older than that time belong to a former member with the same name, so a member who was added by a
 * clock that was ahead could not sign in. The time is part of the member's id, so the correction
 * changes every stored copy of the id.
 */
public final class MemberCorrection implements Correction {
  /** Members per commit, so that other writers wait only some milliseconds. */
  private static final int MOST = 100;

  private final Database database;
  private final Members members;

  public MemberCorrection(Database database, Members members) {
    this.database = database;
    this.members = members;
  }

  private record Ahead(String orgId, String username, long createdAtMillis) {
    String id(long since) {
      return orgId + "/" + username + "/" + since;
    }
  }

  @Override
  public String table() {
    return "member";
  }

  @Override
  public boolean readsWholeTable() {
    return true;
  }

  @Override
  public Future<Boolean> correct(long nowMillis) {
    return database
        .read(
            "SELECT org_id, username, created_at FROM member WHERE created_at > ? LIMIT " + MOST,
            List.of(nowMillis + APART_MILLIS),
            row -> new Ahead(row.text("org_id"), row.text("username"), row.integer("created_at")))
        .compose(
            ahead ->
                ahead.isEmpty()
                    ? Future.succeededFuture(false)
                    : correct(ahead, nowMillis).compose(done -> correct(nowMillis)).map(true));
  }

  private Future<Void> correct(List<Ahead> ahead, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    Set<String> orgs = new TreeSet<>();
    for (Ahead member : ahead) {
      orgs.add(member.orgId());
      statements.add(
          Statement.of(
              """
              UPDATE member SET created_at = ? WHERE org_id = ? AND username = ?
              AND created_at = ?\
              """,
              nowMillis,
              member.orgId(),
              member.username(),
              member.createdAtMillis()));
      statements.add(
          Statement.of(
              "UPDATE checkpoint SET creator_id = ? WHERE org_id = ? AND creator_id = ?",
              member.id(nowMillis),
              member.orgId(),
              member.id(member.createdAtMillis())));
    }
    return database
        .commit(statements, orgs.stream().map(org -> new Change(Members.CHANGED, org)).toList())
        .compose(stored -> members.refresh(List.copyOf(orgs)).mapEmpty());
  }
}
