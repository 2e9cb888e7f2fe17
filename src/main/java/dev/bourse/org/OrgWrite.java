package dev.bourse.org;

import dev.bourse.access.CallerGuard;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An atomic write to an organization that is not retired.
 *
 * <p>The commit first locks the organization's row. So writes to one organization from all
 * processes are serialized, and a condition that held when it was checked still holds when the
 * commit ends.
 */
final class OrgWrite {
  private static final String LOCK =
      "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL";

  /** The organization does not exist, or is retired. */
  private static final class OrganizationNotLiveException extends RuntimeException {
    OrganizationNotLiveException() {
      super("the organization is unknown or retired", null, false, false);
    }
  }

  private final Database database;
  private final String orgId;
  private final List<Statement> statements = new ArrayList<>();

  OrgWrite(Database database, String orgId) {
    this.database = database;
    this.orgId = orgId;
    statements.add(Statement.guarded(OrganizationNotLiveException::new, LOCK, orgId));
  }

  /**
   * A write by a caller who must still have access when the write commits, see {@link CallerGuard}.
   *
   * @param actor the caller, as named in audit rows
   */
  OrgWrite(Database database, String orgId, String actor) {
    this(database, orgId);
    addAll(CallerGuard.of(orgId, actor));
  }

  /**
   * Adds a condition in SQL on the state of the store under the lock.
   *
   * @param refusal the failure of the write when the condition does not hold
   */
  OrgWrite demand(
      Supplier<? extends RuntimeException> refusal,
      String condition,
      @Nullable Object... parameters) {
    List<@Nullable Object> values = new ArrayList<>(List.of(orgId));
    values.addAll(Arrays.asList(parameters));
    return add(Statement.guarded(refusal, LOCK + " AND " + condition, values.toArray()));
  }

  OrgWrite add(Statement statement) {
    statements.add(statement);
    return this;
  }

  OrgWrite addAll(Collection<Statement> more) {
    statements.addAll(more);
    return this;
  }

  /** Adds the audit row of the write. */
  OrgWrite record(long atMillis, String actor, String action, String detail) {
    return add(AuditStore.insert(new AuditRow(atMillis, orgId, actor, action, orgId, detail)));
  }

  /**
   * Commits. Fails with the refusal of the first condition that does not hold, or like {@link
   * Database#commit}.
   */
  Future<Void> commit(Change... changes) {
    return database
        .commit(statements, List.of(changes))
        .recover(
            e ->
                e instanceof OrganizationNotLiveException
                    ? refuseOrganization()
                    : Future.failedFuture(e));
  }

  private Future<Void> refuseOrganization() {
    return database
        .read("SELECT 1 FROM org WHERE org_id = ?", List.of(orgId), row -> true)
        .compose(found -> Future.failedFuture(found.isEmpty() ? unknown(orgId) : retired(orgId)));
  }

  /** 409 for an organization that is retired. */
  static ApiException retired(String orgId) {
    return conflict(
        "retired", "organization %s is retired; nothing of it can be changed any more", orgId);
  }

  /** 404 for an organization that does not exist. */
  static ApiException unknown(String orgId) {
    return ApiException.notFound("organization", orgId);
  }

  /** 409 with a reason for programs. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation needs another library.
  static ApiException conflict(String reason, String template, @Nullable Object... arguments) {
    return ApiException.of(ErrorCode.CONFLICT, template.formatted(arguments))
        .with("reason", reason);
  }

  /**
   * Runs a step after a commit. If the step fails, the answer must not suggest that nothing was
   * stored.
   *
   * @param following applies the change in this process, or reads the stored state
   */
  static <T> Future<T> inForce(Future<T> following) {
    return following.recover(e -> Future.failedFuture(ApiException.storedOnly()));
  }
}
