package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;

/** The operations that answer members and everybody with stored bytes. */
public final class ContentRoutes {
  private final CheckpointConfig config;
  private final ContentService contents;

  public ContentRoutes(CheckpointConfig config, ContentService contents) {
    this.config = config;
    this.contents = contents;
  }

  public void bind(Operations operations) {
    operations
        .bind("readCheckpointContent", CheckpointRoutes.unlessOff(config, this::readOwn))
        .bind("readCheckpointFile", CheckpointRoutes.unlessOff(config, this::readOwnFile))
        .bind("readPublicCheckpointFile", CheckpointRoutes.unlessOff(config, this::readPublicFile))
        .bind("readPublicCheckpointContent", CheckpointRoutes.unlessOff(config, this::readPublic));
  }

  private Future<Answer> readOwn(Call call) {
    return answer(contents.openShown(call.principal().org().orgId(), call.text("id")), call);
  }

  private Future<Answer> readPublic(Call call) {
    return answer(contents.openPublic(call.clientKey(), call.text("id")), call);
  }

  private Future<Answer> readOwnFile(Call call) {
    return answer(
        contents.openShownFile(
            call.principal().org().orgId(), call.text("id"), call.text("sha256")),
        call);
  }

  private Future<Answer> readPublicFile(Call call) {
    return answer(
        contents.openPublicFile(call.clientKey(), call.text("id"), call.text("sha256")), call);
  }

  /** Serves stored bytes in the one way that is safe for strangers' files. */
  public static Future<Answer> answer(Future<ContentService.Opened> opening, Call call) {
    boolean download = call.text("download").equals("1");
    return opening.map(
        opened -> {
          Content content = opened.content();
          return new Answer.Download(
              opened.bytes(),
              content.contentType(),
              '"' + String.valueOf(content.sha256()) + '"',
              ContentHeaders.of(content, download));
        });
  }
}
