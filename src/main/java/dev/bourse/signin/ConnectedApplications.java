package dev.bourse.signin;

import dev.bourse.access.TokenLimits;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The port to members' grants to applications, and to their publishing credentials. */
public interface ConnectedApplications {
  /**
   * A grant as its member sees it.
   *
   * @param id of the grant
   * @param name the application's own name
   * @param scopes its permissions, in plain words
   * @param scopeLabels its scopes, in the spelling of contracts
   * @param sinceMillis when it was granted
   * @param usedAtMillis when it last issued tokens, null when unknown
   * @param expiresAtMillis when it expires unless it is used before, or at the latest
   * @param limits the limits of its declarations
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

  /** A member's grants, the newest first; at most 100. */
  Future<List<Application>> list(String orgId, String username);

  /** The names of a member's live publishing credentials, the newest first. */
  Future<List<String>> listCredentials(String orgId, String username);

  /**
   * Revokes one grant at once.
   *
   * @return whether the member had one with this id
   */
  Future<Boolean> revoke(String orgId, String username, String id);

  /**
   * Narrows the limits of a grant's declarations at once; null values in {@code asked} leave the
   * limit unchanged. Fails with {@code token-limit} when a limit would be wider.
   *
   * @return whether the member had a grant with this id
   */
  Future<Boolean> narrow(String orgId, String username, String id, TokenLimits asked);

  /**
   * Revokes all of a member's grants, and every token of the member, at once.
   *
   * @param along stored in the same commit, which locks the member first
   */
  Future<Void> revokeAll(String orgId, String username, List<Statement> along);
}
