package dev.bourse.operator;

import dev.bourse.checkpoint.AnnouncementView;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.PublicationJson;
import dev.bourse.schemas.common.CommitJson;
import dev.bourse.schemas.common.DeletionJson;
import dev.bourse.schemas.operator.DocumentPageJson;
import dev.bourse.schemas.operator.DocumentPublicationJson;
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
            found ->
                Answer.ok(
                    new DocumentPageJson(
                        CheckpointAdminRoutes.stored(found),
                        found.page().more(),
                        CheckpointView.next(found.page()),
                        checkpoints.config().platformBytes(),
                        found.usedBytes())));
  }

  private Future<Answer> publish(Call call) {
    DocumentPublicationJson sent = DocumentPublicationJson.read(call.body());
    return checkpoints
        .publish(
            platform(call),
            AnnouncementView.announcement(
                new PublicationJson(
                    sent.title(),
                    sent.description(),
                    sent.filename(),
                    sent.contentType(),
                    sent.bytes(),
                    Visibility.PUBLIC.label(),
                    sent.upload(),
                    sent.sha256(),
                    sent.replace())))
        .map(
            announced ->
                Answer.created(AnnouncementView.announced(announced, baseUrl.get(), DOCUMENTS)));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .get(Checkpoint.PLATFORM, call.text("id"))
        .map(found -> Answer.ok(CheckpointAdminRoutes.stored(found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .delete(platform(call), id)
        .map(at -> Answer.ok(new DeletionJson(true, id, at)));
  }

  private Future<Answer> send(Call call) {
    return direct
        .put(platform(call), call.text("id"), call.bytes())
        .map(landed -> Answer.ok(CheckpointAdminRoutes.stored(landed)));
  }

  private Future<Answer> commit(Call call) {
    CommitJson sent = CommitJson.read(call.body());
    return sessions
        .commit(platform(call), call.text("id"), sent.bytes(), Optional.ofNullable(sent.sha256()))
        .map(landed -> Answer.ok(CheckpointAdminRoutes.stored(landed)));
  }
}
