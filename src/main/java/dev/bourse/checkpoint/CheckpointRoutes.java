package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operation;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.CheckpointPageJson;
import dev.bourse.schemas.checkpoints.PublicationJson;
import dev.bourse.schemas.checkpoints.SetPublicationJson;
import dev.bourse.schemas.common.DeletionJson;
import io.vertx.core.Future;
import java.util.function.Supplier;

/** Operations of members, except for sending bytes. */
public final class CheckpointRoutes {
  static final String FAMILY = "/api/checkpoints";

  private final CheckpointService checkpoints;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl the service's address for clients; read once the service listens
   */
  public CheckpointRoutes(CheckpointService checkpoints, Supplier<String> baseUrl) {
    this.checkpoints = checkpoints;
    this.baseUrl = baseUrl;
  }

  public void bind(Operations operations) {
    CheckpointConfig config = checkpoints.config();
    operations
        .bind("listCheckpoints", unlessOff(config, this::list))
        .bind("publishCheckpoint", unlessOff(config, this::publish))
        .bind("publishCheckpointSet", unlessOff(config, this::publishSet))
        .bind("readCheckpoint", unlessOff(config, this::read))
        .bind("listCheckpointRevisions", unlessOff(config, this::listRevisions))
        .bind("deleteCheckpoint", unlessOff(config, this::delete));
  }

  /** Returns the operation, or 404 while checkpoints are switched off. */
  public static Operation unlessOff(CheckpointConfig config, Operation operation) {
    return config.enabled()
        ? operation
        : call ->
            Future.failedFuture(
                ApiException.of(ErrorCode.NOT_FOUND, "checkpoints are switched off here"));
  }

  private Future<Answer> list(Call call) {
    Principal caller = call.principal();
    CheckpointConfig config = checkpoints.config();
    return checkpoints
        .listOfOrg(
            caller.org().orgId(),
            call.text("q"),
            call.findText("before"),
            CheckpointView.limit(call.integer("limit")))
        .map(
            found ->
                Answer.ok(
                    new CheckpointPageJson(
                        CheckpointView.own(found.page(), caller),
                        found.page().more(),
                        CheckpointView.next(found.page()),
                        Publisher.publishesPublicly(caller.org()),
                        config.orgBytes(),
                        found.usedBytes(),
                        config.itemBytes(),
                        config.directBytes())));
  }

  private Future<Answer> publish(Call call) {
    return checkpoints
        .publish(
            Publisher.of(call.principal()),
            AnnouncementView.announcement(PublicationJson.read(call.body())))
        .map(
            announced ->
                Answer.created(AnnouncementView.announced(announced, baseUrl.get(), FAMILY)));
  }

  private Future<Answer> publishSet(Call call) {
    return checkpoints
        .publishSet(
            Publisher.of(call.principal()),
            AnnouncementView.set(SetPublicationJson.read(call.body())))
        .map(announced -> Answer.created(AnnouncementView.announced(announced, baseUrl.get())));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .get(call.principal().org().orgId(), call.text("id"))
        .map(found -> Answer.ok(CheckpointView.own(found, call.principal())));
  }

  private Future<Answer> listRevisions(Call call) {
    return checkpoints
        .getHistory(call.principal().org().orgId(), call.text("id"))
        .map(history -> Answer.ok(CheckpointView.history(history)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .delete(Publisher.of(call.principal()), id)
        .map(at -> Answer.ok(new DeletionJson(true, id, at)));
  }
}
