package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operation;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The public feed: anybody reads it, pages of any origin too. */
public final class PublicCheckpointRoutes {
  static final Map<String, String> ANY_ORIGIN =
      Map.of(
          "Access-Control-Allow-Origin",
          "*",
          "Access-Control-Expose-Headers",
          "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, X-Request-Id");

  /** A day: what is allowed does not change, and browsers keep it for less anyway. */
  private static final Map<String, String> PREFLIGHT =
      Map.of(
          "Access-Control-Allow-Origin",
          "*",
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
        .bind(
            "listPublicCheckpoints",
            readableByPages(CheckpointRoutes.unlessOff(config, this::list)))
        .bind(
            "readPublicCheckpoint", readableByPages(CheckpointRoutes.unlessOff(config, this::read)))
        .bind("preflightPublicCheckpoints", CheckpointRoutes.unlessOff(config, this::preflight))
        .bind("preflightPublicCheckpoint", CheckpointRoutes.unlessOff(config, this::preflight))
        .bind(
            "preflightPublicCheckpointContent",
            CheckpointRoutes.unlessOff(config, this::preflight));
  }

  /** The operation, whose refusals pages of any origin may read as they may read its answers. */
  static Operation readableByPages(Operation operation) {
    return call ->
        Future.succeededFuture(call)
            .compose(operation::handle)
            .recover(
                e ->
                    e instanceof ApiError error
                        ? Future.succeededFuture(refusal(error))
                        : Future.failedFuture(e));
  }

  private static Answer refusal(ApiError error) {
    JsonObject json =
        new JsonObject().put("error", error.code().code()).put("detail", error.detail());
    error.extras().forEach(json::put);
    return new Answer.Whole(error.code().status(), json.toBuffer(), null, ANY_ORIGIN);
  }

  private Future<Answer> list(Call call) {
    return checkpoints
        .listFeed(
            call.findText("q").orElse(""),
            call.findText("before"),
            CheckpointView.limit(call.findInteger("limit")))
        .map(
            page ->
                Answer.ok(
                    CheckpointView.page(page, CheckpointView::feed, CheckpointView::feedTime),
                    ANY_ORIGIN));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .getPublic(call.text("id"))
        .map(found -> Answer.ok(CheckpointView.feed(found), ANY_ORIGIN));
  }

  private Future<Answer> preflight(Call call) {
    return Future.succeededFuture(new Answer.Empty(204, PREFLIGHT));
  }
}
