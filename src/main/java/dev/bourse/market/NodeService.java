package dev.bourse.market;

import dev.bourse.access.Operator;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.Trails;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.IpAddress;
import dev.bourse.core.Page;
import dev.bourse.nodes.BaselineReview;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.NodeFailureException;
import dev.bourse.nodes.NodeProvider;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.pools.Pool;
import dev.bourse.sshkeys.SshPublicKey;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out operators' requests about machines. A pool's market applies a change before its next
 * tick.
 *
 * <p>Requests for nodes at another site than the operator's own fail with {@code forbidden}. A
 * pool's site never changes, but a retired node can be added to another pool. So the service checks
 * the site of the node that a change read, and changes that node only in that pool.
 */
public final class NodeService {
  private static final Logger LOG = LoggerFactory.getLogger(NodeService.class);

  private static final String SIMULATED = "simulated";

  /** Addresses checked in one query when the service chooses one. */
  private static final int ADDRESS_WINDOW = 256;

  /** Attempts to choose an address before the request fails because others took it first. */
  private static final int ADDRESS_TRIES = 4;

  /** Handovers in one answer, which cover a machine's last months. */
  private static final int HANDOVERS = 100;

  private final NodeStore nodes;
  private final Clusters clusters;
  private final MarketService market;
  private final Clock clock;

  public NodeService(Database database, Clusters clusters, MarketService market, Clock clock) {
    this.nodes = new NodeStore(database);
    this.clusters = clusters;
    this.market = market;
    this.clock = clock;
  }

  /**
   * Returns one page of a pool's nodes, by id. Fails with {@code not-found}.
   *
   * @param retired true for the retired nodes, false for all others
   */
  public Future<Page<NodeView>> listNodes(
      Operator operator, String pool, String after, boolean retired, int limit) {
    requirePool(operator, pool);
    return nodes
        .list(pool, after, retired, limit + 1)
        .map(found -> Page.of(found.stream().map(this::view).toList(), limit));
  }

  /**
   * Returns one page of the matching nodes of all pools, by id. An operator of one site sees the
   * nodes of that site.
   */
  public Future<Page<NodeView>> findNodes(
      Operator operator, NodeStore.Sought sought, String after, int limit) {
    sought
        .pool()
        .flatMap(clusters::findPool)
        .ifPresent(pool -> operator.requireSite(shown(pool), pool.site()));
    sought.site().ifPresent(site -> operator.requireSite("what is looked for", site));
    return nodes
        .find(sought.at(operator.site()), after, limit + 1, clock.millis())
        .map(found -> Page.of(found.stream().map(this::view).toList(), limit));
  }

  /** Returns one node. Fails with {@code not-found}. */
  public Future<NodeView> readNode(Operator operator, String nodeId) {
    return get(operator, nodeId).map(this::view);
  }

  /** Returns one stored node. Fails with {@code not-found}. */
  Future<NodeStore.StoredNode> get(Operator operator, String nodeId) {
    return nodes
        .get(nodeId)
        .map(
            stored -> {
              requireAtSite(operator, nodeId, stored);
              return stored;
            });
  }

  private void requireAtSite(Operator operator, String nodeId, NodeStore.StoredNode stored) {
    if (operator.site() != null) {
      operator.requireSite("node " + nodeId, requirePool(stored.pool()).site());
    }
  }

  private NodeView view(NodeStore.StoredNode stored) {
    return new NodeView(stored, clock.millis());
  }

  /**
   * A machine to add.
   *
   * @param nodeId its name among operators
   * @param publicIp the address for tenants; empty to choose one for a simulated machine
   * @param sshPort the port of its ssh server; empty for the pool's
   * @param hostKey its ssh host key as a public key line; empty for a simulated machine
   */
  public record Added(
      String nodeId,
      Optional<String> publicIp,
      Optional<Integer> sshPort,
      Optional<String> hostKey) {}

  /**
   * Adds a machine to a pool. It can be granted from the next tick on, or after it is cleaned if it
   * still has the mark of an allocation.
   *
   * <p>Fails with {@code not-found} for a pool that does not exist, with {@code bad-request} for a
   * host key or an address that is missing, not expected or malformed, and with {@code conflict} if
   * another node that is not retired, in any pool, has the id or the address. An operator of one
   * site cannot reuse the id of a node retired at another.
   *
   * @param operator the requesting operator
   */
  public Future<NodeView> addNode(Operator operator, String poolName, Added added) {
    Pool pool = requirePool(operator, poolName);
    boolean isSimulated = pool.provider().equals(SIMULATED);
    String hostKey = hostKey(added.hostKey(), pool);
    Optional<String> address = added.publicIp().map(NodeService::requireAddress);
    if (address.isEmpty() && !isSimulated) {
      throw ApiException.badField("public_ip", null, "the address tenants reach the machine at");
    }
    int sshPort = added.sshPort().orElse(pool.environment().sshPort());
    Function<String, Future<Void>> at =
        ip -> create(operator, poolName, new Machine(added.nodeId(), ip, sshPort, hostKey));
    return requireOwnId(operator, added.nodeId())
        .compose(
            own ->
                address
                    .map(ip -> at.apply(ip).recover(e -> refuse(e, added.nodeId(), ip)))
                    .orElseGet(() -> createAtFreeAddress(added.nodeId(), at, ADDRESS_TRIES)))
        .compose(created -> changed(operator, poolName, added.nodeId()));
  }

  /** Rejects an id that a node at another site has, or had before it was retired. */
  private Future<Void> requireOwnId(Operator operator, String nodeId) {
    if (operator.site() == null) {
      return Future.succeededFuture();
    }
    return nodes
        .find(nodeId)
        .map(
            found -> {
              found.ifPresent(stored -> requireAtSite(operator, nodeId, stored));
              return null;
            });
  }

  private Future<Void> createAtFreeAddress(
      String nodeId, Function<String, Future<Void>> create, int triesLeft) {
    return nodes
        .count(SIMULATED)
        .compose(count -> findFreeAddress(count % SimulatedNodes.ADDRESSES, 0))
        .compose(
            ip ->
                create
                    .apply(ip)
                    .recover(
                        e ->
                            e instanceof NodeStore.NodeTakenException && triesLeft > 1
                                ? requireFreeId(nodeId)
                                    .compose(
                                        free -> createAtFreeAddress(nodeId, create, triesLeft - 1))
                                : refuse(e, nodeId, ip)));
  }

  /** Stores a new node, or replaces a retired node of the same id. */
  private Future<Void> create(Operator operator, String pool, Machine machine) {
    String ip = machine.publicIp();
    AuditRow row =
        audit(
            operator.actor(),
            "node_add",
            machine.nodeId(),
            "pool=%s public_ip=%s ssh_port=%d".formatted(pool, ip, machine.sshPort()));
    return nodes
        .create(pool, machine, row)
        .recover(
            e ->
                e instanceof NodeStore.NodeTakenException
                    ? nodes
                        .recreate(pool, machine, operator.site(), row)
                        .recover(failed -> explain(failed, ip))
                    : Future.failedFuture(e));
  }

  /**
   * Maps a violated index of two concurrent requests, which each database engine reports
   * differently.
   */
  private Future<Void> explain(Throwable e, String ip) {
    return e instanceof NodeStore.NodeTakenException
        ? Future.failedFuture(e)
        : nodes
            .findAt(ip)
            .compose(at -> at.isPresent() ? refuseAddress(ip) : Future.failedFuture(e));
  }

  /** Fails with the error that names the taken id or address. */
  private Future<Void> refuse(Throwable e, String nodeId, String ip) {
    return e instanceof NodeStore.NodeTakenException
        ? requireFreeId(nodeId).compose(free -> refuseAddress(ip))
        : Future.failedFuture(e);
  }

  private Future<Void> requireFreeId(String nodeId) {
    return nodes
        .find(nodeId)
        .map(
            found -> {
              found
                  .filter(node -> node.retiredAtMillis() == null)
                  .ifPresent(
                      node -> {
                        throw exists(
                            "there is a node '%s' in pool %s".formatted(nodeId, node.pool()));
                      });
              return null;
            });
  }

  private Future<Void> refuseAddress(String ip) {
    return nodes
        .findAt(ip)
        .map(
            found -> {
              throw exists(
                  "public_ip %s is that of node %s".formatted(ip, found.orElse("another")));
            });
  }

  private static ApiException exists(String detail) {
    return ApiException.of(ErrorCode.CONFLICT, detail).with("reason", "exists");
  }

  /**
   * Finds the first free simulated address from an index on, and wraps around at the end of the
   * network. The existing machines usually have the first addresses, so a search from their number
   * on usually ends at the first query.
   */
  private Future<String> findFreeAddress(int from, int checked) {
    if (checked >= SimulatedNodes.ADDRESSES) {
      return Future.failedFuture(
          ApiException.of(ErrorCode.CONFLICT, "every address of simulated machines is taken")
              .with("reason", "limit"));
    }
    List<String> window = new ArrayList<>(ADDRESS_WINDOW);
    for (int i = 0; i < ADDRESS_WINDOW; i++) {
      window.add(SimulatedNodes.address((from + i) % SimulatedNodes.ADDRESSES));
    }
    return nodes
        .listTaken(window)
        .compose(
            list -> {
              Set<String> taken = new HashSet<>(list);
              return window.stream()
                  .filter(address -> !taken.contains(address))
                  .findFirst()
                  .map(Future::succeededFuture)
                  .orElseGet(
                      () ->
                          findFreeAddress(
                              (from + ADDRESS_WINDOW) % SimulatedNodes.ADDRESSES,
                              checked + ADDRESS_WINDOW));
            });
  }

  private static @Nullable String hostKey(Optional<String> line, Pool pool) {
    boolean isSimulated = pool.provider().equals(SIMULATED);
    if (isSimulated != line.isEmpty()) {
      throw ApiException.badField(
          "host_key",
          line.orElse(null),
          isSimulated
              ? "none: the machines of pool " + pool.name() + " are simulated"
              : "the machine's ssh host key, 'type base64' as ssh-keyscan prints it");
    }
    try {
      return line.map(SshPublicKey::parse)
          .map(key -> key.type() + ' ' + key.blobBase64())
          .orElse(null);
    } catch (ApiException refused) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "host_key: expected 'type base64' as ssh-keyscan prints it, without the address; %s",
          refused.detail());
    }
  }

  private static String requireAddress(String text) {
    return IpAddress.canonical(text)
        .orElseThrow(() -> ApiException.badField("public_ip", text, "an IPv4 or IPv6 address"));
  }

  /**
   * Cordons a node, or ends its cordon. An allocation that holds the node keeps it.
   *
   * @param operator the requesting operator
   */
  public Future<NodeView> cordonNode(Operator operator, String nodeId, boolean cordoned) {
    AuditRow row = audit(operator.actor(), "node_update", nodeId, "cordoned=" + cordoned);
    return change(operator, nodeId, node -> nodes.cordon(node.pool(), nodeId, cordoned, row));
  }

  /**
   * Ends a node's quarantine or backoff and resets its failures.
   *
   * @param operator the requesting operator
   */
  public Future<NodeView> releaseNode(Operator operator, String nodeId) {
    return change(
            operator,
            nodeId,
            node ->
                nodes.release(
                    node.pool(),
                    nodeId,
                    audit(operator.actor(), "node_release", nodeId, "failures=" + node.failures())))
        .onSuccess(released -> LOG.info("node {} released from quarantine and backoff", nodeId));
  }

  /**
   * Makes the process that runs the pool's market retry the waiting work on a machine (cleaning or
   * preparing it) at once, and ends its backoff. A machine that waits because the store does not
   * know the allocation it is marked for is wiped. A quarantine stays until the machine is clean or
   * released.
   *
   * @param operator the requesting operator
   */
  public Future<NodeView> retryNode(Operator operator, String nodeId) {
    return change(
        operator,
        nodeId,
        node ->
            nodes.retry(
                node.pool(),
                nodeId,
                audit(operator.actor(), "node_retry", nodeId, "failures=" + node.failures())));
  }

  /**
   * Pins another host key for a machine. The market asks the machine again which allocation it
   * holds, and prepares it again for its holder if it lost the mark. Nothing changes if the machine
   * already has this key.
   *
   * @param operator the requesting operator
   * @param line the key as ssh-keyscan prints it, without the address
   */
  public Future<NodeView> replaceHostKey(Operator operator, String nodeId, String line) {
    return change(
        operator,
        nodeId,
        node -> {
          String key = hostKey(Optional.of(line), requirePool(node.pool()));
          if (key == null || key.equals(node.hostKey())) {
            return Future.succeededFuture();
          }
          String detail =
              "host_key=%s was=%s".formatted(fingerprint(key), fingerprint(node.hostKey()));
          return nodes.replaceHostKey(
              node.pool(), nodeId, key, audit(operator.actor(), "node_host_key", nodeId, detail));
        });
  }

  /** Returns the latest handovers of a node, newest first. Fails with {@code not-found}. */
  public Future<List<JsonObject>> listHandovers(Operator operator, String nodeId) {
    return get(operator, nodeId)
        .compose(stored -> nodes.listHandovers(nodeId, "", HANDOVERS))
        .map(list -> list.stream().map(Handover::forOperators).toList());
  }

  /**
   * Compares the files of root on a machine with the accepted baseline, and accepts the new state
   * if a digest is given. Fails with {@code conflict} if the machine cannot be asked, or has
   * another digest now.
   */
  public Future<JsonObject> rebaselineNode(
      Operator operator, String nodeId, Optional<String> digest) {
    return readNode(operator, nodeId)
        .compose(
            node -> {
              if (node.isRetired()) {
                throw NodeStore.isRetired(nodeId);
              }
              NodeProvider provider =
                  market
                      .provider(requirePool(node.pool()))
                      .orElseThrow(
                          () ->
                              conflict(
                                  "unreachable",
                                  "this process has no provider for the machines of this pool"));
              return provider
                  .reviewBaseline(node.machine())
                  .compose(
                      review ->
                          digest
                              .map(accepted -> accept(operator, provider, node, review, accepted))
                              .orElse(Future.succeededFuture(toJson(nodeId, review, false))))
                  .recover(e -> Future.failedFuture(asRefusal(e)));
            });
  }

  private Future<JsonObject> accept(
      Operator operator,
      NodeProvider provider,
      NodeView node,
      BaselineReview review,
      String digest) {
    String nodeId = node.machine().nodeId();
    if (!digest.equals(review.digest())) {
      throw conflict("changed", "the machine's list has digest " + review.digest() + " now");
    }
    String detail = "baseline=%s was=%s".formatted(digest, node.machine().baseline());
    return provider
        .acceptBaseline(node.machine(), digest)
        .compose(
            accepted ->
                nodes.acceptBaseline(
                    node.pool(),
                    nodeId,
                    digest,
                    audit(operator.actor(), "node_rebaseline", nodeId, detail)))
        .map(
            stored -> {
              market.nodesChanged(node.pool());
              return toJson(nodeId, review, true);
            });
  }

  private static JsonObject toJson(String nodeId, BaselineReview review, boolean isAccepted) {
    return new JsonObject()
        .put("node_id", nodeId)
        .put("digest", review.digest())
        .put("changes", new JsonArray(review.changes()))
        .put("accepted", isAccepted);
  }

  private static Throwable asRefusal(Throwable e) {
    return e instanceof NodeFailureException failure
        ? conflict(
            failure.isUnfit() ? "changed" : "unreachable",
            "the machine could not be compared: " + failure.getMessage())
        : e;
  }

  private static ApiException conflict(String reason, String detail) {
    return ApiException.of(ErrorCode.CONFLICT, detail).with("reason", reason);
  }

  static String fingerprint(@Nullable String hostKey) {
    return hostKey == null ? "none" : SshPublicKey.parse(hostKey).fingerprint();
  }

  /** A change of a node's row. */
  private interface NodeChange {
    Future<Void> store(NodeView node);
  }

  private Future<NodeView> change(Operator operator, String nodeId, NodeChange change) {
    return readNode(operator, nodeId)
        .compose(
            node -> {
              if (node.isRetired()) {
                throw NodeStore.isRetired(nodeId);
              }
              return change.store(node).compose(stored -> changed(operator, node.pool(), nodeId));
            });
  }

  /**
   * Notifies the market of a stored change, and returns the changed node. If the node cannot be
   * read, the error says that the change is stored.
   */
  Future<NodeView> changed(Operator operator, String pool, String nodeId) {
    market.nodesChanged(pool);
    return readNode(operator, nodeId).recover(e -> Future.failedFuture(ApiException.storedOnly()));
  }

  private Pool requirePool(Operator operator, String name) {
    Pool pool = requirePool(name);
    operator.requireSite(shown(pool), pool.site());
    return pool;
  }

  private static String shown(Pool pool) {
    return "pool " + pool.name();
  }

  private Pool requirePool(String name) {
    return clusters.findPool(name).orElseThrow(() -> ApiException.notFound("pool", name));
  }

  private AuditRow audit(String actor, String action, String nodeId, String detail) {
    return new AuditRow(clock.millis(), Trails.PLATFORM, actor, action, nodeId, detail);
  }
}
