package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.checkpoint.AnnouncementView;
import dev.bourse.checkpoint.Checkpoint;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointView;
import dev.bourse.checkpoint.Publisher;
import dev.bourse.checkpoint.Visibility;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Announces a file, whose bytes go to an address that is good for this upload alone, or removes
 * one; in two phases.
 */
public final class CheckpointWriteTool implements Tool {
  private static final String NAME = "checkpoint_write";
  private static final String DELETE = "delete";
  private static final String PUBLISH = "publish";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of("phase", "confirm_token"),
          Map.of(
              DELETE,
              Set.of("id"),
              PUBLISH,
              Set.of(
                  "title",
                  "description",
                  "filename",
                  "content_type",
                  "bytes",
                  "visibility",
                  "sha256",
                  "replace")));

  /** What a confirmation is for that replaces nothing. */
  private static final String NEW = "new";

  private static final long NO_VERSION = 0;

  private final CheckpointService checkpoints;
  private final ConfirmTokens confirms;
  private final String baseUrl;

  /**
   * @param baseUrl what clients call the service, for the addresses of uploads
   */
  public CheckpointWriteTool(
      CheckpointService checkpoints, ConfirmTokens confirms, String baseUrl) {
    this.checkpoints = checkpoints;
    this.confirms = confirms;
    this.baseUrl = baseUrl;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CHECKPOINTS_WRITE);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    boolean isPreview = arguments.getString("phase").equals("preview");
    Future<JsonObject> answer;
    if (arguments.getString("action").equals(PUBLISH)) {
      CheckpointService.Announcement announcement = announcement(arguments);
      answer =
          isPreview
              ? previewPublish(caller, arguments, announcement)
              : confirmPublish(caller, arguments, announcement);
    } else {
      FIELDS.require(arguments, "id");
      answer = isPreview ? preview(caller, arguments) : confirm(caller, arguments);
    }
    return answer.map(JsonObject::toBuffer);
  }

  private static CheckpointService.Announcement announcement(JsonObject arguments) {
    List.of("title", "filename", "content_type", "bytes", "visibility")
        .forEach(field -> FIELDS.require(arguments, field));
    return AnnouncementView.announcement(
        arguments.copy().put("description", arguments.getString("description", "")),
        Visibility.of(arguments.getString("visibility")));
  }

  private Future<JsonObject> previewPublish(
      Principal caller, JsonObject arguments, CheckpointService.Announcement announcement) {
    return checkpoints
        .previewPublish(Publisher.of(caller), announcement)
        .map(
            replaced -> {
              ConfirmTokens.Issued issued =
                  confirms.issue(caller, NAME, arguments, subject(replaced), version(replaced));
              JsonObject told = publication("preview", replaced);
              return told.put("confirm_token", issued.token())
                  .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
            });
  }

  private static String subject(Optional<Checkpoint> replaced) {
    return replaced.map(Checkpoint::id).orElse(NEW);
  }

  private static long version(Optional<Checkpoint> replaced) {
    return replaced.map(Checkpoint::version).orElse(NO_VERSION);
  }

  private static JsonObject publication(String phase, Optional<Checkpoint> replaced) {
    JsonObject told =
        new JsonObject()
            .put("phase", phase)
            .put("action", PUBLISH)
            .put("replaced", replaced.isPresent());
    replaced.ifPresent(item -> told.put("id", item.id()));
    return told;
  }

  /** What can be known beforehand is checked before the token is used up. */
  private Future<JsonObject> confirmPublish(
      Principal caller, JsonObject arguments, CheckpointService.Announcement announcement) {
    Publisher publisher = Publisher.of(caller);
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                checkpoints
                    .previewPublish(publisher, announcement)
                    .compose(
                        replaced -> {
                          if (!subject(replaced).equals(confirmation.subject())
                              || version(replaced) != confirmation.version()) {
                            throw ApiError.of(
                                ErrorCode.VERSION_MISMATCH,
                                "what has this file name has changed since; nothing was written");
                          }
                          return confirms.spend(confirmation);
                        }))
        .compose(spent -> checkpoints.publishByAddress(publisher, announcement))
        .map(
            announced -> {
              JsonObject told = AnnouncementView.announced(announced, baseUrl, "");
              return new JsonObject()
                  .put("phase", "confirm")
                  .put("action", PUBLISH)
                  .put("id", told.getString("id"))
                  .put("revision", told.getInteger("revision"))
                  .put("replaced", announced.replaced())
                  .put("review", told.getString("review"))
                  .put("upload_url", told.getString("session_url"))
                  .put("upload_expires_at", told.getString("expires_at"));
            });
  }

  private Future<JsonObject> preview(Principal caller, JsonObject arguments) {
    String id = arguments.getString("id");
    return checkpoints
        .getCreated(Publisher.of(caller), id)
        .compose(
            item ->
                checkpoints
                    .get(caller.org().orgId(), id)
                    .map(
                        shown -> {
                          ConfirmTokens.Issued issued =
                              confirms.issue(caller, NAME, arguments, id, item.version());
                          return answer("preview", id)
                              .put("checkpoint", CheckpointView.own(shown, caller))
                              .put("confirm_token", issued.token())
                              .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
                        }));
  }

  /** What can be known beforehand is checked before the token is used up. */
  private Future<JsonObject> confirm(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                checkpoints
                    .getUnchanged(
                        Publisher.of(caller), confirmation.subject(), confirmation.version())
                    .compose(unchanged -> confirms.spend(confirmation))
                    .compose(
                        spent ->
                            checkpoints.delete(
                                Publisher.of(caller),
                                confirmation.subject(),
                                confirmation.version()))
                    .map(
                        at ->
                            answer("confirm", confirmation.subject())
                                .put("deleted_at", Times.rfc3339(at))));
  }

  private static JsonObject answer(String phase, String id) {
    return new JsonObject().put("phase", phase).put("action", DELETE).put("id", id);
  }
}
