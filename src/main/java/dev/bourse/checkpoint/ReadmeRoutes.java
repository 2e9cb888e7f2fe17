package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

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
     * Returns the fields of the answer. Blocks.
     *
     * @param isWhole whether the bytes are all of the README
     */
    JsonObject parse(byte[] bytes, boolean isWhole);
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

  private Future<JsonObject> parsed(ContentService.Opened opened) {
    int length = (int) Math.min(opened.bytes().length(), maxBytes);
    boolean isWhole = length == opened.bytes().length();
    Future<Buffer> read =
        length == 0 ? Future.succeededFuture(Buffer.buffer()) : opened.bytes().onlyPiece(0, length);
    return read.eventually(() -> opened.bytes().close())
        .compose(
            bytes -> vertx.executeBlocking(() -> parser.parse(bytes.getBytes(), isWhole), false))
        .map(
            answer ->
                answer
                    .put("path", opened.content().fileName())
                    .put("bytes", opened.bytes().length())
                    .put("sha256", opened.content().sha256()));
  }
}
