package dev.bourse.signin;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of sign-in links. */
final class LinkStore {
  private final Database database;

  LinkStore(Database database) {
    this.database = database;
  }

  /** A link that is to be used does not work any more. */
  static final class LinkSpent extends RuntimeException {
    LinkSpent() {
      super("the link was used or has expired", null, false, false);
    }
  }

  /**
   * What a link stands for.
   *
   * @param email whose it is, in lower case
   * @param orgId the organization that an invitation is for; null for any
   * @param name what the person is called; empty when that is not known
   * @param returnTo where the sign-in leads in the browser that asked for it
   * @param askedBy identifies that browser ({@link Sessions.Visitor#mark}); null for none, in which
   *     case the sign-in leads to the account in every browser
   */
  record Link(
      String email,
      @Nullable String orgId,
      String name,
      String returnTo,
      @Nullable String askedBy) {}

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
            asked_by, made_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)\
            """,
            id,
            link.email(),
            link.orgId(),
            link.name(),
            link.returnTo(),
            link.askedBy(),
            madeAtMillis,
            expiresAtMillis));
    return database.commit(statements);
  }

  /** A link that works now. */
  Future<Optional<Link>> find(String id, long nowMillis) {
    return database.readFirst(
        """
        SELECT email, org_id, person_name, return_to, asked_by FROM sign_in_link
        WHERE link_sha256 = ? AND used_at IS NULL AND expires_at > ?\
        """,
        List.of(id, nowMillis),
        row ->
            new Link(
                row.text("email"),
                row.textOrNull("org_id"),
                row.text("person_name"),
                row.text("return_to"),
                row.textOrNull("asked_by")));
  }

  /**
   * Uses a link up, in the commit of the sign-in that it is used for: nobody loses it to a sign-in
   * that fails. Of several that try at once one succeeds; the others fail with {@link LinkSpent}.
   */
  static Statement spending(String id, long nowMillis) {
    return Statement.guarded(
        LinkSpent::new,
        """
        UPDATE sign_in_link SET used_at = ?
        WHERE link_sha256 = ? AND used_at IS NULL AND expires_at > ?\
        """,
        nowMillis,
        id,
        nowMillis);
  }

  /** Deletes links that have expired. */
  Future<Void> sweep(long nowMillis) {
    return database.commit(
        List.of(Statement.of("DELETE FROM sign_in_link WHERE expires_at <= ?", nowMillis)));
  }
}
