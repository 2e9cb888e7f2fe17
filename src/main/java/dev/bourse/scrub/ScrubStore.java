package dev.bourse.scrub;

import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.walk.BlobClaims;
import dev.bourse.walk.ClaimLostException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rows of the scrub: its mark, the claims on blobs, and the faults. */
public final class ScrubStore {
  private static final String NAME = "all";

  /** Condition that the blob of the fault {@code s} is a file of a set. */
  private static final String IS_OF_FILES =
      "EXISTS (SELECT 1 FROM checkpoint_blob b WHERE b.blob_key = s.blob_key)";

  /** Condition that the fault {@code s} is of the blob of the revision {@code r} itself. */
  private static final String IS_OF_REVISION =
      "s.blob_key = r.item_id || '.' || r.revision || '.' || r.sha256";

  /**
   * A column of a set that has the blob of the fault {@code s} now. Sets share files, and a fault
   * outlives the set under which it was recorded, which is preferred while it exists. Null for a
   * blob that is not a file of a set.
   */
  private static final String REFERRER =
      """
      (SELECT f.%s FROM checkpoint_file f WHERE f.blob_key = s.blob_key \
      ORDER BY f.item_id <> s.item_id, f.item_id, f.revision <> s.revision, f.revision DESC \
      LIMIT 1)\
      """;

  private final Database database;
  private final BlobClaims claims;

  public ScrubStore(Database database) {
    this.database = database;
    this.claims = new BlobClaims(database, "scrub_claim");
  }

  BlobClaims claims() {
    return claims;
  }

  /**
   * The position of the scrub.
   *
   * @param position the key of the last blob that was started; empty at the start of a round
   * @param round the number of the round, from 1
   * @param checkedBlobs blobs checked in this round
   */
  record Mark(
      String position,
      int round,
      long roundSinceMillis,
      ReadThrottle pace,
      long checkedBlobs,
      long checkedBytes,
      long version) {}

  /** A fault of an item, as operators see it. */
  public record Found(
      String key,
      String item,
      String orgId,
      int revision,
      String fileName,
      BlobFault fault,
      long foundAtMillis,
      long checkedAtMillis) {}

  Future<Optional<Mark>> findMark() {
    return database.readFirst(
        "SELECT * FROM scrub_mark WHERE name = ?", List.of(NAME), ScrubStore::mark);
  }

  private static Mark mark(Row row) {
    return new Mark(
        row.text("position"),
        row.smallInteger("round"),
        row.integer("round_since"),
        new ReadThrottle(row.integer("paced_from"), row.integer("paced_bytes")),
        row.integer("checked_blobs"),
        row.integer("checked_bytes"),
        row.integer("version"));
  }

  /** Starts the first round, unless it has started. */
  Future<Void> begin(long nowMillis) {
    return database.commit(
        List.of(
            Statement.of(
                """
                INSERT INTO scrub_mark (name, position, round, round_since, paced_from, \
                paced_bytes, checked_blobs, checked_bytes, version) \
                VALUES (?, '', 1, ?, ?, 0, 0, 0, 1) ON CONFLICT (name) DO NOTHING\
                """,
                NAME,
                nowMillis,
                nowMillis)));
  }

  /** Starts the next round. */
  Future<Void> beginRound(Mark mark, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                ClaimLostException::new,
                """
                UPDATE scrub_mark SET position = '', round = round + 1, round_since = ?, \
                checked_blobs = 0, checked_bytes = 0, version = version + 1 \
                WHERE name = ? AND version = ?\
                """,
                nowMillis,
                NAME,
                mark.version())));
  }

  /** Advances the mark, unless another process did. */
  Statement advance(Mark mark, String key, ReadThrottle pace) {
    return Statement.guarded(
        ClaimLostException::new,
        """
        UPDATE scrub_mark SET position = ?, paced_from = ?, paced_bytes = ?, \
        version = version + 1 WHERE name = ? AND version = ?\
        """,
        key,
        pace.fromMillis(),
        pace.bytes(),
        NAME,
        mark.version());
  }

  /**
   * Finds the oldest expired claim whose blob was not seen missing from this folder within a day.
   *
   * @param folder empty if all processes see the same blobs
   */
  Future<Optional<BlobClaims.Claim>> findExpired(String folder, long nowMillis) {
    return database.readFirst(
        """
        SELECT blob_key, told_at, attempts FROM scrub_claim \
        WHERE (told_at <= ? OR told_at > ?) \
        AND NOT EXISTS (SELECT 1 FROM scrub_absence a WHERE a.blob_key = scrub_claim.blob_key \
        AND a.folder = ? AND a.seen_at > ? AND a.seen_at < ?) \
        ORDER BY told_at, blob_key LIMIT 1\
        """,
        List.of(
            nowMillis - BlobClaims.EXPIRY_MILLIS,
            nowMillis + BlobClaims.EXPIRY_MILLIS,
            folder,
            nowMillis - FolderRegistry.GONE_MILLIS,
            nowMillis + FolderRegistry.GONE_MILLIS),
        BlobClaims.Claim::of);
  }

  /** Schedules these blobs next; claims that exist are unchanged. */
  Future<Void> ask(List<String> keys) {
    return database.commit(
        keys.stream()
            .map(
                key ->
                    Statement.of(
                        """
                        INSERT INTO scrub_claim (blob_key, told_at, attempts) VALUES (?, 0, 0) \
                        ON CONFLICT (blob_key) DO NOTHING\
                        """,
                        key))
            .toList());
  }

  /**
   * Stores the result of a check. A fault of a blob that is no longer read is not stored. Fails
   * with {@link ClaimLostException} if another process has the claim.
   */
  Future<Void> settle(
      BlobClaims.Claim claim, StoredBlobs.Blob blob, Optional<BlobFault> result, long nowMillis) {
    List<Statement> statements = new ArrayList<>();
    statements.add(claims.ended(claim));
    statements.add(Statement.of("DELETE FROM scrub_absence WHERE blob_key = ?", claim.key()));
    statements.add(
        Statement.of(
            """
            UPDATE scrub_mark SET checked_blobs = checked_blobs + 1, \
            checked_bytes = checked_bytes + ? WHERE name = ?\
            """,
            blob.bytes(),
            NAME));
    statements.add(
        result
            .map(fault -> insertion(blob, fault, nowMillis))
            .orElseGet(
                () -> Statement.of("DELETE FROM scrub_fault WHERE blob_key = ?", blob.key())));
    return database.commit(statements);
  }

  private static Statement insertion(StoredBlobs.Blob blob, BlobFault fault, long nowMillis) {
    return Statement.of(
        """
        INSERT INTO scrub_fault (blob_key, item_id, revision, kind, detail, found_at, \
        checked_at) SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS INTEGER), \
        CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT) \
        WHERE EXISTS (SELECT 1 FROM checkpoint_revision r \
        WHERE r.item_id = ? AND r.revision = ? AND r.sha256 = ?) \
        OR EXISTS (SELECT 1 FROM checkpoint_blob b WHERE b.blob_key = ?) \
        ON CONFLICT (blob_key) DO UPDATE SET kind = excluded.kind, detail = excluded.detail, \
        checked_at = excluded.checked_at\
        """,
        blob.key(),
        blob.item(),
        blob.revision(),
        fault.kind().label(),
        fault.detail(),
        nowMillis,
        nowMillis,
        blob.item(),
        blob.revision(),
        blob.sha256(),
        blob.key());
  }

  /** Deletes the faults of blobs that are no longer read. */
  Future<Void> forgetUseless() {
    return database.commit(
        List.of(
            Statement.of(
                """
                DELETE FROM scrub_fault AS s \
                WHERE NOT EXISTS (SELECT 1 FROM checkpoint_revision r \
                WHERE r.item_id = s.item_id AND r.revision = s.revision AND %s) AND NOT %s\
                """
                    .formatted(IS_OF_REVISION, IS_OF_FILES))));
  }

  /** Returns true if a fault of the blob is known. */
  Future<Boolean> hasFault(String key) {
    return database.exists("SELECT 1 FROM scrub_fault WHERE blob_key = ?", List.of(key));
  }

  /** Counts known faults. */
  Future<Long> countFaults() {
    return database.readOne(
        "SELECT COUNT(*) AS n FROM scrub_fault", List.of(), row -> row.integer("n"));
  }

  /** Counts blobs that are being checked or come next. */
  Future<Long> countClaims() {
    return database.readOne(
        "SELECT COUNT(*) AS n FROM scrub_claim", List.of(), row -> row.integer("n"));
  }

  /**
   * Lists faults of existing items, in the order of their keys.
   *
   * @param after the key after which they begin; empty to start
   */
  Future<List<Found>> listFaults(String after, int limit) {
    return database.read(
        """
        SELECT s.blob_key, s.kind, s.detail, s.found_at, s.checked_at, \
        c.org_id, r.item_id, r.revision, r.filename FROM scrub_fault s \
        JOIN checkpoint_revision r ON r.item_id = COALESCE(%s, s.item_id) \
        AND r.revision = COALESCE(%s, s.revision) AND (%s OR %s) \
        JOIN checkpoint c ON c.item_id = r.item_id \
        WHERE s.blob_key > ? ORDER BY s.blob_key LIMIT ?\
        """
            .formatted(
                REFERRER.formatted("item_id"),
                REFERRER.formatted("revision"),
                IS_OF_REVISION,
                IS_OF_FILES),
        List.of(after, limit),
        row ->
            new Found(
                row.text("blob_key"),
                row.text("item_id"),
                row.text("org_id"),
                row.smallInteger("revision"),
                row.text("filename"),
                new BlobFault(BlobFault.Kind.of(row.text("kind")), row.text("detail")),
                row.integer("found_at"),
                row.integer("checked_at")));
  }
}
