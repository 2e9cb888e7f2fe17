package dev.bourse.checkpoint;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Inbound;
import dev.bourse.edge.Operation;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** The operations of members and of sessions. */
public final class CheckpointRoutes {
  static final String FAMILY = "/api/checkpoints";

  private final CheckpointService checkpoints;
  private final DirectUploadService direct;
  private final UploadSessionService sessions;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl what clients call the service; asked for once it listens
   */
  public CheckpointRoutes(
      CheckpointService checkpoints,
      DirectUploadService direct,
      UploadSessionService sessions,
      Supplier<String> baseUrl) {
    this.checkpoints = checkpoints;
    this.direct = direct;
    this.sessions = sessions;
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
            caller.org().orgId(),
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
        .publish(
            Publisher.of(call.principal()),
            PublicationView.publication(
                call.body(), Visibility.of(call.body().getString("visibility"))))
        .map(
            announced ->
                Answer.created(PublicationView.announced(announced, baseUrl.get(), FAMILY)));
  }

  private Future<Answer> read(Call call) {
    return checkpoints
        .get(call.principal().org().orgId(), call.text("id"))
        .map(found -> Answer.ok(own(call.principal(), found)));
  }

  private Future<Answer> delete(Call call) {
    String id = call.text("id");
    return checkpoints
        .delete(Publisher.of(call.principal()), id)
        .map(at -> Answer.ok(PublicationView.deleted(id, at)));
  }

  private Future<Answer> writeContent(Call call) {
    return direct
        .put(Publisher.of(call.principal()), call.text("id"), source(call))
        .map(landed -> Answer.ok(own(call.principal(), landed)));
  }

  private Future<Answer> commit(Call call) {
    return sessions
        .commit(
            Publisher.of(call.principal()),
            call.text("id"),
            call.body().getLong("bytes"),
            Optional.ofNullable(call.body().getString("sha256")))
        .map(landed -> Answer.ok(own(call.principal(), landed)));
  }

  private Future<Answer> putUpload(Call call) {
    return sessions
        .put(call.text("session"), call.header("Content-Range"), source(call))
        .map(CheckpointRoutes::progress);
  }

  private static Answer progress(UploadSessionService.Progress progress) {
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

  /** The bytes a call brings. */
  public static ByteSource source(Call call) {
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
      public Future<Long> read(int blockBytes, long expectedBytes, Sink sink) {
        return inbound.read(blockBytes, expectedBytes, sink::take);
      }
    };
  }
}
