package dev.bourse.market;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether the rows of a pool's machines can be older than the events on them. A database
 * that was set back has lost grants, and its rows do not show which machines have a tenant that the
 * database does not know. So each grant is stored with the {@linkplain Database#lineage history} of
 * the database, and a grant of another history proves nothing.
 *
 * <p>The holder of the lease moves nodes into the next history if the database still has the
 * holder's newest commit, because then it lost nothing of the pool. Otherwise the commit that moves
 * them fails. Used on one context.
 */
final class Lineage {
  private static final Logger LOG = LoggerFactory.getLogger(Lineage.class);

  /** The lineage of nodes after commits were lost within one history. No history has this name. */
  private static final String DOUBTED = "doubted";

  private final Database database;
  private final NodeStore nodes;
  private final Lease lease;
  private final Runnable doubted;
  private String current = "";
  private long setBacks;
  private Future<Void> following = Future.succeededFuture();

  /**
   * @param doubted runs when commits may have been lost, so that the machines are asked again
   */
  Lineage(Database database, NodeStore nodes, Lease lease, Runnable doubted) {
    this.database = database;
    this.nodes = nodes;
    this.lease = lease;
    this.doubted = doubted;
  }

  /**
   * Reads the current history. Grants that an older release stored without a history count as part
   * of it.
   */
  Future<Void> start() {
    setBacks = database.setBacks();
    return database
        .lineage()
        .compose(
            now -> {
              current = now;
              return nodes.changeLineage(NodeStore.NO_LINEAGE, now, lease);
            });
  }

  /** Returns the history as last read, for grants. */
  String current() {
    return current;
  }

  /** Reads the current history; one read at a time. */
  Future<Void> follow() {
    following = following.transform(done -> readHistory());
    return following;
  }

  private Future<Void> readHistory() {
    return database
        .lineage()
        .compose(
            now -> {
              if (database.setBacks() != setBacks) {
                return doubt(now);
              }
              if (now.equals(current)) {
                return Future.succeededFuture();
              }
              String before = current;
              return nodes
                  .changeLineage(before, now, lease)
                  .compose(
                      carried -> {
                        if (database.setBacks() != setBacks) {
                          return doubt(now);
                        }
                        LOG.info(
                            "pool {}: the database continues with history {} after {} and lost no"
                                + " commit of this pool",
                            lease.pool(),
                            now,
                            before);
                        current = now;
                        return Future.succeededFuture();
                      });
            });
  }

  private Future<Void> doubt(String now) {
    long noticed = database.setBacks();
    return nodes
        .changeLineage(now, DOUBTED, lease)
        .onSuccess(
            stored -> {
              LOG.warn(
                  "pool {}: the database lost commits; machines of root tenants that do not report"
                      + " their allocation are quarantined instead of reimaged",
                  lease.pool());
              setBacks = noticed;
              current = now;
              doubted.run();
            });
  }

  /**
   * Returns true if the last grant of a node, or its reimage, belongs to the current history; false
   * if commits were lost during the read.
   */
  Future<Boolean> covers(String nodeId) {
    return follow()
        .compose(looked -> nodes.isOfLineage(nodeId, current))
        .map(isOfIt -> isOfIt && database.setBacks() == setBacks);
  }

  /** Stores that the row of a node is true in the current history. */
  Future<Void> cover(String nodeId) {
    return nodes.setLineage(nodeId, current, lease);
  }
}
