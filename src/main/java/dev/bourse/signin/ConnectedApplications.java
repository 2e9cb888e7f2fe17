package dev.bourse.signin;

import io.vertx.core.Future;
import java.util.List;

/** The applications that members allowed to act for them: what the account page shows of them. */
public interface ConnectedApplications {
  /**
   * One of them.
   *
   * @param id names the permission
   * @param name what the application calls itself
   * @param scopes what it may do, in plain words
   * @param sinceMillis when it was allowed
   */
  record Application(String id, String name, String scopes, long sinceMillis) {}

  /** A member's, the newest first; at most 100. */
  Future<List<Application>> list(String orgId, String username);

  /** Takes one permission back at once; nothing happens when there is none of this id. */
  Future<Void> revoke(String orgId, String username, String id);

  /** Takes all of them back at once, and every token the member holds. */
  Future<Void> revokeAll(String orgId, String username);

  /** No application can be connected. */
  static ConnectedApplications none() {
    return new ConnectedApplications() {
      @Override
      public Future<List<Application>> list(String orgId, String username) {
        return Future.succeededFuture(List.of());
      }

      @Override
      public Future<Void> revoke(String orgId, String username, String id) {
        return Future.succeededFuture();
      }

      @Override
      public Future<Void> revokeAll(String orgId, String username) {
        return Future.succeededFuture();
      }
    };
  }
}
