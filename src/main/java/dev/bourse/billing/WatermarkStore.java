package dev.bourse.billing;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Rows of watermarks, the ends of the last posted hours. There is a common one, and one for each
 * organization whose usage could not be posted as far, until it has caught up.
 */
final class WatermarkStore {
  /** The name of the common watermark. */
  static final String COMMON = "usage";

  private static final String OF_ORG = "org:";

  private static final String OWN = "SELECT name, through FROM billing_posted WHERE ";

  private final Database database;

  WatermarkStore(Database database) {
    this.database = database;
  }

  /**
   * The common watermark.
   *
   * @param throughMillis end of the last posted hour
   * @param advancedAtMillis when it was advanced; 0 if that is not known
   */
  record Common(long throughMillis, long advancedAtMillis) {}

  /** Returns the common watermark; empty before the first posting. */
  Future<Optional<Common>> find() {
    return database.readFirst(
        "SELECT through, advanced_at FROM billing_posted WHERE name = ?",
        List.of(COMMON),
        row ->
            new Common(
                row.integer("through"),
                Optional.ofNullable(row.integerOrNull("advanced_at")).orElse(0L)));
  }

  /**
   * An organization's own watermark.
   *
   * @param throughMillis end of its last posted hour
   */
  record Own(String orgId, long throughMillis) {}

  /** Returns the own watermarks of these organizations; organizations without one are absent. */
  Future<Map<String, Long>> list(List<String> orgs) {
    return orgs.isEmpty()
        ? Future.succeededFuture(Map.of())
        : database
            .read(
                "%sname IN (%s)"
                    .formatted(OWN, String.join(", ", Collections.nCopies(orgs.size(), "?"))),
                orgs.stream().map(OF_ORG::concat).toList(),
                WatermarkStore::own)
            .map(
                rows -> {
                  Map<String, Long> watermarks = new HashMap<>();
                  rows.forEach(row -> watermarks.put(row.orgId(), row.throughMillis()));
                  return watermarks;
                });
  }

  /** Lists organizations after this one, by id, whose own watermark is before the common one. */
  Future<List<Own>> listBehind(String after, long throughMillis, int limit) {
    return database.read(
        OWN + "name > ? AND name <> ? AND through < ? ORDER BY name LIMIT ?",
        List.of(OF_ORG + after, COMMON, throughMillis, limit),
        WatermarkStore::own);
  }

  private static Own own(Row row) {
    return new Own(row.text("name").substring(OF_ORG.length()), row.integer("through"));
  }

  /** Sets the common watermark for the first time. Fails with {@link ConcurrentUpdateException}. */
  Future<Void> begin(long fromMillis) {
    return database.commit(
        List.of(insert(COMMON, fromMillis).orElse(ConcurrentUpdateException::new)));
  }

  /**
   * Gives an organization whose next hour cannot be posted a watermark of its own, so that the
   * common one can advance. Fails with {@link ConcurrentUpdateException} if the common one has
   * advanced.
   *
   * @param throughMillis the common watermark, which is also the organization's
   */
  Future<Void> setAside(String orgId, long throughMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                ConcurrentUpdateException::new,
                "UPDATE billing_posted SET through = through WHERE name = ? AND through = ?",
                COMMON,
                throughMillis),
            insert(OF_ORG + orgId, throughMillis)));
  }

  private static Statement insert(String name, long throughMillis) {
    return Statement.of(
        "INSERT INTO billing_posted (name, through) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        name,
        throughMillis);
  }

  /** Advances an organization's own watermark, if it has one at this position. */
  static Statement move(String orgId, long fromMillis, long toMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE name = ? AND through = ?",
        toMillis,
        OF_ORG + orgId,
        fromMillis);
  }

  /** Moves every watermark that is past a moment back to it. */
  static Statement setBack(long throughMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE through > ?", throughMillis, throughMillis);
  }

  /** Records that the common watermark was advanced by confirmed time. */
  static Statement recordAdvanced(long nowMillis) {
    return Statement.of(
        "UPDATE billing_posted SET advanced_at = ? WHERE name = ?", nowMillis, COMMON);
  }

  /**
   * Advances the common watermark, and deletes those of organizations that have caught up. Both are
   * one commit, so that a concurrent advance cannot leave an organization behind. Fails with {@link
   * ConcurrentUpdateException} if another process has advanced it.
   */
  Future<Void> advance(long fromMillis, long toMillis, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                ConcurrentUpdateException::new,
                """
                UPDATE billing_posted SET through = ?, advanced_at = ?
                WHERE name = ? AND through = ?\
                """,
                toMillis,
                nowMillis,
                COMMON,
                fromMillis),
            Statement.of(
                "DELETE FROM billing_posted WHERE name <> ? AND through >= ?", COMMON, toMillis)));
  }
}
