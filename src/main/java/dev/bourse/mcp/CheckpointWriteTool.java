package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.core.Times;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;

/** Deletes a published file that the member created, in two phases. */
public final class CheckpointWriteTool implements Tool {
  private static final String NAME = "checkpoint_write";

  private final CheckpointService checkpoints;
  private final ConfirmTokens confirms;

  public CheckpointWriteTool(CheckpointService checkpoints, ConfirmTokens confirms) {
    this.checkpoints = checkpoints;
    this.confirms = confirms;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CHECKPOINTS_WRITE);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    boolean isPreview = arguments.getString("phase").equals("preview");
    return (isPreview ? preview(caller, arguments) : confirm(caller, arguments))
        .map(JsonObject::toBuffer);
  }

  private Future<JsonObject> preview(Principal caller, JsonObject arguments) {
    String id = arguments.getString("id");
    return checkpoints
        .getCreated(Publisher.of(caller), id)
        .compose(
            item ->
                checkpoints
                    .get(caller.org().orgId(), id)
                    .map(
                        shown -> {
                          ConfirmTokens.IssuedToken issued =
                              confirms.issue(caller, NAME, arguments, id, item.version());
                          return answer("preview", id)
                              .put("checkpoint", CheckpointView.own(shown, caller).toTree())
                              .put("confirm_token", issued.token())
                              .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
                        }));
  }

  /** Checks everything that can be checked before the token is used up. */
  private Future<JsonObject> confirm(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                checkpoints
                    .getUnchanged(
                        Publisher.of(caller), confirmation.subject(), confirmation.version())
                    .compose(unchanged -> confirms.spend(confirmation))
                    .compose(
                        spent ->
                            checkpoints.delete(
                                Publisher.of(caller),
                                confirmation.subject(),
                                confirmation.version()))
                    .map(
                        at ->
                            answer("confirm", confirmation.subject())
                                .put("deleted_at", Times.rfc3339(at))));
  }

  private static JsonObject answer(String phase, String id) {
    return new JsonObject().put("phase", phase).put("action", "delete").put("id", id);
  }
}
