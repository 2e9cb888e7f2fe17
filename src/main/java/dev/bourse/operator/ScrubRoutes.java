package dev.bourse.operator;

import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.scrub.Scrub;
import dev.bourse.scrub.ScrubStore;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;

/** Operations of the operator contract on the check of stored bytes. */
public final class ScrubRoutes {
  private final CheckpointService checkpoints;
  private final Scrub scrub;

  public ScrubRoutes(CheckpointService checkpoints, Scrub scrub) {
    this.checkpoints = checkpoints;
    this.scrub = scrub;
  }

  public void bind(Operations operations) {
    operations
        .bind("scrubCheckpoints", CheckpointRoutes.unlessOff(checkpoints.config(), this::progress))
        .bind("checkOrgCheckpoint", CheckpointRoutes.unlessOff(checkpoints.config(), this::check));
  }

  private Future<Answer> progress(Call call) {
    return scrub
        .progress(call.findText("after").orElse(""), call.limit() + 1)
        .map(progress -> Answer.ok(json(progress, call.limit())));
  }

  private static JsonObject json(Scrub.Progress progress, int limit) {
    Long since = progress.roundSinceMillis();
    return CommonFields.page("faults", Page.of(progress.faults(), limit), "blob", ScrubRoutes::json)
        .put("share_per_day", progress.share())
        .put("round", progress.round())
        .put("round_started_at", since == null ? null : Times.rfc3339(since))
        .put("checked_blobs", progress.checkedBlobs())
        .put("checked_bytes", progress.checkedBytes())
        .put("stored_blobs", progress.stored().blobs())
        .put("stored_bytes", progress.stored().bytes())
        .put("waiting_blobs", progress.waiting());
  }

  private static JsonObject json(ScrubStore.Found found) {
    return new JsonObject()
        .put("id", found.item())
        .put("org_id", found.orgId().isEmpty() ? null : found.orgId())
        .put("revision", found.revision())
        .put("filename", found.fileName())
        .put("fault", found.fault().kind().label())
        .put("detail", found.fault().detail())
        .put("found_at", Times.rfc3339(found.foundAtMillis()))
        .put("checked_at", Times.rfc3339(found.checkedAtMillis()))
        .put("blob", found.key());
  }

  private Future<Answer> check(Call call) {
    String id = call.text("id");
    return checkpoints
        .getAny(id)
        .compose(found -> scrub.ask(id))
        .map(blobs -> Answer.ok(new JsonObject().put("id", id).put("blobs", blobs)));
  }
}
