package dev.bourse.capacity;

import dev.bourse.audit.AuditStore;
import dev.bourse.audit.AuditedReads;
import dev.bourse.pools.Switches;
import dev.bourse.sshkeys.SshKeyPolicy;
import dev.bourse.sshkeys.SshKeyService;
import dev.bourse.sshkeys.SshKeyStore;
import dev.bourse.store.Statement;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;

/** A store with cluster c1, its owner, and a key registry with one key; no market yet. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
public abstract class ExchangeFixture extends StoreFixture {
  protected static final String KEY_LINE =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJWS5jfQbcIV8lXoHBUTB5gYxsLtFG2kh2gM9vJ1fYWp one";

  protected final Clusters clusters = new Clusters(new Switches(true, false, false), clock);
  protected SshKeyStore keyStore;
  protected SshKeyService keys;
  protected ClusterOwners owners;

  @BeforeEach
  void startOwners() throws Exception {
    clusters.put(Sample.POOL);
    keyStore = new SshKeyStore(database);
    keys =
        new SshKeyService(
            keyStore,
            new SshKeyPolicy(database),
            clusters,
            new AuditedReads(
                vertx, new AuditStore(database), Optional.empty(), clock, new Random(1)),
            clock,
            new Random(1));
    await(
        database.commit(
            List.of(
                Statement.of(
                    "INSERT INTO ssh_key (key_id, org_id, name, public_key, fingerprint,"
                        + " created_at, created_by) VALUES ('key_1', 'acme', 'one', ?, 'SHA256:x',"
                        + " 1, 'token:abc')",
                    KEY_LINE))));
    await(keys.load());
    owners =
        await(
            ClusterOwners.deploy(
                vertx, clusters, new CapacityStore(database, new Random(1)), clocks(), 2));
  }

  /** The clocks of the owners. */
  protected ClusterOwners.Clocks clocks() {
    return ClusterOwners.Clocks.of(clock);
  }

  /** Stores a cluster and gives it to its owner. */
  protected void adopt(Cluster cluster) throws Exception {
    await(database.commit(CapacityStore.insert(cluster, clock.millis())));
    await(owners.adopt(cluster));
  }

  protected Cluster cluster() {
    return clusters.find("c1").orElseThrow().cluster();
  }

  protected Cluster submit(Command command) throws Exception {
    return await(owners.submit("c1", command).map(ClusterView::cluster));
  }

  protected Cluster declare(int maxGpus) throws Exception {
    clock.advance(Sample.CADENCE);
    return submit(
        (c, now) ->
            Capacity.declare(c, Sample.order(maxGpus, "2", c.version()), Sample.TERMS, now));
  }

  protected Cluster swap(String publicIp) throws Exception {
    clock.advance(Sample.CADENCE);
    return submit((c, now) -> Capacity.swap(c, Sample.ACTOR, publicIp, Sample.TERMS, now));
  }

  /** Returns the addresses of the open allocations in a state. */
  protected List<String> addresses(Allocation.State state) {
    return cluster().allocations().stream()
        .filter(a -> a.state() == state)
        .map(a -> String.valueOf(a.publicIp()))
        .toList();
  }
}
