package dev.bourse.operator;

import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Content;
import dev.bourse.checkpoint.ContentRoutes;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.PublicCheckpointJson;
import dev.bourse.schemas.operator.ReviewJson;
import dev.bourse.schemas.operator.ReviewPageJson;
import dev.bourse.schemas.operator.ReviewRejectionJson;
import dev.bourse.schemas.operator.ReviewedCheckpointJson;
import dev.bourse.schemas.operator.ReviewedFileJson;
import dev.bourse.schemas.operator.ReviewedPublisherJson;
import io.vertx.core.Future;
import java.util.List;
import java.util.Objects;

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
        .map(
            page ->
                Answer.ok(
                    new ReviewPageJson(
                        page.items().stream().map(ReviewRoutes::toJson).toList(),
                        page.more(),
                        page.next(ReviewService::cursor))));
  }

  private Future<Answer> read(Call call) {
    return reviews
        .get(call.text("review"))
        .compose(
            review -> reviews.listFiles(review).map(files -> Answer.ok(toJson(review, files))));
  }

  private static ReviewJson toJson(ReviewService.Review review) {
    return toJson(review, List.of());
  }

  static ReviewJson toJson(ReviewService.Review review, List<SetFile> files) {
    Checkpoint item = review.item();
    Revision revision = review.revision();
    return new ReviewJson(
        Objects.requireNonNull(revision.reviewId()),
        item.orgId(),
        item.changedAtMillis(),
        revision.findings(),
        revision.rejectionReason(),
        ReviewService.cursor(review),
        toJson(CheckpointView.metadata(review.listed(), revision)),
        files.isEmpty()
            ? null
            : files.stream()
                .map(file -> new ReviewedFileJson(file.path(), file.bytes(), file.sha256()))
                .toList());
  }

  private static ReviewedCheckpointJson toJson(PublicCheckpointJson common) {
    return new ReviewedCheckpointJson(
        common.id(),
        common.title(),
        common.description(),
        common.filename(),
        common.contentType(),
        common.bytes(),
        // Only complete files of an organization are reviewed.
        Objects.requireNonNull(common.sha256()),
        common.visibility(),
        common.status(),
        common.statusDetail(),
        new ReviewedPublisherJson(
            Objects.requireNonNull(common.publisher().orgDisplay()),
            Objects.requireNonNull(common.publisher().username())),
        common.revision(),
        common.publishedAtMillis(),
        common.createdAtMillis(),
        common.files(),
        common.totalBytes());
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
        .map(review -> Answer.ok(toJson(review)));
  }

  private Future<Answer> reject(Call call) {
    return reviews
        .reject(call.actor(), call.text("review"), ReviewRejectionJson.read(call.body()).reason())
        .map(review -> Answer.ok(toJson(review)));
  }
}
