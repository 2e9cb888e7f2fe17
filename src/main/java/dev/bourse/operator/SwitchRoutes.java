package dev.bourse.operator;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pools.Switches;
import dev.bourse.pools.settings.SwitchService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** The operator contract's operations on the platform-wide switches. */
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
        .bind("readSwitches", call -> Future.succeededFuture(answer(switches.readSwitches())))
        .bind("writeSwitches", this::write);
  }

  private Future<Answer> write(Call call) {
    JsonObject body = call.body();
    return switches
        .writeSwitches(
            call.operator().actor(),
            Optional.ofNullable(body.getBoolean(WRITES_ARMED)),
            Optional.ofNullable(body.getBoolean(SPEND_LIMIT)),
            Optional.ofNullable(body.getBoolean(BILLING_HOLD)))
        .map(SwitchRoutes::answer);
  }

  private static Answer answer(Switches inForce) {
    return Answer.ok(
        new JsonObject()
            .put(WRITES_ARMED, inForce.writesArmed())
            .put(SPEND_LIMIT, inForce.spendLimitEnforced())
            .put(BILLING_HOLD, inForce.billingHoldEnforced()));
  }
}
