package dev.bourse.market;

import dev.bourse.nodes.IdRange;
import dev.bourse.nodes.LoginIds;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Assigns user ids to allocations and group ids to organizations. Each keeps its id for life and no
 * id is assigned twice, because a file on a shared file system keeps its owner's id when the grant
 * is over. A fail-over that loses commits loses assignments too.
 */
public final class LoginIdStore {
  private static final Logger LOG = LoggerFactory.getLogger(LoginIdStore.class);

  /** Processes that assign at the same time take the same id, and all but one try again. */
  private static final int TRIES = 20;

  /** Organizations that one step checks. */
  private static final int PAGE = 256;

  private final Database database;
  private final IdRange range;

  /** The last organization that {@link #assignMissingGids} has checked in its round. */
  private volatile String checkedUpTo = "";

  public LoginIdStore(Database database, IdRange range) {
    this.database = database;
    this.range = range;
  }

  /** Returns the group id of an organization; empty if it has none yet. Assigns none. */
  public Future<Optional<Long>> findGid(String orgId) {
    String owner = org(orgId);
    return find(List.of(owner)).map(ids -> Optional.ofNullable(ids.get(owner)));
  }

  /**
   * Assigns a group id to a new organization. A failure is logged and does not fail the caller,
   * because {@link #assignMissingGids} and the first grant assign it too.
   */
  public Future<Void> assignGid(String orgId) {
    return assign(List.of(org(orgId)), TRIES)
        .onFailure(why -> LOG.warn("could not assign a group id to organization {}", orgId, why))
        .<Void>mapEmpty()
        .otherwiseEmpty();
  }

  /**
   * Assigns group ids to a page of the organizations that are not retired. They lack one if an
   * earlier release created them, or if the service gave logins no ids of their own then. Returns
   * whether there are more pages.
   */
  public Future<Boolean> assignMissingGids() {
    return database
        .read(
            "SELECT org_id FROM org WHERE org_id > ? AND retired_at IS NULL ORDER BY org_id LIMIT ?",
            List.of(checkedUpTo, PAGE),
            row -> row.text("org_id"))
        .compose(
            page -> {
              if (page.isEmpty()) {
                checkedUpTo = "";
                return Future.succeededFuture(false);
              }
              return assign(page.stream().map(LoginIdStore::org).toList(), TRIES)
                  .map(
                      assigned -> {
                        boolean isMore = page.size() == PAGE;
                        checkedUpTo = isMore ? page.get(PAGE - 1) : "";
                        return isMore;
                      });
            });
  }

  /** Returns the ids of an allocation's login. */
  Future<LoginIds> of(String orgId, String allocationId) {
    String org = org(orgId);
    String allocation = "allocation " + allocationId;
    return assign(List.of(org, allocation), TRIES)
        .map(ids -> new LoginIds(id(ids, allocation), id(ids, org)));
  }

  private static String org(String orgId) {
    return "org " + orgId;
  }

  private static long id(Map<String, Long> ids, String owner) {
    Long id = ids.get(owner);
    if (id == null) {
      throw new IllegalStateException("no id for " + owner);
    }
    return id;
  }

  private Future<Map<String, Long>> assign(List<String> owners, int triesLeft) {
    return find(owners)
        .compose(
            found -> {
              List<String> missing = owners.stream().filter(o -> !found.containsKey(o)).toList();
              if (missing.isEmpty()) {
                return Future.succeededFuture(found);
              }
              if (triesLeft == 0) {
                return Future.failedFuture(
                    new IllegalStateException(
                        "no id for %s: nodes.ssh.id-range %s may be used up"
                            .formatted(missing, range)));
              }
              return database
                  .commit(missing.stream().map(this::insert).toList())
                  .compose(stored -> assign(owners, triesLeft - 1));
            });
  }

  private Future<Map<String, Long>> find(List<String> owners) {
    List<String> all = InList.of(owners);
    return database
        .read(
            "SELECT owner, id FROM login_id WHERE owner IN " + InList.marks(all),
            all,
            row -> Map.entry(row.text("owner"), row.integer("id")))
        .map(
            rows -> {
              Map<String, Long> ids = new HashMap<>();
              rows.forEach(row -> ids.put(row.getKey(), row.getValue()));
              return ids;
            });
  }

  private Statement insert(String owner) {
    return Statement.of(
        """
        INSERT INTO login_id (id, owner) SELECT t.free, CAST(? AS TEXT) FROM
        (SELECT COALESCE(MAX(id) + 1, CAST(? AS BIGINT)) AS free FROM login_id
        WHERE id BETWEEN ? AND ?) t WHERE t.free <= ? ON CONFLICT DO NOTHING\
        """,
        owner,
        range.first(),
        range.first(),
        range.last(),
        range.last());
  }
}
