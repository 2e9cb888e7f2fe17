package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads of the HTTP API, by path. */
public final class GridApiTool implements Tool {
  /** The tools for paths that are not offered here, by prefix. */
  private static final Map<String, String> ELSEWHERE =
      Map.of(
          "/api/whoami", "whoami",
          "/api/checkpoints", "checkpoint_read",
          "/api/vm/events", "capacity_read, with action=wait,");

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
    String path = arguments.getString("path");
    return Optional.of(grid.findScope(path).orElseThrow(() -> notOffered(path)));
  }

  /** The refusal of a path, which names the tool for it or the paths offered here. */
  private ApiException notOffered(String path) {
    String instead =
        ELSEWHERE.entrySet().stream()
            .filter(other -> path.startsWith(other.getKey()))
            .map(other -> "the tool " + other.getValue() + " has it")
            .findFirst()
            .orElseGet(
                () ->
                    "offered are "
                        + grid.list().stream()
                            .map(line -> line.substring(0, line.indexOf(": ")))
                            .collect(Collectors.joining(", ")));
    return ApiException.of(
        ErrorCode.NOT_FOUND, "%s is not offered here; %s", Text.shown(path), instead);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    String path = arguments.getString("path");
    return grid.call(caller, path)
        .map(answer -> EncodedJson.with(new JsonObject().put("path", path), "answer", answer));
  }
}
