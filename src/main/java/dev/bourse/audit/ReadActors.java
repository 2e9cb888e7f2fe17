package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * SQL of where an actor's reads may be: in which stretches of ids of a trail. Known of what is
 * sealed. Without it a page of one actor would look through all segments between two of its reads.
 */
final class ReadActors {
  /**
   * Ids of a stretch, 65,536: few enough to look through the segments of one, and so many that an
   * actor of thousands has a row for a dozen of its reads.
   */
  private static final int STRETCH_BITS = 16;

  /** Stretches of one query; a page takes from each of them an entry at least, as a rule. */
  private static final int PER_READ = 32;

  private static final int ROWS_PER_INSERT = 64;

  private static final String INSERT =
      "INSERT INTO audit_read_actor (org_id, actor, stretch) VALUES (?, ?, ?)";

  private static final String INSERT_MANY = INSERT + ", (?, ?, ?)".repeat(ROWS_PER_INSERT - 1);
  private static final String UNLESS_THERE = " ON CONFLICT DO NOTHING";

  /** That an actor has reads of a trail in a stretch. */
  record Presence(String orgId, String actor, long stretch) {
    static Presence of(RecordedRow read) {
      return new Presence(read.orgId(), read.actor(), read.id() >> STRETCH_BITS);
    }
  }

  /** A stretch by its ids: the first, and the one behind the last. */
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

  /** Forgets the stretches of a trail that end at an id or below it. */
  static Statement forget(String orgId, long throughId) {
    return Statement.of(
        "DELETE FROM audit_read_actor WHERE org_id = ? AND stretch < ?",
        orgId,
        (throughId + 1) >> STRETCH_BITS);
  }

  /** The next stretches with ids below one in which an actor may have reads, the last first. */
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
