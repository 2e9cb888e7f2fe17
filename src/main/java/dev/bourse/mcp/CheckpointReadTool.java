package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.json.JsonRecord;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Reads the organization's published files. */
public final class CheckpointReadTool implements Tool {
  private final CheckpointService checkpoints;

  public CheckpointReadTool(CheckpointService checkpoints) {
    this.checkpoints = checkpoints;
  }

  @Override
  public String name() {
    return "checkpoint_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CHECKPOINTS_READ);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    return switch (arguments.getString("action")) {
      case "get" -> get(caller, required(arguments, "id"));
      case "search" -> list(caller, arguments, required(arguments, "q"));
      default -> list(caller, arguments, arguments.getString("q", ""));
    };
  }

  private static String required(JsonObject arguments, String field) {
    String value = arguments.getString(field);
    if (value == null) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          field + " is missing; action " + arguments.getString("action") + " needs it");
    }
    return value;
  }

  private Future<Buffer> get(Principal caller, String id) {
    return checkpoints
        .get(caller.org().orgId(), id)
        .map(found -> encoded(out -> out.object("checkpoint", CheckpointView.own(found, caller))));
  }

  private static Buffer encoded(JsonRecord answer) {
    return answer.toBuffer();
  }

  private Future<Buffer> list(Principal caller, JsonObject arguments, String q) {
    return checkpoints
        .listOfOrg(
            caller.org().orgId(),
            q,
            Optional.ofNullable(arguments.getString("before")),
            CheckpointView.limit(arguments.getLong("limit", CheckpointView.USUAL_ITEMS)))
        .map(
            found ->
                encoded(
                    out -> {
                      out.objects("checkpoints", CheckpointView.own(found.page(), caller));
                      out.put("more", found.page().more());
                      out.put("cursor", CheckpointView.next(found.page()));
                      out.put("limit_bytes", checkpoints.config().orgBytes());
                      out.put("used_bytes", found.usedBytes());
                    }));
  }
}
