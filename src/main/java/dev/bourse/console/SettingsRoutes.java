package dev.bourse.console;

import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.org.OrgSettings;
import dev.bourse.schemas.console.OrgSettingsJson;
import io.vertx.core.Future;

/** The console contract's operations on the settings of an organization. */
public final class SettingsRoutes {
  private final OrgSettings settings;

  public SettingsRoutes(OrgSettings settings) {
    this.settings = settings;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "readOrgSettings",
            call -> settings.sshKeysNeedWrite(orgId(call)).map(OrgSettingsJson::new))
        .ok("setOrgSettings", this::set);
  }

  private Future<OrgSettingsJson> set(Call call) {
    return settings
        .setSshKeysNeedWrite(
            call.principal().actor(),
            orgId(call),
            OrgSettingsJson.read(call.body()).sshKeysNeedWrite())
        .map(OrgSettingsJson::new);
  }

  private static String orgId(Call call) {
    return call.principal().org().orgId();
  }
}
