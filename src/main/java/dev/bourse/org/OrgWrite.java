package dev.bourse.org;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One write to an organization that is not retired: all of it in one commit, or nothing. What it
 * demands is told with the refusal clients get when it does not hold.
 *
 * <p>The commit begins by locking the organization's row, so that writes to one organization come
 * one after the other, whichever processes they come from, and a condition that held still holds
 * when the commit ends.
 */
final class OrgWrite {
  private static final String LIVE = "live";

  private final Database database;
  private final String orgId;
  private final List<Statement> statements = new ArrayList<>();

  OrgWrite(Database database, String orgId) {
    this.database = database;
    this.orgId = orgId;
    statements.add(
        Statement.guarded(
            LIVE,
            "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL",
            orgId));
  }

  /** A condition in SQL on what is stored when its turn comes. */
  OrgWrite demand(ApiError refusal, String condition, @Nullable Object... parameters) {
    List<@Nullable Object> values = new ArrayList<>(List.of(orgId));
    values.addAll(Arrays.asList(parameters));
    return guarded(
        refusal, "UPDATE org SET retired_at = NULL WHERE org_id = ? AND " + condition, values);
  }

  /** A statement that must change one row. */
  OrgWrite one(ApiError refusal, String sql, @Nullable Object... parameters) {
    return guarded(refusal, sql, Arrays.asList(parameters));
  }

  /** A statement that may change any number of rows. */
  OrgWrite any(Statement statement) {
    statements.add(statement);
    return this;
  }

  /** The row that records the write. */
  OrgWrite record(AuditRow row) {
    statements.add(AuditStore.insert(row));
    return this;
  }

  private OrgWrite guarded(ApiError refusal, String sql, List<?> values) {
    statements.add(new Statement(sql, new ArrayList<@Nullable Object>(values), () -> refusal, 1));
    return this;
  }

  /** Fails with the refusal of what did not hold, or as {@link Database#commit}. */
  Future<Void> commit(Change... changes) {
    return database
        .commit(statements, List.of(changes))
        .recover(e -> e instanceof GuardFailed ? refuseOrganization() : Future.failedFuture(e));
  }

  private Future<Void> refuseOrganization() {
    return database
        .read("SELECT 1 FROM org WHERE org_id = ?", List.of(orgId), row -> true)
        .compose(
            found ->
                Future.failedFuture(
                    found.isEmpty() ? unknown(orgId) : conflict("retired", retired(orgId))));
  }

  private static String retired(String orgId) {
    return "organization " + orgId + " is retired; nothing of it can be changed any more";
  }

  /** 404 for an organization there is none of. */
  static ApiError unknown(String orgId) {
    return ApiError.notFound("organization", orgId);
  }

  /** 409 with the reason programs read. */
  static ApiError conflict(String reason, String detail) {
    return ApiError.of(ErrorCode.CONFLICT, detail).with("reason", reason);
  }

  /**
   * What follows a commit. Its failure must not read as if nothing had been stored.
   *
   * @param following brings the change into force in this process, or reads what it came to
   */
  static <T> Future<T> inForce(Future<T> following) {
    return following.recover(e -> Future.failedFuture(ApiError.storedOnly()));
  }
}
