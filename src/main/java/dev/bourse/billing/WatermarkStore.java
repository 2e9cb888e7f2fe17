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
 * Rows of watermarks: up to which hour usage is posted. There is a common one, and one of its own
 * for each organization whose usage could not be posted as far, until it has come as far again.
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
   * @param throughMillis up to when usage is posted
   * @param advancedAtMillis when it was moved there, as far as that is known; else 0
   */
  record Common(long throughMillis, long advancedAtMillis) {}

  /** The common watermark; empty before the first posting. */
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
   * The watermark of an organization that has its own.
   *
   * @param throughMillis up to when its usage is posted
   */
  record Own(String orgId, long throughMillis) {}

  /** The watermarks of those of these organizations that have their own. */
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

  /** Organizations after this one, by id, whose own watermark is before the common one. */
  Future<List<Own>> listBehind(String after, long throughMillis, int limit) {
    return database.read(
        OWN + "name > ? AND name <> ? AND through < ? ORDER BY name LIMIT ?",
        List.of(OF_ORG + after, COMMON, throughMillis, limit),
        WatermarkStore::own);
  }

  private static Own own(Row row) {
    return new Own(row.text("name").substring(OF_ORG.length()), row.integer("through"));
  }

  /** Sets the common watermark for the first time. Fails with {@link Overtaken}. */
  Future<Void> begin(long fromMillis) {
    return database.commit(List.of(insert(COMMON, fromMillis).orElse(Overtaken::new)));
  }

  /**
   * Gives an organization whose next hour cannot be posted a watermark of its own, so that the
   * common one can go on. Fails with {@link Overtaken} when that has gone on meanwhile.
   *
   * @param throughMillis the common watermark, which is the organization's
   */
  Future<Void> setAside(String orgId, long throughMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                Overtaken::new,
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

  /** Moves an organization's own watermark, if it has one that stands there. */
  static Statement move(String orgId, long fromMillis, long toMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE name = ? AND through = ?",
        toMillis,
        OF_ORG + orgId,
        fromMillis);
  }

  /** Moves every watermark that is beyond a moment back to it. */
  static Statement setBack(long throughMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE through > ?", throughMillis, throughMillis);
  }

  /** Notes that the common watermark was moved by a clock that was right. */
  static Statement advancedAt(long nowMillis) {
    return Statement.of(
        "UPDATE billing_posted SET advanced_at = ? WHERE name = ?", nowMillis, COMMON);
  }

  /**
   * Moves the common watermark, and takes away those of organizations that have come as far: in
   * this commit alone, so that no process which is about to move it can have left one of them out.
   * Fails with {@link Overtaken} when another process has moved it first.
   */
  Future<Void> advance(long fromMillis, long toMillis, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                Overtaken::new,
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
