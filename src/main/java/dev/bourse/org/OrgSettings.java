package dev.bourse.org;

import dev.bourse.access.Tokens;
import dev.bourse.core.ApiException;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;

/** The settings that members choose for their whole organization. */
public final class OrgSettings {
  private static final String SSH_KEYS_NEED_WRITE = "ssh_keys_need_write";

  private final Database database;
  private final Tokens tokens;
  private final Clock clock;

  public OrgSettings(Database database, Tokens tokens, Clock clock) {
    this.database = database;
    this.tokens = tokens;
    this.clock = clock;
  }

  /** Whether API tokens need {@code capacity:write} to add and revoke ssh keys, as stored. */
  public Future<Boolean> sshKeysNeedWrite(String orgId) {
    return database
        .readFirst(
            "SELECT ssh_keys_need_write FROM org WHERE org_id = ?",
            List.of(orgId),
            row -> row.truth(SSH_KEYS_NEED_WRITE))
        .map(found -> found.orElseThrow(() -> OrgWrite.unknown(orgId)));
  }

  /**
   * Sets whether API tokens need {@code capacity:write} to add and revoke ssh keys. The change
   * takes effect here with the answer, and within a second in other processes. Fails with {@link
   * ApiException} {@code conflict} when the organization is retired.
   *
   * @return the value in force
   */
  public Future<Boolean> setSshKeysNeedWrite(String actor, String orgId, boolean needed) {
    return new OrgWrite(database, orgId, actor)
        .add(Statement.of("UPDATE org SET ssh_keys_need_write = ? WHERE org_id = ?", needed, orgId))
        .record(clock.millis(), actor, "org_settings_set", SSH_KEYS_NEED_WRITE + '=' + needed)
        .commit(new Change(Tokens.ORGANIZATION_CHANGED, orgId))
        .compose(stored -> OrgWrite.inForce(tokens.refreshOrganization(orgId)))
        .map(loaded -> needed);
  }
}
