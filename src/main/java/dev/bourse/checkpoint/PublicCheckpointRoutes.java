package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import java.util.Map;

/** Operations of the public feed, which is open to everybody and to pages of any origin. */
public final class PublicCheckpointRoutes {
  /** A day: the answer is constant, and browsers cap the time anyway. */
  private static final Map<String, String> PREFLIGHT =
      Map.of(
          "Access-Control-Allow-Methods",
          "GET, HEAD, OPTIONS",
          "Access-Control-Allow-Headers",
          "Range, If-Range, If-None-Match, Accept, Content-Type",
          "Access-Control-Max-Age",
          "86400",
          "Allow",
          "GET, HEAD, OPTIONS");

  private final CheckpointService checkpoints;

  public PublicCheckpointRoutes(CheckpointService checkpoints) {
    this.checkpoints = checkpoints;
  }

  public void bind(Operations operations) {
    CheckpointConfig config = checkpoints.config();
    operations
        .bind("listPublicCheckpoints", CheckpointRoutes.unlessOff(config, this::list))
        .bind("readPublicCheckpoint", CheckpointRoutes.unlessOff(config, this::read))
        .bind("preflightPublicCheckpoints", this::preflight)
        .bind("preflightPublicCheckpoint", this::preflight)
        .bind("preflightPublicCheckpointContent", this::preflight)
        .bind("preflightPublicCheckpointFile", this::preflight);
  }

  private Future<Answer> list(Call call) {
    return checkpoints
        .listFeed(
            call.clientKey(),
            call.text("q"),
            call.findText("before"),
            CheckpointView.limit(call.integer("limit")))
        .map(page -> Answer.ok(CheckpointView.feedPage(page)));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .getPublic(call.text("id"))
        .map(found -> Answer.ok(CheckpointView.feed(found)));
  }

  private Future<Answer> preflight(Call call) {
    return Future.succeededFuture(new Answer.Empty(204, PREFLIGHT));
  }
}
