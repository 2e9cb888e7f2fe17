package dev.bourse.operator;

import dev.bourse.checkpoint.AnnouncementView;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

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
            page ->
                Answer.ok(
                    json("checkpoints", page)
                        .put("limit_bytes", checkpoints.config().orgBytes())
                        .put("used_bytes", page.usedBytes())));
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

  static JsonObject json(String plural, CheckpointService.OwnPage page) {
    return CommonFields.page(plural, page.page(), "cursor", CheckpointAdminRoutes::json);
  }

  private Future<Answer> read(Call call) {
    return checkpoints.getAny(call.text("id")).map(found -> Answer.ok(json(found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .deleteAny(call.actor(), id)
        .map(at -> Answer.ok(AnnouncementView.deleted(id, at)));
  }

  /** An item as operators see it. */
  static JsonObject json(CheckpointStore.Listed listed) {
    Checkpoint item = listed.item();
    JsonObject metadata = CheckpointView.metadata(listed, item.shown());
    return new JsonObject()
        .put("id", item.id())
        .put("org_id", item.isPlatform() ? null : item.orgId())
        .mergeIn(metadata)
        .put("on_feed", CheckpointView.isOnFeed(item))
        .put("cursor", CheckpointView.cursor(item));
  }
}
