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
 * Who may act as a member, in memory: everybody on a roster who is not suspended. An entry is some
 * 200 bytes. A removed or suspended member is refused at the next request, whatever they hold.
 */
public final class Members implements Mirror {
  /**
   * What other processes are told when members come, go or are suspended; the key is their
   * organization.
   */
  public static final String CHANGED = "members";

  /**
   * What a member {@code m} owns things by, in SQL: the name and since when it is theirs. A
   * username alone would give them to a later member of that name. It never changes, except that
   * {@link MemberCorrection} corrects a time that lies ahead, together with the rows that the
   * member owns; any version of this program that adds a member stores it.
   */
  public static final String ID = "m.org_id || '/' || m.username || '/' || m.created_at";

  /** Organizations compared at once; with as many members as one may have they are many rows. */
  private static final int COMPARED_ORGS = 20;

  private final AccessStore store;

  /** Ids by username, by organization. */
  private final Map<String, Map<String, String>> active = new ConcurrentHashMap<>();

  private final SerialReadings readings = new SerialReadings();

  public Members(AccessStore store) {
    this.store = store;
  }

  /** Reads all of them anew, after any reading under way. */
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

  /** Reads those of one organization anew: one of them came, went or was suspended. */
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

  /** So many organizations after this one, each with its members. */
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

  /** Whether somebody is on the roster and not suspended. */
  public boolean isActive(String orgId, String username) {
    return active.getOrDefault(orgId, Map.of()).containsKey(username);
  }

  /** The id of who is on the roster by this name and not suspended. */
  public Optional<String> findId(String orgId, String username) {
    return Optional.ofNullable(active.getOrDefault(orgId, Map.of()).get(username));
  }
}
