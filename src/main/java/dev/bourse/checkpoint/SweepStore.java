package dev.bourse.checkpoint;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows of obsolete checkpoints, and of bytes that wait for deletion. */
public final class SweepStore {
  private final Database database;

  public SweepStore(Database database) {
    this.database = database;
  }

  /** Lists items of retired organizations. */
  Future<List<Checkpoint>> listOfRetired(int limit) {
    return items(
        "(SELECT * FROM checkpoint WHERE org_id IN (%s) LIMIT ?)"
            .formatted(CheckpointStore.RETIRED),
        List.of(limit));
  }

  /** Lists items whose draft is in this state and expired before a time. */
  Future<List<Checkpoint>> listOverdue(Revision.State state, long beforeMillis, int limit) {
    return items(
        """
        (SELECT i.* FROM checkpoint i JOIN checkpoint_revision d \
        ON d.item_id = i.item_id AND d.revision = i.draft_revision \
        WHERE d.state = ? AND d.expires_at <= ? ORDER BY d.expires_at, d.item_id LIMIT ?)\
        """,
        List.of(state.label(), beforeMillis, limit));
  }

  /**
   * Returns when the last of a number of drafts expires, in the order of their expiry; empty if
   * there are fewer.
   *
   * @param afterMillis skips drafts that expire at or before this time
   */
  Future<Optional<Long>> findPendingEnd(long afterMillis, int count) {
    return database.readFirst(
        """
        SELECT expires_at FROM checkpoint_revision WHERE state = ? AND expires_at > ? \
        ORDER BY expires_at LIMIT 1 OFFSET ?\
        """,
        List.of(Revision.State.PENDING.label(), afterMillis, count - 1),
        row -> row.integer("expires_at"));
  }

  /**
   * Lists items whose draft was announced by a publishing credential that has ended.
   *
   * @param afterMillis drafts that expire later than this
   * @param untilMillis and not later than this
   */
  Future<List<Checkpoint>> listRevoked(long afterMillis, long untilMillis, int limit) {
    return listDrafts(CheckpointRows.CREDENTIAL_ENDED, afterMillis, untilMillis, limit);
  }

  /**
   * Lists items whose member may no longer publish the draft.
   *
   * @param afterMillis drafts that expire later than this
   * @param untilMillis and not later than this
   */
  Future<List<Checkpoint>> listOffboarded(long afterMillis, long untilMillis, int limit) {
    return listDrafts("NOT " + CheckpointRows.MEMBER_MAY_PUBLISH, afterMillis, untilMillis, limit);
  }

  private Future<List<Checkpoint>> listDrafts(
      String condition, long afterMillis, long untilMillis, int limit) {
    return items(
        """
        (SELECT c.* FROM checkpoint_revision p JOIN checkpoint c \
        ON c.item_id = p.item_id AND c.draft_revision = p.revision \
        LEFT JOIN org o ON o.org_id = c.org_id \
        WHERE p.state = ? AND p.expires_at > ? AND p.expires_at <= ? AND %s LIMIT ?)\
        """
            .formatted(condition),
        List.of(Revision.State.PENDING.label(), afterMillis, untilMillis, limit));
  }

  /**
   * Bytes that wait for deletion.
   *
   * @param isBlob true for a blob, false for an upload
   * @param sinceMillis when they became obsolete
   */
  record Garbage(String name, boolean isBlob, long sinceMillis) {
    private String kind() {
      return isBlob ? "blob" : "upload";
    }
  }

  /**
   * Lists bytes that became obsolete before a time, oldest first.
   *
   * @param after the last of the previous page
   */
  Future<List<Garbage>> listGarbage(long beforeMillis, Optional<Garbage> after, int limit) {
    List<Object> parameters = new ArrayList<>(List.of(beforeMillis));
    after.ifPresent(
        last -> Collections.addAll(parameters, last.sinceMillis(), last.name(), last.kind()));
    parameters.add(limit);
    return database.read(
        """
        SELECT name, kind, since FROM checkpoint_garbage WHERE since <= ? %s
        ORDER BY since, name, kind LIMIT ?\
        """
            .formatted(after.isPresent() ? "AND (since, name, kind) > (?, ?, ?)" : ""),
        parameters,
        row ->
            new Garbage(row.text("name"), row.text("kind").equals("blob"), row.integer("since")));
  }

  /** Deletes the rows of deleted bytes. */
  Future<Void> forget(List<Garbage> deleted) {
    return database.commit(
        deleted.stream()
            .map(
                garbage ->
                    Statement.of(
                        "DELETE FROM checkpoint_garbage WHERE name = ? AND kind = ?",
                        garbage.name(),
                        garbage.kind()))
            .toList());
  }

  /** Returns the given items by id; items that do not exist are absent. */
  Future<Map<String, Checkpoint>> findAll(List<String> itemIds) {
    if (itemIds.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    String marks = String.join(", ", Collections.nCopies(itemIds.size(), "?"));
    return items("(SELECT * FROM checkpoint WHERE item_id IN (%s))".formatted(marks), itemIds)
        .map(
            found -> {
              Map<String, Checkpoint> byId = new LinkedHashMap<>();
              found.forEach(item -> byId.put(item.id(), item));
              return byId;
            });
  }

  private Future<List<Checkpoint>> items(String from, List<?> parameters) {
    return CheckpointRows.read(database, CheckpointRows.select(from), parameters)
        .map(found -> found.stream().map(CheckpointStore.Listed::item).toList());
  }
}
