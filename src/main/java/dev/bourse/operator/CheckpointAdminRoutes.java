package dev.bourse.operator;

import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.PublicCheckpointJson;
import dev.bourse.schemas.common.DeletionJson;
import dev.bourse.schemas.operator.StoredCheckpointJson;
import dev.bourse.schemas.operator.StoredCheckpointPageJson;
import io.vertx.core.Future;
import java.util.List;

/** Operations of the operator contract on checkpoints of every organization. */
public final class CheckpointAdminRoutes {
  private final CheckpointService checkpoints;

  public CheckpointAdminRoutes(CheckpointService checkpoints) {
    this.checkpoints = checkpoints;
  }

  public void bind(Operations operations) {
    operations
        .bind("listOrgCheckpoints", CheckpointRoutes.unlessOff(checkpoints.config(), this::list))
        .bind("readOrgCheckpoint", CheckpointRoutes.unlessOff(checkpoints.config(), this::read))
        .bind(
            "deleteOrgCheckpoint", CheckpointRoutes.unlessOff(checkpoints.config(), this::delete));
  }

  private Future<Answer> list(Call call) {
    String org = call.text("org");
    return checkpoints
        .requireOrganization(org)
        .compose(there -> page(checkpoints, call, org))
        .map(
            found ->
                Answer.ok(
                    new StoredCheckpointPageJson(
                        stored(found),
                        found.page().more(),
                        CheckpointView.next(found.page()),
                        checkpoints.config().orgBytes(),
                        found.usedBytes())));
  }

  /** Returns the requested page of one owner's items. */
  static Future<CheckpointService.OwnPage> page(
      CheckpointService checkpoints, Call call, String orgId) {
    return checkpoints.listOfOrg(
        orgId,
        call.text("q"),
        call.findText("after").or(() -> call.findText("before")),
        call.limit());
  }

  static List<StoredCheckpointJson> stored(CheckpointService.OwnPage found) {
    return found.page().items().stream().map(CheckpointAdminRoutes::stored).toList();
  }

  private Future<Answer> read(Call call) {
    return checkpoints.getAny(call.text("id")).map(found -> Answer.ok(stored(found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .deleteAny(call.actor(), id)
        .map(at -> Answer.ok(new DeletionJson(true, id, at)));
  }

  /** An item as operators see it. */
  static StoredCheckpointJson stored(CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    PublicCheckpointJson common = CheckpointView.metadata(listed, item.shown());
    return new StoredCheckpointJson(
        common.id(),
        item.isPlatform() ? null : item.orgId(),
        common.title(),
        common.description(),
        common.filename(),
        common.contentType(),
        common.bytes(),
        common.sha256(),
        common.visibility(),
        common.status(),
        common.statusDetail(),
        common.publisher(),
        common.revision(),
        common.publishedAtMillis(),
        common.createdAtMillis(),
        common.files(),
        common.totalBytes(),
        CheckpointView.isOnFeed(item),
        CheckpointView.cursor(item));
  }
}
