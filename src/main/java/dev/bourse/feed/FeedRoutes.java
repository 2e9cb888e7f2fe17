package dev.bourse.feed;

import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Revision;
import dev.bourse.checkpoint.SetFile;
import dev.bourse.core.Digests;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageHeaders;
import dev.bourse.pages.PageTemplates;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The feed's pages. */
public final class FeedRoutes {
  /** The templates of the pages. */
  public static final List<String> TEMPLATES = List.of("feed", "feed-item");

  /** Items of a page: a list that a phone's reader scrolls to its end. */
  private static final int ITEMS = 25;

  /**
   * Files of a set that its page shows. A page with the maximum number of files would take 2 MB,
   * for any anonymous and slow reader; the manifest lists all of them and is sent as it is stored.
   */
  private static final int FILES = 100;

  private final CheckpointService checkpoints;
  private final PageTemplates templates;
  private final Supplier<String> baseUrl;

  /**
   * @param templates with all of {@link #TEMPLATES}
   * @param baseUrl the service's address for browsers; read after the service listens
   */
  public FeedRoutes(
      CheckpointService checkpoints, PageTemplates templates, Supplier<String> baseUrl) {
    this.checkpoints = checkpoints;
    this.templates = templates;
    this.baseUrl = baseUrl;
  }

  public void bind(Operations operations) {
    operations
        .bind("showFeed", CheckpointRoutes.unlessOff(checkpoints.config(), this::list))
        .bind("showFeedItem", CheckpointRoutes.unlessOff(checkpoints.config(), this::item));
  }

  private Future<Answer> list(Call call) {
    String q = call.text("q").trim();
    Optional<String> before = call.findText("before");
    return checkpoints
        .listFeed(call.clientKey(), q, before, ITEMS)
        .map(
            page ->
                page(
                    call, "feed", view().list(CheckpointView.feedPage(page), q, before.isEmpty())));
  }

  private Future<Answer> item(Call call) {
    return checkpoints
        .getPublic(call.text("id"))
        .compose(
            found -> {
              Revision live = CheckpointView.live(found.item());
              Future<List<SetFile>> files =
                  live.metadata().isSet()
                      ? checkpoints.listFirstFiles(found.item(), live, FILES)
                      : Future.succeededFuture(List.of());
              return files.map(
                  first -> page(call, "feed-item", view().item(CheckpointView.feed(found), first)));
            });
  }

  private FeedView view() {
    return new FeedView(baseUrl.get(), checkpoints.config().contentUrl());
  }

  /** The page; 304 when the reader has the same version. */
  private Answer page(Call call, String template, Map<String, Object> model) {
    Buffer body = templates.render(template, model);
    byte[] digest = Digests.sha256(body.getBytes());
    String etag =
        '"' + Base64.getUrlEncoder().withoutPadding().encodeToString(digest).substring(0, 22) + '"';
    return call.header("if-none-match").filter(etag::equals).isPresent()
        ? new Answer.RenderedPage(304, "", Buffer.buffer(), PageHeaders.shared(etag))
        : new Answer.RenderedPage(200, PageTemplates.HTML, body, PageHeaders.shared(etag));
  }
}
