package dev.bourse.signin;

import dev.bourse.access.TokenLimits;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The applications that members allowed to act for them: what members see of them. */
public interface ConnectedApplications {
  /**
   * One of them.
   *
   * @param id names the permission
   * @param name what the application calls itself
   * @param scopes what it may do, in plain words
   * @param scopeLabels what it may do, as contracts spell it
   * @param sinceMillis when it was allowed
   * @param usedAtMillis when it was last given tokens, null when that is not known
   * @param expiresAtMillis when it ends unless it is used before, or at the latest
   * @param limits how far its declarations may go
   */
  record Application(
      String id,
      String name,
      String scopes,
      List<String> scopeLabels,
      long sinceMillis,
      @Nullable Long usedAtMillis,
      long expiresAtMillis,
      TokenLimits limits) {}

  /** A member's, the newest first; at most 100. */
  Future<List<Application>> list(String orgId, String username);

  /**
   * Takes one permission back at once.
   *
   * @return whether the member had one of this id
   */
  Future<Boolean> revoke(String orgId, String username, String id);

  /**
   * Narrows how far the declarations of one may go, at once; what is null in {@code asked} stays.
   * Fails with {@code token-limit} when a limit would be wider.
   *
   * @return whether the member had one of this id
   */
  Future<Boolean> narrow(String orgId, String username, String id, TokenLimits asked);

  /**
   * Takes all of them back at once, and every token the member holds.
   *
   * @param along stored in the same commit, which locks the member first
   */
  Future<Void> revokeAll(String orgId, String username, List<Statement> along);
}
