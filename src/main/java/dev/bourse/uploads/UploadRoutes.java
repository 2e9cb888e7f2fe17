package dev.bourse.uploads;

import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.UploadedJson;
import dev.bourse.schemas.common.CommitJson;
import io.vertx.core.Future;
import java.util.Map;
import java.util.Optional;

/** Operations by which members send the bytes of announced files. */
public final class UploadRoutes {
  private final DirectUploadService direct;
  private final UploadSessionService sessions;
  private final SetUploadService sets;

  public UploadRoutes(
      DirectUploadService direct, UploadSessionService sessions, SetUploadService sets) {
    this.direct = direct;
    this.sessions = sessions;
    this.sets = sets;
  }

  public void bind(Operations operations, CheckpointConfig config) {
    operations
        .bind("writeCheckpointContent", CheckpointRoutes.unlessOff(config, this::writeContent))
        .bind("commitCheckpoint", CheckpointRoutes.unlessOff(config, this::commit))
        .bind("putUpload", CheckpointRoutes.unlessOff(config, this::putUpload))
        .bind("putUploadFile", CheckpointRoutes.unlessOff(config, this::putUploadFile));
  }

  private Future<Answer> writeContent(Call call) {
    return direct
        .put(Publisher.of(call.principal()), call.text("id"), call.bytes())
        .map(published -> own(call, published));
  }

  private Future<Answer> commit(Call call) {
    CommitJson sent = CommitJson.read(call.body());
    return sessions
        .commit(
            Publisher.of(call.principal()),
            call.text("id"),
            sent.bytes(),
            Optional.ofNullable(sent.sha256()))
        .map(published -> own(call, published));
  }

  private static Answer own(Call call, CheckpointStore.Listed published) {
    return Answer.ok(CheckpointView.own(published, call.principal()));
  }

  private Future<Answer> putUpload(Call call) {
    return sessions
        .put(call.text("session"), call.header("Content-Range"), call.bytes())
        .map(UploadRoutes::answer);
  }

  private Future<Answer> putUploadFile(Call call) {
    return sets.put(
            call.text("session"),
            (int) call.integer("number"),
            call.header("Content-Range"),
            call.bytes())
        .map(UploadRoutes::answer);
  }

  private static Answer answer(ResumableUploads.Progress progress) {
    if (progress.isComplete()) {
      return Answer.ok(
          new UploadedJson(
              progress.item().id(),
              progress.draft().number(),
              progress.stored(),
              progress.draft().state().label()));
    }
    long stored = progress.stored();
    return new Answer.Empty(
        308, stored == 0 ? Map.of() : Map.of("Range", "bytes=0-" + (stored - 1)));
  }
}
