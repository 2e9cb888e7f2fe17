package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** The reads of the HTTP interface, by path. */
public final class GridApiTool implements Tool {
  private final RestReads grid;

  public GridApiTool(RestReads grid) {
    this.grid = grid;
  }

  @Override
  public String name() {
    return "grid_api";
  }

  @Override
  public String describe(String written) {
    return written.strip() + " Paths:\n" + String.join("\n", grid.list());
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(grid.scope(arguments.getString("path")));
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    String path = arguments.getString("path");
    return grid.call(caller, path)
        .map(answer -> EncodedJson.with(new JsonObject().put("path", path), "answer", answer));
  }
}
