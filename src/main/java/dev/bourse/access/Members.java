package dev.bourse.access;

import dev.bourse.store.Mirror;
import dev.bourse.store.SliceComparison;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The active members, in memory: the members of all rosters without the suspended ones. An entry
 * takes some 200 bytes. A removed or suspended member is rejected at the next request, with any
 * credential.
 */
public final class Members implements Mirror {
  /**
   * The topic of changes when members are added, removed or suspended; the key is their
   * organization.
   */
  public static final String CHANGED = "members";

  /**
   * The SQL expression for the id of a member {@code m}: the name and the time since which the
   * member has it. A username alone would pass the member's objects on to a later member with that
   * name. The id never changes, except that {@link MemberCorrection} corrects a time in the future,
   * together with the rows that the member owns. Every release that adds a member stores it.
   */
  public static final String ID = "m.org_id || '/' || m.username || '/' || m.created_at";

  /** Organizations per comparison; with the maximum number of members they are many rows. */
  private static final int COMPARED_ORGS = 20;

  private final AccessStore store;

  /** Ids by organization and username. */
  private final Map<String, Map<String, String>> active = new ConcurrentHashMap<>();

  private final SerialReadings readings = new SerialReadings();

  public Members(AccessStore store) {
    this.store = store;
  }

  /** Reads all members again, after any read in progress. */
  public Future<Void> load() {
    return readings.next(
        () ->
            store
                .listActiveMembers()
                .map(
                    found -> {
                      Map<String, Map<String, String>> stored = byOrg(found);
                      active.keySet().retainAll(stored.keySet());
                      active.putAll(stored);
                      return null;
                    }));
  }

  /** Reads the members of an organization again, after one was added, removed or suspended. */
  public Future<Void> refresh(String orgId) {
    return refresh(List.of(orgId)).mapEmpty();
  }

  @Override
  public Future<Refreshed> refresh(List<String> orgIds) {
    return readings.next(
        () ->
            store
                .listActiveMembers(orgIds)
                .map(
                    found -> {
                      Map<String, Map<String, String>> stored = byOrg(found);
                      Set<String> changed = new HashSet<>();
                      for (String orgId : orgIds) {
                        Map<String, String> read = stored.getOrDefault(orgId, Map.of());
                        if (!read.equals(active.getOrDefault(orgId, Map.of()))) {
                          changed.add(orgId);
                          active.put(orgId, read);
                        }
                      }
                      return new Refreshed(changed, Set.of());
                    }));
  }

  private static Map<String, Map<String, String>> byOrg(List<AccessStore.ActiveMember> members) {
    Map<String, Map<String, String>> byOrg = new HashMap<>();
    members.forEach(
        one ->
            byOrg
                .computeIfAbsent(one.orgId(), org -> new HashMap<>())
                .put(one.username(), one.memberId()));
    return byOrg;
  }

  @Override
  public Comparison compare() {
    return new SliceComparison<>(
        COMPARED_ORGS,
        this::readSlice,
        Map.Entry::getKey,
        stored -> stored.getValue().equals(active.getOrDefault(stored.getKey(), Map.of())),
        List::of);
  }

  /** Returns up to a slice of organizations after an id, each with its members. */
  private Future<List<Map.Entry<String, Map<String, String>>>> readSlice(String after) {
    return store
        .listOrganizations(after, COMPARED_ORGS)
        .map(orgs -> orgs.stream().map(Organization::orgId).toList())
        .compose(
            orgIds ->
                orgIds.isEmpty()
                    ? Future.succeededFuture(List.of())
                    : store
                        .listActiveMembers(orgIds)
                        .map(
                            found -> {
                              Map<String, Map<String, String>> stored = byOrg(found);
                              return orgIds.stream()
                                  .map(id -> Map.entry(id, stored.getOrDefault(id, Map.of())))
                                  .toList();
                            }));
  }

  /** Returns whether a member is on the roster and not suspended. */
  public boolean isActive(String orgId, String username) {
    return active.getOrDefault(orgId, Map.of()).containsKey(username);
  }

  /** Returns the id of the active member with a name. */
  public Optional<String> findId(String orgId, String username) {
    return Optional.ofNullable(active.getOrDefault(orgId, Map.of()).get(username));
  }
}
