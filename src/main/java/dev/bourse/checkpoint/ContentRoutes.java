package dev.bourse.checkpoint;

import dev.bourse.blob.Reading;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Bytes;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.util.Optional;

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
    return answer(contents.open(() -> checkpoints.get(orgId, id), Checkpoint::shown), call);
  }

  private Future<Answer> readPublic(Call call) {
    String id = call.text("id");
    return answer(contents.open(() -> checkpoints.getPublic(id), CheckpointView::live), call);
  }

  /** Serves stored bytes in the one way that is safe for strangers' files. */
  public static Future<Answer> answer(Future<ContentService.Opened> opening, Call call) {
    boolean download = call.findText("download").orElse("0").equals("1");
    return opening.map(
        opened -> {
          Facts facts = opened.revision().facts();
          return new Answer.Download(
              bytes(opened.bytes()),
              facts.contentType(),
              '"' + String.valueOf(opened.revision().sha256()) + '"',
              ContentHeaders.of(facts, download));
        });
  }

  private static Bytes bytes(Reading reading) {
    return new Bytes() {
      @Override
      public long length() {
        return reading.length();
      }

      @Override
      public Optional<FileChannel> file() {
        return reading.file();
      }

      @Override
      public Future<Buffer> piece(long offset, int length) {
        return reading.piece(offset, length);
      }

      @Override
      public void close() {
        reading.close();
      }
    };
  }
}
