package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.checkpoints.ReadmeJson;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.Objects;

/** The operation that returns the README of a set in parts that a page can show safely. */
public final class ReadmeRoutes {
  private final Vertx vertx;
  private final ContentService contents;
  private final int maxBytes;
  private final Parser parser;

  /** One at a time, because an author decides how long a README takes to parse. */
  private final SearchQueue queue = new SearchQueue();

  /** Parses a README. */
  public interface Parser {
    /**
     * Returns the answer. Blocks.
     *
     * @param bytes the README's first bytes, or all
     * @param length the length of the whole README
     */
    ReadmeJson parse(byte[] bytes, String path, long length, String sha256);
  }

  /**
   * @param maxBytes the most that is read of a README
   */
  public ReadmeRoutes(Vertx vertx, ContentService contents, int maxBytes, Parser parser) {
    this.vertx = vertx;
    this.contents = contents;
    this.maxBytes = maxBytes;
    this.parser = parser;
  }

  public void bind(Operations operations, CheckpointConfig config) {
    operations.bind("readCheckpointReadme", CheckpointRoutes.unlessOff(config, this::read));
  }

  private Future<Answer> read(Call call) {
    String orgId = call.principal().org().orgId();
    return queue
        .within(
            orgId,
            () -> contents.openReadme(orgId, call.text("id")).compose(opened -> parsed(opened)))
        .map(Answer::ok);
  }

  private Future<ReadmeJson> parsed(ContentService.Opened opened) {
    long whole = opened.bytes().length();
    int length = (int) Math.min(whole, maxBytes);
    Future<Buffer> read =
        length == 0 ? Future.succeededFuture(Buffer.buffer()) : opened.bytes().onlyPiece(0, length);
    return read.eventually(() -> opened.bytes().close())
        .compose(
            bytes ->
                vertx.executeBlocking(
                    () ->
                        parser.parse(
                            bytes.getBytes(),
                            opened.content().fileName(),
                            whole,
                            // A published file has a digest.
                            Objects.requireNonNull(opened.content().sha256())),
                    false));
  }
}
