package dev.bourse.console;

import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.OrgSettings;
import io.vertx.core.json.JsonObject;

/** The console contract's operations on the settings of an organization. */
public final class SettingsRoutes {
  private static final String SSH_KEYS_NEED_WRITE = "ssh_keys_need_write";

  private final OrgSettings settings;

  public SettingsRoutes(OrgSettings settings) {
    this.settings = settings;
  }

  public void bind(Operations operations) {
    operations
        .ok("readOrgSettings", call -> settings.sshKeysNeedWrite(orgId(call)), SettingsRoutes::json)
        .ok(
            "setOrgSettings",
            call ->
                settings.setSshKeysNeedWrite(
                    call.principal().actor(),
                    orgId(call),
                    call.body().getBoolean(SSH_KEYS_NEED_WRITE)),
            SettingsRoutes::json);
  }

  private static JsonObject json(boolean needed) {
    return new JsonObject().put(SSH_KEYS_NEED_WRITE, needed);
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }
}
