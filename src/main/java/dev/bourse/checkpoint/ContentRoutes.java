package dev.bourse.checkpoint;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import java.util.Map;

/** Operations that serve stored bytes to members and the public. */
public final class ContentRoutes {
  /** From 8 MiB on, the extra round trip of a redirect is negligible. */
  private static final long LEAST_REDIRECTED = 8L << 20;

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
    return answerMember(contents.openShown(call.principal().org().orgId(), call.text("id")), call);
  }

  private Future<Answer> readPublic(Call call) {
    return answer(contents.openPublic(call.clientKey(), call.text("id")), call);
  }

  private Future<Answer> readOwnFile(Call call) {
    return answerMember(
        contents.openShownFile(
            call.principal().org().orgId(), call.text("id"), call.text("sha256")),
        call);
  }

  private Future<Answer> readPublicFile(Call call) {
    return answer(
        contents.openPublicFile(call.clientKey(), call.text("id"), call.text("sha256")), call);
  }

  /** Serves stored bytes, or redirects to the object store. */
  private Future<Answer> answerMember(Future<ContentService.Opened> opening, Call call) {
    return config.redirect()
        ? opening.compose(opened -> redirected(opened, call))
        : answer(opening, call);
  }

  private Future<Answer> redirected(ContentService.Opened opened, Call call) {
    Answer.Download here = download(opened, call);
    // An object store does not send the sandbox header.
    if (opened.bytes().length() < LEAST_REDIRECTED
        || ContentHeaders.isActive(ContentHeaders.mediaType(here.contentType()))) {
      return Future.succeededFuture(here);
    }
    Map<String, String> said =
        Map.of(
            "Content-Type",
            here.contentType(),
            "Content-Disposition",
            here.headers().getOrDefault("Content-Disposition", "attachment"),
            "Cache-Control",
            "no-store");
    return contents
        .address(opened, said)
        .<Answer>map(
            address ->
                new Answer.Download(
                    here.bytes(),
                    here.contentType(),
                    here.etag(),
                    here.headers(),
                    address.orElse(null)))
        .onFailure(unknown -> opened.bytes().close());
  }

  /** Serves stored bytes with the headers that make untrusted files safe. */
  public static Future<Answer> answer(Future<ContentService.Opened> opening, Call call) {
    return opening.map(opened -> download(opened, call));
  }

  private static Answer.Download download(ContentService.Opened opened, Call call) {
    Content content = opened.content();
    return new Answer.Download(
        opened.bytes(),
        content.contentType(),
        '"' + String.valueOf(content.sha256()) + '"',
        ContentHeaders.of(content, call.text("download").equals("1")));
  }
}
