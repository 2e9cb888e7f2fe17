package dev.bourse.operator;

import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Content;
import dev.bourse.checkpoint.ContentRoutes;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Operations of the operator contract on reviews of public files. */
public final class ReviewRoutes {
  private final ReviewService reviews;
  private final ContentService contents;
  private final CheckpointConfig config;

  public ReviewRoutes(ReviewService reviews, ContentService contents, CheckpointConfig config) {
    this.reviews = reviews;
    this.contents = contents;
    this.config = config;
  }

  public void bind(Operations operations) {
    operations
        .bind("listReviews", CheckpointRoutes.unlessOff(config, this::list))
        .bind("readReview", CheckpointRoutes.unlessOff(config, this::read))
        .bind("downloadReview", CheckpointRoutes.unlessOff(config, this::download))
        .bind("fetchReviewFile", CheckpointRoutes.unlessOff(config, this::readFile))
        .bind("approveReview", CheckpointRoutes.unlessOff(config, this::approve))
        .bind("rejectReview", CheckpointRoutes.unlessOff(config, this::reject));
  }

  private Future<Answer> list(Call call) {
    return reviews
        .list(call.findText("after"), call.limit())
        .map(page -> Answer.ok(CommonFields.page("reviews", page, "cursor", this::json)));
  }

  private Future<Answer> read(Call call) {
    return reviews
        .get(call.text("review"))
        .compose(review -> reviews.listFiles(review).map(files -> Answer.ok(json(review, files))));
  }

  private JsonObject json(ReviewService.Review review, List<SetFile> files) {
    JsonObject json = json(review);
    return files.isEmpty() ? json : json.put("files", SetFile.json(files));
  }

  private Future<Answer> download(Call call) {
    String id = call.text("review");
    return ContentRoutes.answer(
        contents.open(
            call.actor(),
            () -> reviews.get(id).map(review -> Content.of(review.item(), review.revision()))),
        call);
  }

  private Future<Answer> readFile(Call call) {
    String id = call.text("review");
    return ContentRoutes.answer(
        contents.open(call.actor(), () -> reviews.findFile(id, call.text("sha256"))), call);
  }

  private Future<Answer> approve(Call call) {
    return reviews
        .approve(call.actor(), call.text("review"))
        .map(review -> Answer.ok(json(review)));
  }

  private Future<Answer> reject(Call call) {
    return reviews
        .reject(call.actor(), call.text("review"), call.body().getString("reason"))
        .map(review -> Answer.ok(json(review)));
  }

  private JsonObject json(ReviewService.Review review) {
    Checkpoint item = review.item();
    JsonObject metadata = CheckpointView.metadata(review.listed(), review.revision());
    return new JsonObject()
        .put("review_id", review.revision().reviewId())
        .put("org_id", item.orgId())
        .put("landed_at", Times.rfc3339(item.changedAtMillis()))
        .put("findings", new JsonArray(review.revision().findings()))
        .put("rejection_reason", review.revision().rejectionReason())
        .put("cursor", reviews.cursor(review))
        .put("checkpoint", metadata);
  }
}
