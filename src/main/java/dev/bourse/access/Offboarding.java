package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One kind of thing that members leave with their organization, such as ssh keys. It ends in the
 * commit that removes its author or retires the organization.
 */
public interface Offboarding {
  /** The actor of audit rows about what a removal or a retirement ends. */
  String ACTOR = "system:offboard";

  /**
   * Whose things end.
   *
   * @param username a member; null for the whole organization
   */
  record Author(String orgId, @Nullable String username) {
    /**
     * Returns an SQL condition on the author's rows, with {@link #parameters}. A member is also the
     * author of what the tokens that they minted have made. Rows whose author is not recorded as a
     * member or a token are no member's.
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

    /** Returns the values for {@link #condition}. */
    public List<String> parameters() {
      return username == null
          ? List.of(orgId)
          : List.of(orgId, "member:" + username, orgId, "member:" + username);
    }
  }

  /** Returns the statements that end the author's things, with an audit row for each thing. */
  List<Statement> ending(Author author, long nowMillis);

  /** Returns what other processes are told after the commit. */
  default List<Change> changes(String orgId) {
    return List.of();
  }

  /** Brings the commit into force in this process. */
  default Future<Void> refresh(String orgId) {
    return Future.succeededFuture();
  }

  /**
   * Describes the author's things as fields of an answer.
   *
   * @param endedAtMillis the time of the commit that ended them; empty for those that live
   */
  Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis);
}
