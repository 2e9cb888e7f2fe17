package dev.bourse.sshkeys;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditedReads;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.Ids;
import dev.bourse.core.Text;
import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The registry of ssh keys. Keys are installed on a node when it is granted; held nodes are never
 * changed.
 */
public final class SshKeyService implements Mirror {
  /**
   * Most keys of one organization: an authorized_keys file of this size costs sshd no noticeable
   * time.
   */
  static final int MAX_KEYS_PER_ORG = 200;

  /**
   * Attempts at a consistent read; a read is discarded if another change of the same keys took
   * effect during it.
   */
  private static final int MAX_READINGS = 5;

  /**
   * Organizations compared at once; at {@value #MAX_KEYS_PER_ORG} keys each that is at most 20,000
   * rows.
   */
  private static final int COMPARED_ORGS = 100;

  private final SshKeyStore store;
  private final SshKeyPolicy policy;
  private final Clusters clusters;
  private final ClusterAccess access;
  private final AuditedReads reads;
  private final Clock clock;
  private final RandomGenerator random;
  private final Map<String, List<SshKey>> byOrg = new ConcurrentHashMap<>();
  private final AtomicLong localChanges = new AtomicLong();

  public SshKeyService(
      SshKeyStore store,
      SshKeyPolicy policy,
      Clusters clusters,
      AuditedReads reads,
      Clock clock,
      RandomGenerator random) {
    this.store = store;
    this.policy = policy;
    this.clusters = clusters;
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.reads = reads;
    this.clock = clock;
    this.random = random;
  }

  /** Reads all keys from the store. */
  public Future<Void> load() {
    long before = localChanges.get();
    return store
        .listLive()
        .compose(
            keys -> {
              if (localChanges.get() != before) {
                // The read may lack a key that this process has just stored.
                return load();
              }
              Map<String, List<SshKey>> stored = byOrg(keys);
              byOrg.keySet().retainAll(stored.keySet());
              byOrg.putAll(stored);
              return Future.succeededFuture();
            });
  }

  /**
   * Reads the keys of some organizations from the store. Organizations whose keys this process
   * changed during the read are left for the next refresh, because the read may lack the change.
   */
  @Override
  public Future<Refreshed> refresh(List<String> orgIds) {
    Map<String, Optional<List<SshKey>>> before = new HashMap<>();
    orgIds.forEach(org -> before.put(org, Optional.ofNullable(byOrg.get(org))));
    return store
        .listLive(orgIds)
        .map(
            keys -> {
              Map<String, List<SshKey>> stored = byOrg(keys);
              Set<String> changed = new HashSet<>();
              Set<String> left = new HashSet<>();
              before.forEach(
                  (org, held) -> {
                    List<SshKey> read = stored.getOrDefault(org, List.of());
                    if (!replace(org, held, read)) {
                      left.add(org);
                    } else if (!read.equals(held.orElse(List.of()))) {
                      changed.add(org);
                    }
                  });
              return new Refreshed(changed, left);
            });
  }

  private static Map<String, List<SshKey>> byOrg(List<SshKey> keys) {
    return keys.stream()
        .collect(Collectors.groupingBy(SshKey::orgId, Collectors.toUnmodifiableList()));
  }

  /** Replaces an organization's keys; returns false if they changed during the read. */
  private boolean replace(String orgId, Optional<List<SshKey>> before, List<SshKey> read) {
    if (before.isEmpty()) {
      return read.isEmpty() ? !byOrg.containsKey(orgId) : byOrg.putIfAbsent(orgId, read) == null;
    }
    return byOrg.computeIfPresent(orgId, (org, held) -> held == before.get() ? read : held) == read;
  }

  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        COMPARED_ORGS,
        after -> store.listRegistries(after, COMPARED_ORGS),
        SshKeyStore.Registry::orgId,
        stored ->
            stored
                .keyIds()
                .equals(
                    byOrg.getOrDefault(stored.orgId(), List.of()).stream()
                        .map(SshKey::keyId)
                        .sorted()
                        .collect(Collectors.joining(" "))),
        List::of);
  }

  /**
   * Returns the keys that a node of this cluster would get now. A Kubernetes cluster's nodes get
   * none: the provider joins them to the cluster, and nobody logs in to them.
   */
  public List<SshKey> keysFor(Cluster cluster) {
    if (cluster.kind() == Cluster.Kind.K8S) {
      return List.of();
    }
    return byOrg.getOrDefault(cluster.orgId(), List.of()).stream()
        .filter(key -> key.servesCluster(cluster.name()))
        .toList();
  }

  /** Returns true if the organization has a live key for any cluster. */
  public boolean hasKeys(String orgId) {
    return !byOrg.getOrDefault(orgId, List.of()).isEmpty();
  }

  /** Returns the organization's keys, oldest first; an audited read. */
  public List<SshKey> listSshKeys(Principal caller, String orgId) {
    requireOwn(caller, orgId);
    reads.record(new AuditRow(clock.millis(), orgId, caller.actor(), "vm_keys_get", orgId, ""));
    return byOrg.getOrDefault(orgId, List.of());
  }

  /**
   * A registered key.
   *
   * @param key as stored
   * @param isNew false if the same material was registered already
   */
  public record Added(SshKey key, boolean isNew) {}

  /**
   * Accepts a caller who may register and revoke keys of the organization; fails like {@link
   * SshKeyPolicy#requireWriter}, and with {@code not-found} for another organization.
   */
  public Future<Void> requireWriter(Principal caller, String orgId, String operation) {
    requireOwn(caller, orgId);
    return policy.requireWriter(caller, operation);
  }

  /**
   * Returns the key that a line would be registered as, without storing it: the existing key or a
   * new one.
   */
  public Added prepare(
      Principal caller, String orgId, String name, String line, @Nullable String cluster) {
    requireOwn(caller, orgId);
    SshPublicKey material = SshPublicKey.parse(line);
    if (cluster != null) {
      access.resolve(caller, Optional.of(cluster));
    }
    Optional<SshKey> existing = findSame(orgId, material.fingerprint(), cluster);
    if (existing.isPresent()) {
      return new Added(existing.get(), false);
    }
    if (byOrg.getOrDefault(orgId, List.of()).size() >= MAX_KEYS_PER_ORG) {
      throw ApiException.badField(
          "public_key",
          material.fingerprint(),
          "at most %s live keys in an organization; revoke one first".formatted(MAX_KEYS_PER_ORG));
    }
    return new Added(
        new SshKey(
            Ids.next("key", random),
            orgId,
            name,
            material.line(),
            material.fingerprint(),
            cluster,
            clock.millis(),
            caller.actor()),
        true);
  }

  /**
   * Registers a key in one commit with guarding statements. If the same material is registered for
   * the same cluster already, returns that key and writes nothing.
   */
  public Future<Added> addSshKey(
      Principal caller,
      String orgId,
      String name,
      String line,
      @Nullable String cluster,
      List<Statement> fences) {
    return requireWriter(caller, orgId, "addSshKey")
        .compose(may -> add(caller, prepare(caller, orgId, name, line, cluster), fences));
  }

  private Future<Added> add(Principal caller, Added prepared, List<Statement> fences) {
    if (!prepared.isNew()) {
      return Future.succeededFuture(prepared);
    }
    SshKey key = prepared.key();
    return store
        .add(key, auditRow(caller, key, "vm_key_add"), fences)
        .map(
            committed -> {
              remember(key);
              return new Added(key, true);
            })
        // A failed guard is the answer, even if another call registered the same key.
        .recover(
            failure ->
                failure instanceof ApiException
                    ? Future.failedFuture(failure)
                    : findConcurrent(key, failure));
  }

  /**
   * Returns the key of the call that registered the same material first. It may be this call's own,
   * whose commit was stored although the answer was lost. Waits until this process knows the key.
   */
  private Future<Added> findConcurrent(SshKey key, Throwable failure) {
    return store
        .findSame(key)
        .recover(e -> Future.failedFuture(failure))
        .compose(
            same ->
                same.map(
                        there ->
                            reload(there, MAX_READINGS)
                                .map(read -> new Added(there, there.keyId().equals(key.keyId()))))
                    .orElseGet(() -> Future.failedFuture(failure)));
  }

  private boolean isKnown(SshKey key) {
    return byOrg.getOrDefault(key.orgId(), List.of()).stream()
        .anyMatch(known -> known.keyId().equals(key.keyId()));
  }

  /** Reads the organization's keys after another service's commit changed them. */
  Future<Void> reload(String orgId) {
    localChanges.incrementAndGet();
    return reread(orgId, MAX_READINGS);
  }

  private Future<Void> reread(String orgId, int readings) {
    return refresh(List.of(orgId))
        .compose(
            refreshed ->
                refreshed.left().isEmpty()
                    ? Future.succeededFuture()
                    : readings > 1
                        ? reread(orgId, readings - 1)
                        : Future.failedFuture(ApiException.storedOnly()));
  }

  /** Reads the organization's keys until this key is known, or revoked. */
  private Future<Void> reload(SshKey key, int readings) {
    if (isKnown(key)) {
      return Future.succeededFuture();
    }
    return refresh(List.of(key.orgId()))
        .recover(e -> Future.failedFuture(ApiException.storedOnly()))
        .compose(
            refreshed ->
                refreshed.left().isEmpty() || isKnown(key)
                    ? Future.succeededFuture()
                    : readings > 1
                        ? reload(key, readings - 1)
                        : Future.failedFuture(ApiException.storedOnly()));
  }

  /**
   * The result of a revocation.
   *
   * @param keyId the key
   * @param revokedAtMillis time of the revocation
   * @param stillOn public IPs of held nodes that were granted with the key
   */
  public record Revoked(String keyId, long revokedAtMillis, List<String> stillOn) {}

  /**
   * Returns a live key of the caller's organization; fails with {@code not-found} for any other.
   */
  public SshKey getSshKey(Principal caller, String orgId, String keyId) {
    requireOwn(caller, orgId);
    return byOrg.getOrDefault(orgId, List.of()).stream()
        .filter(k -> k.keyId().equals(keyId))
        .findFirst()
        .orElseThrow(() -> ApiException.notFound("ssh key", keyId));
  }

  /**
   * Revokes a key in one commit with guarding statements: later grants go without it, held nodes
   * keep it.
   */
  public Future<Revoked> revokeSshKey(
      Principal caller, String orgId, String keyId, List<Statement> fences) {
    return requireWriter(caller, orgId, "revokeSshKey")
        .compose(may -> revoke(caller, getSshKey(caller, orgId, keyId), fences));
  }

  private Future<Revoked> revoke(Principal caller, SshKey key, List<Statement> fences) {
    String orgId = key.orgId();
    String keyId = key.keyId();
    AuditRow audit = auditRow(caller, key, "vm_key_revoke");
    return store
        .revoke(key, audit, fences)
        .map(
            committed -> {
              localChanges.incrementAndGet();
              byOrg.computeIfPresent(
                  orgId,
                  (org, keys) -> keys.stream().filter(k -> !k.keyId().equals(keyId)).toList());
              return new Revoked(keyId, audit.atMillis(), stillOn(key));
            });
  }

  /** Returns public IPs of held nodes that were granted with the key. */
  public List<String> stillOn(SshKey key) {
    return listHolders(key).stream().map(Holder::publicIp).toList();
  }

  /** A held node that was granted with a key. */
  record Holder(String cluster, String publicIp) {}

  /** Lists held nodes that were granted with the key, by cluster. */
  List<Holder> listHolders(SshKey key) {
    List<Holder> holders = new ArrayList<>();
    for (ClusterView view : clusters.ofOrg(key.orgId(), Cluster.Kind.VM)) {
      for (Allocation allocation : view.cluster().allocations()) {
        String publicIp = allocation.publicIp();
        if (publicIp != null && allocation.isOpen() && allocation.keyIds().contains(key.keyId())) {
          holders.add(new Holder(view.cluster().name(), publicIp));
        }
      }
    }
    return holders;
  }

  private Optional<SshKey> findSame(String orgId, String fingerprint, @Nullable String cluster) {
    return byOrg.getOrDefault(orgId, List.of()).stream()
        .filter(k -> k.fingerprint().equals(fingerprint) && Objects.equals(k.cluster(), cluster))
        .findFirst();
  }

  /** A concurrent read of the store may have added the key already. */
  private void remember(SshKey key) {
    localChanges.incrementAndGet();
    byOrg.merge(
        key.orgId(),
        List.of(key),
        (known, added) -> {
          if (known.stream().anyMatch(k -> k.keyId().equals(key.keyId()))) {
            return known;
          }
          List<SshKey> all = new ArrayList<>(known);
          all.addAll(added);
          return List.copyOf(all);
        });
  }

  private AuditRow auditRow(Principal caller, SshKey key, String action) {
    return new AuditRow(
        clock.millis(),
        key.orgId(),
        caller.actor(),
        action,
        key.orgId(),
        "key_id=%s name=%s fingerprint=%s%s"
            .formatted(
                key.keyId(),
                Text.shown(key.name()),
                key.fingerprint(),
                key.cluster() == null ? "" : " cluster=" + key.cluster()));
  }

  private static void requireOwn(Principal caller, String orgId) {
    if (!caller.org().orgId().equals(orgId)) {
      throw ApiException.notFound("organization", orgId);
    }
  }
}
