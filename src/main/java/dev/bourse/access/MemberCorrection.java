package dev.bourse.access;

import dev.bourse.store.BoundedWork;
import dev.bourse.store.Change;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/**
 * Corrects since when members are on the roster. Sessions, grants and uploads that began before are
 * of a former member of that name: a member whom a clock that was ahead has added could not sign in
 * until the time comes. The time is part of the member's id, which therefore changes with it,
 * wherever it is stored.
 */
public final class MemberCorrection implements Correction {
  /** Members of one step. More are rare, and left to the next round. */
  private static final int MOST = 1_000;

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
                BoundedWork.inTurn(ahead, member -> correct(member, nowMillis))
                    .map(!ahead.isEmpty()));
  }

  private Future<Void> correct(Ahead member, long nowMillis) {
    return database
        .commit(
            List.of(
                Statement.of(
                    """
                    UPDATE member SET created_at = ? WHERE org_id = ? AND username = ?
                    AND created_at = ?\
                    """,
                    nowMillis,
                    member.orgId(),
                    member.username(),
                    member.createdAtMillis()),
                Statement.of(
                    "UPDATE checkpoint SET creator_id = ? WHERE org_id = ? AND creator_id = ?",
                    member.id(nowMillis),
                    member.orgId(),
                    member.id(member.createdAtMillis()))),
            List.of(new Change(Members.CHANGED, member.orgId())))
        .compose(stored -> members.refresh(member.orgId()));
  }
}
