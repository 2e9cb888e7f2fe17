package dev.bourse.operator;

import dev.bourse.edge.Operations;
import dev.bourse.pools.Switches;
import dev.bourse.pools.settings.SwitchService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Operations of the operator contract on the platform-wide switches. */
public final class SwitchRoutes {
  private static final String WRITES_ARMED = "capacity_writes_armed";
  private static final String SPEND_LIMIT = "spend_limit_enforced";
  private static final String BILLING_HOLD = "billing_hold_enforced";

  private final SwitchService switches;

  public SwitchRoutes(SwitchService switches) {
    this.switches = switches;
  }

  public void bind(Operations operations) {
    operations
        .ok(
            "readSwitches",
            call -> Future.succeededFuture(switches.readSwitches()),
            SwitchRoutes::json)
        .ok(
            "writeSwitches",
            call ->
                switches.writeSwitches(
                    call.actor(),
                    Optional.ofNullable(call.body().getBoolean(WRITES_ARMED)),
                    Optional.ofNullable(call.body().getBoolean(SPEND_LIMIT)),
                    Optional.ofNullable(call.body().getBoolean(BILLING_HOLD))),
            SwitchRoutes::json);
  }

  private static JsonObject json(Switches inForce) {
    return new JsonObject()
        .put(WRITES_ARMED, inForce.writesArmed())
        .put(SPEND_LIMIT, inForce.spendLimitEnforced())
        .put(BILLING_HOLD, inForce.billingHoldEnforced());
  }
}
