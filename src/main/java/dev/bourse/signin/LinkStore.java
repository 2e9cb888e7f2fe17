package dev.bourse.signin;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads and writes the rows of sign-in links. */
final class LinkStore {
  private final Database database;

  LinkStore(Database database) {
    this.database = database;
  }

  /** The link was used before or has expired. */
  static final class LinkSpentException extends RuntimeException {
    LinkSpentException() {
      super("the link was used or has expired", null, false, false);
    }
  }

  /**
   * The meaning of a link.
   *
   * @param email the address it signs in, in lower case
   * @param orgId the organization of an invitation; null for any
   * @param name the person's name; empty when unknown
   * @param returnTo where the sign-in leads in the browser that requested it
   * @param askedBy identifies that browser ({@link Sessions.Visitor#mark}); null for none, in which
   *     case the sign-in leads to the account page in every browser
   * @param inviter the member's address that the mail of an invitation names; empty for an
   *     operator, null for another link or one that an earlier release stored
   */
  record Link(
      String email,
      @Nullable String orgId,
      String name,
      String returnTo,
      @Nullable String askedBy,
      @Nullable String inviter) {}

  /**
   * Stores a link.
   *
   * @param along stored in the same commit
   */
  Future<Void> insert(
      String id, Link link, long madeAtMillis, long expiresAtMillis, List<Statement> along) {
    List<Statement> statements = new ArrayList<>(along);
    statements.add(
        Statement.of(
            """
            INSERT INTO sign_in_link (link_sha256, email, org_id, person_name, return_to,
            asked_by, inviter, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)\
            """,
            id,
            link.email(),
            link.orgId(),
            link.name(),
            link.returnTo(),
            link.askedBy(),
            link.inviter(),
            madeAtMillis,
            expiresAtMillis));
    return database.commit(statements);
  }

  /** A link that can still be used. */
  Future<Optional<Link>> find(String id, long nowMillis) {
    return database.readFirst(
        """
        SELECT email, org_id, person_name, return_to, asked_by, inviter FROM sign_in_link
        WHERE link_sha256 = ? AND used_at IS NULL AND expires_at > ?\
        """,
        List.of(id, nowMillis),
        row ->
            new Link(
                row.text("email"),
                row.textOrNull("org_id"),
                row.text("person_name"),
                row.text("return_to"),
                row.textOrNull("asked_by"),
                row.textOrNull("inviter")));
  }

  /**
   * Marks a link used, in the commit of its sign-in, so that a failed sign-in does not consume it.
   * Of several concurrent uses one succeeds; the others fail with {@link LinkSpentException}.
   */
  static Statement markUsed(String id, long nowMillis) {
    return Statement.guarded(
        LinkSpentException::new,
        """
        UPDATE sign_in_link SET used_at = ?
        WHERE link_sha256 = ? AND used_at IS NULL AND expires_at > ?\
        """,
        nowMillis,
        id,
        nowMillis);
  }

  /** Deletes expired links. */
  Future<Void> sweep(long nowMillis) {
    return database.commit(
        List.of(Statement.of("DELETE FROM sign_in_link WHERE expires_at <= ?", nowMillis)));
  }
}
