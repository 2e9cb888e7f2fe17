package dev.bourse.trailstream;

import dev.bourse.access.CallerGuard;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Chain;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.AttemptHistory;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.MaskedUrl;
import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.ReceiverTable;
import dev.bourse.delivery.ReceiverUpkeep;
import dev.bourse.delivery.Schedule;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.trailstream.TrailStream.Progress;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rows of streams. */
final class TrailStreamStore {
  static final ReceiverTable TABLE =
      new ReceiverTable(
          "trail_stream",
          "stream_id",
          "destination_by",
          "trail-streams",
          "trail_stream_disable",
          "trail_streams",
          List.of("destination"));

  /**
   * Columns that members change, written together. The progress advances concurrently, and is
   * written separately.
   */
  private static final Columns<TrailStream> STREAM =
      Columns.<TrailStream>of("trail_stream")
          .fixed("org_id", TrailStream::orgId)
          .fixed("stream_id", TrailStream::streamId)
          .changing("destination", stream -> stream.destination().text())
          .changing("access_key_id", TrailStream::accessKeyId)
          .changing("include_reads", TrailStream::includeReads)
          .fixed("writes_batch", stream -> stream.progress().writesBatch())
          .fixed("reads_batch", stream -> stream.progress().readsBatch())
          .fixed("tries", stream -> stream.progress().attempts().tries())
          .fixed("first_try_at", stream -> stream.progress().attempts().firstAtMillis())
          .fixed("last_try_at", stream -> stream.progress().attempts().lastAtMillis())
          .fixed("next_try_at", stream -> stream.progress().attempts().nextAtMillis())
          .fixed("status", stream -> stream.progress().attempts().status())
          .fixed("fault", stream -> stream.progress().attempts().fault())
          .changing("disabled_at", TrailStream::disabledAtMillis)
          .changing("disabled_reason", TrailStream::disabledReason)
          .changing("secret_version", TrailStream::secretVersion)
          .changing("old_secret_until", TrailStream::oldSecretUntilMillis)
          .changing("revision", TrailStream::revision)
          .fixed("created_at", TrailStream::createdAtMillis)
          .fixed("created_by", TrailStream::createdBy);

  private static final String SELECT = "SELECT " + STREAM.names() + " FROM trail_stream ";

  /** Deletes expired secrets, and streams of retired organizations. */
  static ReceiverUpkeep upkeep(Database database, SigningSecrets secrets) {
    return new ReceiverUpkeep(
        database, TABLE, secrets, retired -> List.of(deletion(retired.orgId(), retired.id())));
  }

  private static final String OF_LIVE =
      " FROM trail_stream s JOIN org o ON o.org_id = s.org_id AND o.retired_at IS NULL ";

  private final Database database;

  TrailStreamStore(Database database) {
    this.database = database;
  }

  private static TrailStream stream(Row row) {
    return new TrailStream(
        row.text("org_id"),
        row.text("stream_id"),
        Destination.of(row.text("destination")),
        row.textOrNull("access_key_id"),
        row.truth("include_reads"),
        new Progress(
            row.integer("writes_batch"),
            row.integerOrNull("reads_batch"),
            AttemptHistory.read(row, "next_try_at")),
        row.integerOrNull("disabled_at"),
        row.textOrNull("disabled_reason"),
        row.smallInteger("secret_version"),
        row.integerOrNull("old_secret_until"),
        row.integer("revision"),
        row.integer("created_at"),
        row.text("created_by"));
  }

  Future<Optional<TrailStream>> find(String orgId) {
    return database.readFirst(
        SELECT + "WHERE org_id = ?", List.of(orgId), TrailStreamStore::stream);
  }

  /** Returns the stream if it is enabled and its organization is not retired. */
  Future<Optional<TrailStream>> findLive(String orgId) {
    return database.readFirst(
        "SELECT " + STREAM.names("s") + OF_LIVE + "WHERE s.org_id = ? AND s.disabled_at IS NULL",
        List.of(orgId),
        TrailStreamStore::stream);
  }

  /** Stores a stream of an organization that has none. */
  Future<Void> create(TrailStream stream, List<Statement> more, AuditRow audit) {
    String orgId = stream.orgId();
    List<Statement> statements = new ArrayList<>();
    // Serializes writes to one organization, so that the check below stays valid.
    statements.add(
        Statement.guarded(
            () ->
                ApiException.of(
                        ErrorCode.CONFLICT,
                        "organization %s is retired; nothing of it can be changed any more"
                            .formatted(orgId))
                    .with("reason", "retired"),
            "UPDATE org SET retired_at = NULL WHERE org_id = ? AND retired_at IS NULL",
            orgId));
    statements.addAll(CallerGuard.of(orgId, audit.actor()));
    statements.add(
        Statement.guarded(
            TrailStreamStore::changedConcurrently,
            """
            UPDATE org SET retired_at = NULL WHERE org_id = ?
            AND NOT EXISTS (SELECT 1 FROM trail_stream WHERE org_id = ?)\
            """,
            orgId,
            orgId));
    statements.add(STREAM.insert(stream));
    return commit(statements, more, audit);
  }

  /**
   * Stores the changed fields of a stream without its progress, unless it was changed concurrently.
   */
  Future<Void> update(TrailStream before, TrailStream next, List<Statement> more, AuditRow audit) {
    List<Statement> statements = new ArrayList<>(CallerGuard.of(next.orgId(), audit.actor()));
    statements.add(
        STREAM
            .update(
                next,
                "org_id = ? AND stream_id = ? AND revision = ?",
                before.orgId(),
                before.streamId(),
                before.revision())
            .orElse(TrailStreamStore::changedConcurrently));
    if (!before.destination().equals(next.destination())) {
      statements.add(
          Statement.of(
              "UPDATE trail_stream SET destination_by = ? WHERE org_id = ? AND stream_id = ?",
              audit.actor(),
              next.orgId(),
              next.streamId()));
    }
    return commit(statements, more, audit);
  }

  /** Restarts the retry period of the next batch. */
  static Statement restartRetries(TrailStream stream, long nowMillis) {
    return Statement.of(
        """
        UPDATE trail_stream SET tries = 0, first_try_at = NULL, next_try_at = ?, status = NULL,
        fault = NULL WHERE org_id = ? AND stream_id = ?\
        """,
        nowMillis,
        stream.orgId(),
        stream.streamId());
  }

  /** Moves a chain's position to a batch. */
  static Statement setPosition(TrailStream stream, boolean isRead, long batch) {
    return Statement.of(
        "UPDATE trail_stream SET %s = ? WHERE org_id = ? AND stream_id = ?"
            .formatted(column(isRead)),
        batch,
        stream.orgId(),
        stream.streamId());
  }

  private static String column(boolean isRead) {
    return isRead ? "reads_batch" : "writes_batch";
  }

  Future<Void> delete(TrailStream stream, List<Statement> more, AuditRow audit) {
    return commit(List.of(deletion(stream.orgId(), stream.streamId())), more, audit);
  }

  static Statement deletion(String orgId, String streamId) {
    return Statement.of(
        "DELETE FROM trail_stream WHERE org_id = ? AND stream_id = ?", orgId, streamId);
  }

  private static ApiException changedConcurrently() {
    return ApiException.retryLater(
        ErrorCode.OVERLOADED,
        "the stream was changed at the same time; nothing was written",
        1_000);
  }

  private Future<Void> commit(List<Statement> statements, List<Statement> more, AuditRow audit) {
    List<Statement> all = new ArrayList<>(statements);
    all.addAll(more);
    all.add(TABLE.changed());
    all.add(AuditStore.insert(audit));
    return database.commit(all);
  }

  /** Lists streams with unsent batches after a stream, in the order of their organizations. */
  Future<List<DeliveryKind.Pending>> listAhead(Optional<Schedule.Queue> after, int most) {
    return database.read(
        """
        SELECT s.org_id, s.next_try_at, s.tries %s WHERE s.disabled_at IS NULL AND s.org_id > ? AND (EXISTS
        (SELECT 1 FROM audit_seal w WHERE w.org_id = s.org_id AND w.is_read = 0
        AND w.batch = s.writes_batch + 1) OR (s.include_reads = 1 AND EXISTS
        (SELECT 1 FROM audit_seal r WHERE r.org_id = s.org_id AND r.is_read = 1
        AND r.batch = s.reads_batch + 1))) ORDER BY s.org_id LIMIT %s\
        """
            .formatted(OF_LIVE, most),
        List.of(after.map(Schedule.Queue::endpointId).orElse("")),
        row ->
            new DeliveryKind.Pending(
                queue(row.text("org_id")), row.integer("next_try_at"), row.smallInteger("tries")));
  }

  static Schedule.Queue queue(String orgId) {
    return new Schedule.Queue(orgId, "");
  }

  /** Returns the chain whose next batch was sealed first; empty if all batches are sent. */
  Future<Optional<Chain>> findNext(TrailStream stream) {
    Progress progress = stream.progress();
    return database.readFirst(
        """
        SELECT is_read FROM audit_seal WHERE org_id = ?
        AND ((is_read = 0 AND batch = ?) OR (is_read = 1 AND batch = ?))
        ORDER BY sealed_at, is_read LIMIT 1\
        """,
        List.of(
            stream.orgId(),
            progress.writesBatch() + 1,
            stream.includeReads() ? progress.batch(true) + 1 : -1),
        row -> stream.chain(row.truth("is_read")));
  }

  /**
   * Advances the stream past a batch. Fails with {@link ReceiverChangedException} if it is no
   * longer the next one.
   */
  Future<Void> taken(TrailStream stream, Chain chain, Attempt attempt, long nowMillis) {
    long batch = stream.progress().batch(chain.isRead()) + 1;
    return database.commit(
        List.of(
            Statement.guarded(
                ReceiverChangedException::new,
                """
                UPDATE trail_stream SET %1$s = ?, tries = 0, first_try_at = NULL, last_try_at = ?,
                next_try_at = ?, status = ?, fault = NULL
                WHERE org_id = ? AND stream_id = ? AND revision = ? AND %1$s = ?\
                """
                    .formatted(column(chain.isRead())),
                batch,
                nowMillis,
                nowMillis,
                attempt.status(),
                stream.orgId(),
                stream.streamId(),
                stream.revision(),
                batch - 1)));
  }

  /**
   * Schedules the next attempt. Fails with {@link ReceiverChangedException} if the stream was
   * changed, or another process sent the batch.
   */
  Future<Void> failed(TrailStream stream, Attempt attempt, long dueMillis, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                ReceiverChangedException::new,
                """
                UPDATE trail_stream SET tries = tries + 1,
                first_try_at = COALESCE(first_try_at, ?), last_try_at = ?, next_try_at = ?,
                status = ?, fault = ? WHERE org_id = ? AND stream_id = ? AND revision = ?
                AND writes_batch = ? AND COALESCE(reads_batch, -1) = ?\
                """,
                nowMillis,
                nowMillis,
                dueMillis,
                attempt.status(),
                attempt.fault(),
                stream.orgId(),
                stream.streamId(),
                stream.revision(),
                stream.progress().writesBatch(),
                readsBatch(stream))));
  }

  /**
   * Returns the statements that switch a stream off automatically; its position is kept. Fails with
   * {@link ReceiverChangedException}.
   */
  static List<Statement> switchOff(
      TrailStream stream, SwitchOffReason reason, Attempt attempt, long nowMillis) {
    return List.of(
        Statement.guarded(
            ReceiverChangedException::new,
            """
            UPDATE trail_stream SET disabled_at = ?, disabled_reason = ?, tries = tries + 1,
            first_try_at = COALESCE(first_try_at, ?), last_try_at = ?, status = ?, fault = ?,
            revision = revision + 1
            WHERE org_id = ? AND stream_id = ? AND revision = ? AND disabled_at IS NULL
            AND writes_batch = ? AND COALESCE(reads_batch, -1) = ?\
            """,
            nowMillis,
            reason.label(),
            nowMillis,
            nowMillis,
            attempt.status(),
            attempt.fault(),
            stream.orgId(),
            stream.streamId(),
            stream.revision(),
            stream.progress().writesBatch(),
            readsBatch(stream)),
        AuditStore.insert(
            new AuditRow(
                nowMillis,
                stream.orgId(),
                "system:trail-stream",
                "trail_stream_disable",
                stream.orgId(),
                "destination=%s reason=%s"
                    .formatted(MaskedUrl.of(stream.destination().text()), reason.label()))));
  }

  private static long readsBatch(TrailStream stream) {
    Long batch = stream.progress().readsBatch();
    return batch == null ? -1 : batch;
  }
}
