package dev.bourse.sshkeys;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Database;
import io.vertx.core.Future;

/** Decides who may register and revoke ssh keys. */
public final class SshKeyPolicy {
  private final LimitStore limits;

  public SshKeyPolicy(Database database) {
    this.limits = new LimitStore(database);
  }

  /**
   * Accepts a caller who may write keys.
   *
   * <p>Fails with {@code token-limit} for an application under limits, because a key gives access
   * to nodes regardless of the application's own limits. Fails with {@code forbidden} for an API
   * token without {@code capacity:write} if the organization demands that scope.
   *
   * @param operation the attempted operation, used in the error
   */
  Future<Void> requireWriter(Principal caller, String operation) {
    if (caller.credential() == Principal.CredentialKind.API_TOKEN
        && caller.org().sshKeysNeedWrite()
        && !caller.may(Scope.CAPACITY_WRITE)) {
      return Future.failedFuture(
          ApiException.of(
              ErrorCode.FORBIDDEN,
              "%s: this organization lets only API tokens with capacity:write add and revoke ssh"
                  + " keys; use such a token, or add the key on the console",
              operation));
    }
    return limits.requireNone(caller, operation);
  }
}
