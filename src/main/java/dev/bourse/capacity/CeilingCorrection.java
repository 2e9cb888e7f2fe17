package dev.bourse.capacity;

import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/**
 * Deletes change points of ceilings whose time is in the future. The ceiling in force of such a
 * cluster gets a change point at the present. The cluster's owner has corrected the cluster before.
 */
public final class CeilingCorrection implements Correction {
  private final Database database;

  public CeilingCorrection(Database database) {
    this.database = database;
  }

  @Override
  public String table() {
    return "ceiling_point";
  }

  @Override
  public boolean readsWholeTable() {
    return true;
  }

  @Override
  public Future<Boolean> correct(long nowMillis) {
    long latest = nowMillis + APART_MILLIS;
    return database
        .readOne(
            """
            SELECT COUNT(*) AS ahead FROM
            (SELECT 1 FROM ceiling_point WHERE ts > ? LIMIT 1) AS found\
            """,
            List.of(latest),
            row -> row.integer("ahead") > 0)
        .compose(
            found ->
                found
                    ? database
                        .commit(
                            List.of(
                                Statement.of(
                                    """
                                    INSERT INTO ceiling_point (cluster, ts, ceiling_cents, priced_at)
                                    SELECT name, CAST(? AS BIGINT), gate_cents,
                                    COALESCE(gate_priced_at, CAST(? AS BIGINT)) FROM cluster
                                    WHERE gate_cents IS NOT NULL AND name IN
                                    (SELECT cluster FROM ceiling_point WHERE ts > ?)
                                    ON CONFLICT (cluster, ts) DO NOTHING\
                                    """,
                                    nowMillis,
                                    nowMillis,
                                    latest),
                                Statement.of("DELETE FROM ceiling_point WHERE ts > ?", latest)))
                        .map(true)
                    : Future.succeededFuture(false));
  }
}
