package dev.bourse.operator;

import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.move.BlobMover;
import dev.bourse.move.MoveStore;
import dev.bourse.schemas.operator.CheckpointsMoveRequestJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.Optional;

/** Operations of the operator contract on the move of stored bytes. */
public final class MoveRoutes {
  private final CheckpointConfig config;
  private final BlobMover move;
  private final Clock clock;

  public MoveRoutes(CheckpointConfig config, BlobMover move, Clock clock) {
    this.config = config;
    this.move = move;
    this.clock = clock;
  }

  public void bind(Operations operations) {
    operations
        .bind("moveCheckpoints", CheckpointRoutes.unlessOff(config, this::ask))
        .bind("trackCheckpointsMove", CheckpointRoutes.unlessOff(config, this::progress));
  }

  private Future<Answer> ask(Call call) {
    CheckpointsMoveRequestJson sent = CheckpointsMoveRequestJson.read(call.body());
    return move.ask(sent.from(), sent.to(), clock.millis())
        .map(
            asked ->
                Answer.ok(
                    new JsonObject()
                        .put("state", "running")
                        .put("from", asked.from())
                        .put("to", asked.to())
                        .put("asked_at", Times.rfc3339(asked.askedAtMillis()))));
  }

  private Future<Answer> progress(Call call) {
    return move.progress(call.findText("after").orElse(""), call.limit() + 1)
        .map(progress -> Answer.ok(json(progress, call.limit())));
  }

  private static JsonObject json(BlobMover.Progress progress, int limit) {
    Optional<MoveStore.Asked> asked = progress.asked();
    Long ended = asked.map(MoveStore.Asked::endedAtMillis).orElse(null);
    long left = asked.map(MoveStore.Asked::leftBlobs).orElse(-1L);
    String state = asked.map(one -> one.isRunning() ? "running" : "ended").orElse("none");
    return CommonFields.page("faults", Page.of(progress.faults(), limit), "blob", MoveRoutes::json)
        .put("state", state)
        .put("from", asked.map(MoveStore.Asked::from).orElse(null))
        .put("to", asked.map(MoveStore.Asked::to).orElse(null))
        .put("asked_at", asked.map(one -> Times.rfc3339(one.askedAtMillis())).orElse(null))
        .put("ended_at", ended == null ? null : Times.rfc3339(ended))
        .put("moved_blobs", asked.map(MoveStore.Asked::movedBlobs).orElse(0L))
        .put("moved_bytes", asked.map(MoveStore.Asked::movedBytes).orElse(0L))
        .put("left_blobs", left < 0 ? null : left)
        .put("trouble", progress.trouble());
  }

  private static JsonObject json(MoveStore.Found found) {
    return new JsonObject()
        .put("id", found.item())
        .put("revision", found.revision())
        .put("detail", found.detail())
        .put("found_at", Times.rfc3339(found.foundAtMillis()))
        .put("blob", found.key());
  }
}
