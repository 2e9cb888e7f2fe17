package dev.bourse.market;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows whether what is stored of a pool's machines can be older than what happened on them. A
 * database that was set back has lost grants, and nobody can tell from its rows which machines have
 * a tenant that it does not know. So each grant is stored with the {@linkplain Database#lineage
 * history} of the database, and a grant of another history proves nothing.
 *
 * <p>The holder of the lease carries nodes over into the next history if the database still has the
 * holder's newest commit: nothing of the pool was lost then. The commit that does so fails
 * otherwise. Used on one context.
 */
final class Lineage {
  private static final Logger LOG = LoggerFactory.getLogger(Lineage.class);

  /** The lineage of nodes after commits were lost within one history; no history's name. */
  private static final String DOUBTED = "doubted";

  private final Database database;
  private final NodeStore nodes;
  private final Lease lease;
  private final Runnable doubted;
  private String current = "";
  private long setBacks;
  private Future<Void> following = Future.succeededFuture();

  /**
   * @param doubted runs when commits may have been lost, so that machines must be asked again
   */
  Lineage(Database database, NodeStore nodes, Lease lease, Runnable doubted) {
    this.database = database;
    this.nodes = nodes;
    this.lease = lease;
    this.doubted = doubted;
  }

  /** Takes the present history; grants that no release stored with one count as of it. */
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

  /** Returns the history as of the last look, for grants. */
  String current() {
    return current;
  }

  /** Looks which history it is; one look at a time. */
  Future<Void> follow() {
    following = following.transform(done -> look());
    return following;
  }

  private Future<Void> look() {
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
                            "pool {}: the database is of history {} after {} and lost nothing of"
                                + " this pool",
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
                  "pool {}: the database lost commits, so a machine of root tenants that cannot say"
                      + " what it holds is quarantined and not reimaged",
                  lease.pool());
              setBacks = noticed;
              current = now;
              doubted.run();
            });
  }

  /**
   * True if the last grant of a node, or its reimage, is of the present history; false as well if
   * commits were lost while that was read.
   */
  Future<Boolean> covers(String nodeId) {
    return follow()
        .compose(looked -> nodes.isOfLineage(nodeId, current))
        .map(isOfIt -> isOfIt && database.setBacks() == setBacks);
  }

  /** Stores that what is known of a node is true in the present history. */
  Future<Void> cover(String nodeId) {
    return nodes.setLineage(nodeId, current, lease);
  }
}
