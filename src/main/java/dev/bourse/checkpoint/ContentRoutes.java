package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;

/** The operations that answer members and everybody with stored bytes. */
public final class ContentRoutes {
  private final CheckpointService checkpoints;
  private final ContentService contents;

  public ContentRoutes(CheckpointService checkpoints, ContentService contents) {
    this.checkpoints = checkpoints;
    this.contents = contents;
  }

  public void bind(Operations operations) {
    CheckpointConfig config = checkpoints.config();
    operations
        .bind("readCheckpointContent", CheckpointRoutes.unlessOff(config, this::readOwn))
        .bind("readPublicCheckpointContent", CheckpointRoutes.unlessOff(config, this::readPublic));
  }

  private Future<Answer> readOwn(Call call) {
    String orgId = call.principal().org().orgId();
    String id = call.text("id");
    return contents.answer(() -> checkpoints.get(orgId, id), Checkpoint::shown, call);
  }

  private Future<Answer> readPublic(Call call) {
    String id = call.text("id");
    return contents.answer(() -> checkpoints.getPublic(id), CheckpointView::live, call);
  }
}
