package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Inbound;
import dev.bourse.edge.Operation;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The operations of members and of sessions. */
public final class CheckpointRoutes {
  static final String FAMILY = "/api/checkpoints";
  private static final String SESSIONS = "/upload/";

  private final CheckpointService checkpoints;
  private final UploadService uploads;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl what clients call the service; asked for once it listens
   */
  public CheckpointRoutes(
      CheckpointService checkpoints, UploadService uploads, Supplier<String> baseUrl) {
    this.checkpoints = checkpoints;
    this.uploads = uploads;
    this.baseUrl = baseUrl;
  }

  public void bind(Operations operations) {
    CheckpointConfig config = checkpoints.config();
    operations
        .bind("listCheckpoints", unlessOff(config, this::list))
        .bind("publishCheckpoint", unlessOff(config, this::publish))
        .bind("readCheckpoint", unlessOff(config, this::read))
        .bind("deleteCheckpoint", unlessOff(config, this::delete))
        .bind("writeCheckpointContent", unlessOff(config, this::writeContent))
        .bind("commitCheckpoint", unlessOff(config, this::commit))
        .bind("putUpload", unlessOff(config, this::putUpload));
  }

  /** The operation, or 404 while the family is switched off. */
  public static Operation unlessOff(CheckpointConfig config, Operation operation) {
    return config.enabled()
        ? operation
        : call ->
            Future.failedFuture(
                ApiError.of(ErrorCode.NOT_FOUND, "checkpoints are switched off here"));
  }

  private Future<Answer> list(Call call) {
    Principal caller = call.principal();
    CheckpointConfig config = checkpoints.config();
    return checkpoints
        .listOfOrg(
            caller,
            call.findText("q").orElse(""),
            call.findText("before"),
            CheckpointView.limit(call.findInteger("limit")))
        .map(
            found ->
                Answer.ok(
                    CheckpointView.ofOrg(found.page(), CheckpointService.member(caller))
                        .put("public_publish", CheckpointService.publishesPublicly(caller))
                        .put("limit_bytes", config.orgBytes())
                        .put("used_bytes", found.usedBytes())
                        .put("max_item_bytes", config.itemBytes())
                        .put("max_direct_bytes", config.directBytes())));
  }

  private static JsonObject own(Principal caller, CheckpointStore.Listed listed) {
    return CheckpointView.own(listed, CheckpointService.member(caller));
  }

  private Future<Answer> publish(Call call) {
    return checkpoints
        .publish(call.principal(), publication(call.body()))
        .map(announced -> Answer.created(announcement(announced)));
  }

  private static CheckpointService.Publication publication(JsonObject body) {
    String fileName = body.getString("filename");
    if (fileName.equals(".") || fileName.equals("..")) {
      throw ApiError.badField("filename", fileName, "a name of a file, not of a folder");
    }
    String contentType = body.getString("content_type");
    String type = contentType.toLowerCase(Locale.ROOT);
    if (type.startsWith("multipart/") || type.startsWith("message/")) {
      throw ApiError.badField(
          "content_type", contentType, "the type of one file; browsers look for more in this one");
    }
    return new CheckpointService.Publication(
        new Facts(
            body.getString("title"),
            body.getString("description", ""),
            fileName,
            contentType,
            body.getLong("bytes"),
            body.getString("sha256")),
        Visibility.of(body.getString("visibility")),
        Optional.ofNullable(body.getString("upload")).map(kind -> kind.equals("resumable")),
        replace(body.getValue("replace")));
  }

  private static Replace replace(@Nullable Object value) {
    if (value instanceof String id) {
      return Replace.one(id);
    }
    return Boolean.FALSE.equals(value) ? Replace.NONE : Replace.ANY;
  }

  private JsonObject announcement(CheckpointService.Announced announced) {
    Checkpoint item = announced.item();
    Revision draft = announced.draft();
    JsonObject json =
        new JsonObject()
            .put("id", item.id())
            .put("revision", draft.number())
            .put("status", draft.state().label())
            .put("visibility", item.visibility().label())
            .put("replaced", announced.replaced())
            .put("review", item.needsReview() ? "required" : "none")
            .put("upload", draft.resumable() ? "resumable" : "direct");
    return draft.resumable()
        ? json.put("session_url", baseUrl.get() + SESSIONS + announced.session())
            .put("expires_at", Times.rfc3339(draft.expiresAtMillis()))
        : json.put("content_url", baseUrl.get() + FAMILY + '/' + item.id() + "/content");
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .get(call.principal(), call.text("id"))
        .map(found -> Answer.ok(own(call.principal(), found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .delete(call.principal(), id)
        .map(
            at ->
                Answer.ok(
                    new JsonObject()
                        .put("ok", true)
                        .put("id", id)
                        .put("deleted_at", Times.rfc3339(at))));
  }

  private Future<Answer> writeContent(Call call) {
    return uploads
        .putContent(call.principal(), call.text("id"), source(call))
        .map(landed -> Answer.ok(own(call.principal(), landed)));
  }

  private Future<Answer> commit(Call call) {
    return uploads
        .commit(
            call.principal(),
            call.text("id"),
            call.body().getLong("bytes"),
            Optional.ofNullable(call.body().getString("sha256")))
        .map(landed -> Answer.ok(own(call.principal(), landed)));
  }

  private Future<Answer> putUpload(Call call) {
    return uploads
        .putSession(call.text("session"), call.header("Content-Range"), source(call))
        .map(CheckpointRoutes::progress);
  }

  private static Answer progress(UploadService.Progress progress) {
    if (progress.isComplete()) {
      return Answer.ok(
          new JsonObject()
              .put("id", progress.item().id())
              .put("revision", progress.draft().number())
              .put("bytes", progress.stored())
              .put("status", progress.draft().state().label()));
    }
    Map<String, String> headers = new LinkedHashMap<>();
    if (progress.stored() > 0) {
      headers.put("Range", "bytes=0-" + (progress.stored() - 1));
    }
    return new Answer.Empty(308, headers);
  }

  private static ByteSource source(Call call) {
    Inbound inbound = call.bytes();
    return new ByteSource() {
      @Override
      public OptionalLong length() {
        return inbound.length();
      }

      @Override
      public Optional<String> contentType() {
        return inbound.contentType();
      }

      @Override
      public Future<Long> read(int blockBytes, Sink sink) {
        return inbound.read(blockBytes, sink::take);
      }
    };
  }
}
