package dev.bourse.operator;

import dev.bourse.checkpoint.AnnouncementView;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.uploads.DirectUploadService;
import dev.bourse.uploads.UploadSessionService;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;

/** Operations of the operator contract on the platform's own documents. */
public final class DocumentRoutes {
  private static final String DOCUMENTS = "/api/operator/documents";

  private final CheckpointService checkpoints;
  private final DirectUploadService direct;
  private final UploadSessionService sessions;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl the service's address for clients; read once the service listens
   */
  public DocumentRoutes(
      CheckpointService checkpoints,
      DirectUploadService direct,
      UploadSessionService sessions,
      Supplier<String> baseUrl) {
    this.checkpoints = checkpoints;
    this.direct = direct;
    this.sessions = sessions;
    this.baseUrl = baseUrl;
  }

  public void bind(Operations operations) {
    CheckpointConfig config = checkpoints.config();
    operations
        .bind("listDocuments", CheckpointRoutes.unlessOff(config, this::list))
        .bind("publishDocument", CheckpointRoutes.unlessOff(config, this::publish))
        .bind("readDocument", CheckpointRoutes.unlessOff(config, this::read))
        .bind("deleteDocument", CheckpointRoutes.unlessOff(config, this::delete))
        .bind("sendDocument", CheckpointRoutes.unlessOff(config, this::send))
        .bind("commitDocument", CheckpointRoutes.unlessOff(config, this::commit));
  }

  private Publisher platform(Call call) {
    return Publisher.platform(call.operator(), checkpoints.config().publisher());
  }

  private Future<Answer> list(Call call) {
    return CheckpointAdminRoutes.page(checkpoints, call, Checkpoint.PLATFORM)
        .map(
            page ->
                Answer.ok(
                    CheckpointAdminRoutes.json("documents", page)
                        .put("limit_bytes", checkpoints.config().platformBytes())
                        .put("used_bytes", page.usedBytes())));
  }

  private Future<Answer> publish(Call call) {
    return checkpoints
        .publish(platform(call), AnnouncementView.announcement(call.body(), Visibility.PUBLIC))
        .map(
            announced ->
                Answer.created(AnnouncementView.announced(announced, baseUrl.get(), DOCUMENTS)));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .get(Checkpoint.PLATFORM, call.text("id"))
        .map(found -> Answer.ok(CheckpointAdminRoutes.json(found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .delete(platform(call), id)
        .map(at -> Answer.ok(AnnouncementView.deleted(id, at)));
  }

  private Future<Answer> send(Call call) {
    return direct
        .put(platform(call), call.text("id"), call.bytes())
        .map(landed -> Answer.ok(CheckpointAdminRoutes.json(landed)));
  }

  private Future<Answer> commit(Call call) {
    return sessions
        .commit(
            platform(call),
            call.text("id"),
            call.body().getLong("bytes"),
            Optional.ofNullable(call.body().getString("sha256")))
        .map(landed -> Answer.ok(CheckpointAdminRoutes.json(landed)));
  }
}
