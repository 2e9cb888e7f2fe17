package dev.bourse.operator;

import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pools.Switches;
import dev.bourse.pools.settings.SwitchService;
import dev.bourse.schemas.operator.SwitchesChangeJson;
import dev.bourse.schemas.operator.SwitchesJson;
import io.vertx.core.Future;
import java.util.Optional;

/** Operations of the operator contract on the platform-wide switches. */
public final class SwitchRoutes {
  private final SwitchService switches;

  public SwitchRoutes(SwitchService switches) {
    this.switches = switches;
  }

  public void bind(Operations operations) {
    operations
        .ok("readSwitches", call -> Future.succeededFuture(toJson(switches.readSwitches())))
        .ok("writeSwitches", call -> write(call).map(SwitchRoutes::toJson));
  }

  private Future<Switches> write(Call call) {
    SwitchesChangeJson sent = SwitchesChangeJson.read(call.body());
    return switches.writeSwitches(
        call.actor(),
        Optional.ofNullable(sent.capacityWritesArmed()),
        Optional.ofNullable(sent.spendLimitEnforced()),
        Optional.ofNullable(sent.billingHoldEnforced()));
  }

  private static SwitchesJson toJson(Switches inForce) {
    return new SwitchesJson(
        inForce.writesArmed(), inForce.spendLimitEnforced(), inForce.billingHoldEnforced());
  }
}
