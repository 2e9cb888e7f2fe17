package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.CapacityService;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** A VM cluster's capacity state; an audited read. */
public final class CapacityReadTool implements Tool {
  private final CapacityService capacity;

  public CapacityReadTool(CapacityService capacity) {
    this.capacity = capacity;
  }

  @Override
  public String name() {
    return "capacity_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CAPACITY_READ);
  }

  @Override
  public Future<JsonObject> call(Principal caller, JsonObject arguments) {
    return Future.succeededFuture(
        new JsonObject(
            capacity
                .readCapacity(caller, Optional.ofNullable(arguments.getString("cluster")))
                .encoded()
                .json()));
  }
}
