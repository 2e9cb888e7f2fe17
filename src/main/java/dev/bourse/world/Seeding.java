package dev.bourse.world;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.access.Token;
import dev.bourse.access.Tokens;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.LedgerStore;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Declaration;
import dev.bourse.core.Ids;
import dev.bourse.core.TokenSecret;
import dev.bourse.market.NodeStore;
import dev.bourse.nodes.Machine;
import dev.bourse.nodes.SimulatedNodes;
import dev.bourse.org.Member;
import dev.bourse.org.RosterStore;
import dev.bourse.org.TokenStore;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreRefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the pools, nodes and organizations of a world file that the store lacks, in one commit.
 * {@link #keys()} returns the secrets of tokens minted here; existing secrets are not known.
 *
 * <p>It is one commit however large the world is; 1,000,000 clusters take half a minute. Slices
 * would save those seconds for a process that is killed while seeding, but a process that starts
 * without the file would then open its market on a partial world, and two processes that start at
 * once would each fail on the other's slices, again and again; with one commit, the second process
 * finds the complete world. Secrets are also published before they are stored: because all of them
 * are stored or none, the caller keeps or withdraws the published file as a whole.
 */
public final class Seeding {
  private static final Logger LOG = LoggerFactory.getLogger(Seeding.class);

  private static final String OPERATOR = "system:operator";

  private static final long MICROS_PER_CENT = 10_000;

  private final Database database;
  private final Clock clock;
  private final RandomGenerator random;
  private final List<Statement> statements = new ArrayList<>();
  private final Map<String, Deque<Spare>> spare = new HashMap<>();
  private final Set<String> addresses = new HashSet<>();
  private int nextAddress;
  private final JsonObject keys = new JsonObject();

  /** A node that no cluster holds. */
  private record Spare(String pool, String nodeId, String publicIp) {}

  public Seeding(Database database, Clock clock, RandomGenerator random) {
    this.database = database;
    this.clock = clock;
    this.random = random;
  }

  /** Collects the missing rows; stores nothing yet. */
  public Future<Seeding> prepare(WorldFile world) {
    Future<Set<String>> pools = names("SELECT name AS found FROM pool");
    Future<List<StoredMachine>> known =
        database.read(StoredMachine.SQL, List.of(), StoredMachine::read);
    Future<List<Spare>> free =
        database.read(
            """
            SELECT pool, node_id, public_ip FROM node WHERE retired_at IS NULL
            AND node_id NOT IN (SELECT node_id FROM allocation WHERE gone_at IS NULL) ORDER BY node_id\
            """,
            List.of(),
            row -> new Spare(row.text("pool"), row.text("node_id"), row.text("public_ip")));
    Future<Set<String>> orgs = names("SELECT org_id AS found FROM org");
    Future<Set<String>> clusters = names("SELECT name AS found FROM cluster");
    Future<Set<String>> retired =
        names("SELECT org_id AS found FROM org WHERE retired_at IS NOT NULL");
    Future<Set<String>> tokens = names("SELECT org_id || '/' || name AS found FROM token");
    return Future.all(List.of(pools, known, free, orgs, clusters, retired, tokens))
        .map(
            all -> {
              Set<String> nodes = new HashSet<>();
              for (StoredMachine machine : known.result()) {
                nodes.add(machine.nodeId());
                if (machine.publicIp() != null) {
                  addresses.add(machine.publicIp());
                }
              }
              compare(world, known.result());
              world.sites().forEach(s -> s.machines().forEach(m -> addresses.add(m.publicIp())));
              free.result().forEach(this::spare);
              for (WorldFile.PoolSeed site : world.sites()) {
                seed(site, pools.result(), nodes);
              }
              for (WorldFile.OrgSeed tenant : world.tenants()) {
                // A retired organization stays as it is.
                if (!retired.result().contains(tenant.org().orgId())) {
                  seed(tenant, orgs.result(), tokens.result());
                  seedClusters(tenant, world, clusters.result());
                }
              }
              return this;
            });
  }

  /** Stores the collected rows. */
  public Future<Void> commit() {
    return commit(List.of());
  }

  /**
   * Stores the collected rows, if there are any.
   *
   * @param along statements of the same commit
   */
  public Future<Void> commit(List<Statement> along) {
    return statements.isEmpty()
        ? Future.succeededFuture()
        : database.commit(
            Stream.concat(statements.stream(), along.stream()).toList(),
            // A world may touch any table, so other replicas compare all of them.
            Stream.of(
                    PoolStore.CHANGED,
                    CapacityStore.CHANGED,
                    Tokens.ORGANIZATION_CHANGED,
                    Tokens.CHANGED,
                    Members.CHANGED)
                .map(topic -> new Change(topic, ""))
                .toList());
  }

  /**
   * Returns the data for callers by organization: clusters, members and the secrets of newly minted
   * tokens.
   */
  public JsonObject keys() {
    return keys;
  }

  private Future<Set<String>> names(String sql) {
    return database.read(sql, List.of(), row -> row.text("found")).map(HashSet::new);
  }

  /**
   * Compares the file's nodes with the store's.
   *
   * @throws StoreRefusedException when a node cannot be created because another node has its
   *     address
   */
  private static void compare(WorldFile world, List<StoredMachine> known) {
    Map<String, StoredMachine> byId = new HashMap<>();
    Map<String, StoredMachine> byAddress = new HashMap<>();
    for (StoredMachine machine : known) {
      byId.put(machine.nodeId(), machine);
      if (machine.publicIp() != null) {
        byAddress.put(machine.publicIp(), machine);
      }
    }
    List<String> faults = new ArrayList<>();
    for (WorldFile.PoolSeed site : world.sites()) {
      for (Machine machine : site.machines()) {
        StoredMachine same = byId.get(machine.nodeId());
        StoredMachine there = byAddress.get(machine.publicIp());
        if (same != null) {
          same.differences(site.pool().name(), machine).forEach(LOG::warn);
        } else if (there != null) {
          faults.add(there.addressConflict(machine));
        }
      }
    }
    if (!faults.isEmpty()) {
      throw new StoreRefusedException(String.join("\n", faults), null);
    }
  }

  private void seed(WorldFile.PoolSeed site, Set<String> pools, Set<String> nodes) {
    String pool = site.pool().name();
    if (!pools.contains(pool)) {
      statements.add(PoolStore.insert(site.pool(), now()));
    }
    List<Machine> all = new ArrayList<>(site.machines());
    for (int i = 1; i <= site.simulatedNodes(); i++) {
      String nodeId = pool + "-" + String.format("%05d", i);
      if (!nodes.contains(nodeId)) {
        all.add(new Machine(nodeId, freeAddress(), site.pool().environment().sshPort(), null));
      }
    }
    for (Machine machine : all) {
      if (nodes.add(machine.nodeId())) {
        statements.add(NodeStore.insert(pool, machine, now()));
        spare(new Spare(pool, machine.nodeId(), machine.publicIp()));
      }
    }
  }

  private void spare(Spare machine) {
    spare.computeIfAbsent(machine.pool(), pool -> new ArrayDeque<>()).add(machine);
  }

  private String freeAddress() {
    String address = SimulatedNodes.address(nextAddress++);
    while (!addresses.add(address)) {
      address = SimulatedNodes.address(nextAddress++);
    }
    return address;
  }

  private void seed(WorldFile.OrgSeed tenant, Set<String> orgs, Set<String> tokens) {
    String orgId = tenant.org().orgId();
    boolean isNew = !orgs.contains(orgId);
    if (isNew) {
      statements.add(AccessStore.insert(tenant.org(), now()));
      seedCredit(orgId, tenant.creditCents());
    }
    JsonObject minted = new JsonObject();
    for (WorldFile.TokenSeed grant : tenant.tokens()) {
      if (!tokens.contains(orgId + "/" + grant.name())) {
        TokenSecret secret = TokenSecret.mint(random);
        statements.addAll(TokenStore.mintStatements(token(orgId, grant, secret), OPERATOR));
        minted.put(grant.name(), secret.text());
      }
    }
    JsonObject people = new JsonObject();
    for (WorldFile.MemberSeed member : tenant.members()) {
      // A removed member must not return at the next start.
      if (isNew) {
        statements.add(
            RosterStore.insert(
                Member.joining(orgId, member.username(), member.email(), member.name(), now())));
      }
      people.put(
          member.username(),
          new JsonObject().put("username", member.username()).put("email", member.email()));
    }
    keys.put(
        orgId,
        new JsonObject()
            .put("org_id", orgId)
            .put(
                "clusters",
                new JsonArray(tenant.clusters().stream().map(WorldFile.ClusterSeed::name).toList()))
            .put("tokens", minted)
            .put("members", people));
  }

  /** Credits an organization once, when it is created; later starts do not top it up. */
  private void seedCredit(String orgId, long cents) {
    if (cents > 0) {
      statements.addAll(
          LedgerStore.insert(
              Ledger.given(
                  Ledger.Kind.CREDIT,
                  orgId,
                  "world",
                  cents * MICROS_PER_CENT,
                  OPERATOR,
                  "initial credit",
                  now())));
    }
  }

  private Token token(String orgId, WorldFile.TokenSeed grant, TokenSecret secret) {
    return new Token(
        secret.tokenId(),
        orgId,
        grant.name(),
        HexFormat.of().formatHex(secret.sha256()),
        grant.scopes(),
        grant.cluster(),
        OPERATOR,
        now(),
        null,
        grant.limits());
  }

  private void seedClusters(WorldFile.OrgSeed tenant, WorldFile world, Set<String> clusters) {
    for (WorldFile.ClusterSeed holder : tenant.clusters()) {
      if (clusters.contains(holder.name())) {
        continue;
      }
      WorldFile.PoolSeed site =
          world.sites().stream()
              .filter(s -> s.pool().name().equals(holder.pool()))
              .findFirst()
              .orElseThrow();
      Cluster cluster = cluster(tenant, holder, site);
      statements.addAll(CapacityStore.insert(cluster, now()));
      if (cluster.declared() != null) {
        statements.add(
            ActivityRows.insert(
                Activity.declared(OPERATOR, cluster.declared()), holder.name(), now()));
      }
    }
  }

  private Cluster cluster(
      WorldFile.OrgSeed tenant, WorldFile.ClusterSeed holder, WorldFile.PoolSeed site) {
    Cluster empty =
        Cluster.created(
            holder.name(), tenant.org().orgId(), holder.pool(), holder.kind(), holder.posture());
    if (holder.heldNodes() == 0) {
      return empty;
    }
    Deque<Spare> nodes = spare.getOrDefault(holder.pool(), new ArrayDeque<>());
    if (nodes.size() < holder.heldNodes()) {
      throw StoreRefusedException.of(
          "cluster %s: held_nodes is %s, but pool %s has %s free nodes",
          holder.name(), holder.heldNodes(), holder.pool(), nodes.size());
    }
    List<Allocation> held = new ArrayList<>();
    for (int slot = 0; slot < holder.heldNodes(); slot++) {
      held.add(held(nodes.remove(), holder, slot));
    }
    return empty.startingWith(
        Declaration.of(
            holder.heldNodes() * site.pool().gpusPerNode(), holder.ceilingCents(), now(), OPERATOR),
        held);
  }

  /** An active allocation from now on; the provider prepares the node at start-up. */
  private Allocation held(Spare machine, WorldFile.ClusterSeed holder, int slot) {
    return Allocation.held(
        Ids.next("alc", random),
        machine.nodeId(),
        machine.publicIp(),
        slot,
        now(),
        holder.ceilingCents());
  }

  private long now() {
    return clock.millis();
  }
}
