package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * SQL of the index from actors to their reads: the stretches of ids of a trail in which an actor
 * has reads. It covers sealed reads. Without it, a page of one actor would search all segments
 * between two of its reads.
 */
final class ReadActors {
  /**
   * The bits of a stretch of 65,536 ids: few enough to search the segments of one stretch, and
   * enough that one row covers about a dozen reads of one of thousands of actors.
   */
  private static final int STRETCH_BITS = 16;

  /** Stretches of one query; usually each of them contributes at least one entry to a page. */
  private static final int PER_READ = 32;

  private static final int ROWS_PER_INSERT = 64;

  private static final String INSERT =
      "INSERT INTO audit_read_actor (org_id, actor, stretch) VALUES (?, ?, ?)";

  private static final String INSERT_MANY = INSERT + ", (?, ?, ?)".repeat(ROWS_PER_INSERT - 1);
  private static final String UNLESS_THERE = " ON CONFLICT DO NOTHING";

  /** States that an actor has reads of a trail in a stretch. */
  record Presence(String orgId, String actor, long stretch) {
    static Presence of(RecordedRow read) {
      return new Presence(read.orgId(), read.actor(), read.id() >> STRETCH_BITS);
    }
  }

  /** A stretch by its ids: the first, and the one after the last. */
  record Stretch(long firstId, long endId) {}

  private final Database database;

  ReadActors(Database database) {
    this.database = database;
  }

  static List<Statement> insert(Collection<Presence> presences) {
    List<Presence> all = List.copyOf(presences);
    List<Statement> statements = new ArrayList<>();
    int at = 0;
    for (; at + ROWS_PER_INSERT <= all.size(); at += ROWS_PER_INSERT) {
      statements.add(insert(INSERT_MANY, all.subList(at, at + ROWS_PER_INSERT)));
    }
    for (; at < all.size(); at++) {
      statements.add(insert(INSERT, all.subList(at, at + 1)));
    }
    return statements;
  }

  private static Statement insert(String sql, List<Presence> presences) {
    Object[] values =
        presences.stream()
            .<Object>mapMulti(
                (one, to) -> {
                  to.accept(one.orgId);
                  to.accept(one.actor);
                  to.accept(one.stretch);
                })
            .toArray();
    return Statement.of(sql + UNLESS_THERE, values);
  }

  /** Deletes the stretches of a trail that end at or below an id. */
  static Statement forget(String orgId, long throughId) {
    return Statement.of(
        "DELETE FROM audit_read_actor WHERE org_id = ? AND stretch < ?",
        orgId,
        (throughId + 1) >> STRETCH_BITS);
  }

  /** Returns the next stretches below an id in which an actor may have reads, highest first. */
  Future<List<Stretch>> listBelow(String orgId, String actor, long belowId) {
    return database.read(
        """
        SELECT stretch FROM audit_read_actor WHERE org_id = ? AND actor = ? AND stretch <= ? \
        ORDER BY stretch DESC LIMIT ?\
        """,
        List.of(orgId, actor, (belowId - 1) >> STRETCH_BITS, PER_READ),
        row -> {
          long stretch = row.integer("stretch");
          return new Stretch(stretch << STRETCH_BITS, (stretch + 1) << STRETCH_BITS);
        });
  }
}
