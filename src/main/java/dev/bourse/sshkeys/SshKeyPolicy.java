package dev.bourse.sshkeys;

import dev.bourse.access.LimitStore;
import dev.bourse.access.Principal;
import dev.bourse.store.Database;
import io.vertx.core.Future;

/** Who may register and revoke ssh keys. */
public final class SshKeyPolicy {
  private final LimitStore limits;

  public SshKeyPolicy(Database database) {
    this.limits = new LimitStore(database);
  }

  /**
   * Accepts a caller who may write keys.
   *
   * <p>Fails with {@code token-limit} for an application under limits: a key opens nodes, whatever
   * the application may declare.
   *
   * @param operation the refused operation, for the refusal
   */
  Future<Void> requireWriter(Principal caller, String operation) {
    return limits.requireNone(caller, operation);
  }
}
