package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A kind of object that members leave with their organization, for example ssh keys. It is deleted
 * in the commit that removes its author or retires the organization.
 */
public interface Offboarding {
  /** The actor of audit rows about objects that a removal or a retirement deletes. */
  String ACTOR = "system:offboard";

  /**
   * The author of the deleted objects.
   *
   * @param username a member; null for the whole organization
   */
  record Author(String orgId, @Nullable String username) {
    /**
     * Returns an SQL condition on the author's rows, with {@link #parameters}. Objects made by
     * tokens that a member minted count as the member's. Rows whose recorded author is neither a
     * member nor a token belong to no member.
     *
     * @param createdBy an SQL expression for the actor that made the row
     */
    public String condition(String createdBy) {
      return username == null
          ? "org_id = ?"
          : """
            org_id = ? AND (%1$s = ? OR %1$s IN (SELECT 'token:' || made.token_id FROM token made
            WHERE made.org_id = ? AND made.created_by = ?))\
            """
              .formatted(createdBy);
    }

    /** Returns the values of {@link #condition}. */
    public List<String> parameters() {
      return username == null
          ? List.of(orgId)
          : List.of(orgId, "member:" + username, orgId, "member:" + username);
    }
  }

  /** Returns the statements that delete the author's objects, with an audit row for each. */
  List<Statement> ending(Author author, long nowMillis);

  /** Returns the changes to announce to other processes after the commit. */
  default List<Change> changes(String orgId) {
    return List.of();
  }

  /** Applies the commit in this process. */
  default Future<Void> refresh(String orgId) {
    return Future.succeededFuture();
  }

  /**
   * Returns the author's objects as fields of an answer.
   *
   * @param endedAtMillis the time of the commit that deleted them; empty for live ones
   */
  Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis);
}
