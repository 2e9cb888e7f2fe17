package dev.bourse.operator;

import dev.bourse.core.ClockView;
import dev.bourse.edge.Operations;
import dev.bourse.status.StatusService;
import java.util.function.Supplier;

/** The operator contract's operation on the site's status. */
public final class StatusRoutes {
  private final StatusService status;
  private final Supplier<ClockView> clock;

  public StatusRoutes(StatusService status, Supplier<ClockView> clock) {
    this.status = status;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations.ok(
        "readStatus",
        call -> status.readStatus(),
        view -> view.toJson().put("clock", ClockRoutes.json(clock.get())));
  }
}
