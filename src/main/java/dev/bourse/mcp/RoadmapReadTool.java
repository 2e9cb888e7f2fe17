package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.roadmap.Roadmap;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Reads the operator's roadmap. */
public final class RoadmapReadTool implements Tool {
  private final Roadmap roadmap;

  public RoadmapReadTool(Roadmap roadmap) {
    this.roadmap = roadmap;
  }

  @Override
  public String name() {
    return "roadmap_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.empty();
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    return Future.succeededFuture(
        roadmap.toJson(Optional.ofNullable(arguments.getString("status"))).toBuffer());
  }
}
