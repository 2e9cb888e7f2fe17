package dev.bourse.org;

import dev.bourse.access.Members;
import dev.bourse.access.Tokens;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What operators do to organizations: make, name, retire. */
public final class OrgAdminService {
  private static final Logger LOG = LoggerFactory.getLogger(OrgAdminService.class);

  private final Database database;
  private final OrgAdminStore store;
  private final Tokens tokens;
  private final Members members;
  private final Function<String, Future<Void>> release;
  private final Clock clock;

  /**
   * @param release has a cluster disarm its writes, declare nothing more and give back all it
   *     holds; doing so again changes nothing
   */
  public OrgAdminService(
      Database database,
      Tokens tokens,
      Members members,
      Function<String, Future<Void>> release,
      Clock clock) {
    this.database = database;
    this.members = members;
    this.store = new OrgAdminStore(database);
    this.tokens = tokens;
    this.release = release;
    this.clock = clock;
  }

  /** A page of all organizations, by id. */
  public Future<Page<OrgAdminStore.Org>> list(int limit, Optional<String> after) {
    return store.list(limit, after);
  }

  /** One organization; {@code not-found} when there is none. */
  public Future<OrgAdminStore.Org> read(String orgId) {
    return store.find(orgId);
  }

  /** Makes one; {@code conflict} when the id is taken, by a retired one too. */
  public Future<OrgAdminStore.Org> create(String actor, String orgId, String display, String kind) {
    long now = clock.millis();
    AuditRow row =
        new AuditRow(
            now,
            orgId,
            actor,
            "org_create",
            orgId,
            "display=" + Text.shown(display) + " kind=" + kind);
    return database
        .commit(
            List.of(
                Statement.guarded(
                    "exists",
                    "INSERT INTO org (org_id, display, kind, created_at) VALUES (?, ?, ?, ?)"
                        + " ON CONFLICT (org_id) DO NOTHING",
                    orgId,
                    display,
                    kind,
                    now),
                AuditStore.insert(row)),
            List.of(new Change(Tokens.ORGANIZATION_CHANGED, orgId)))
        .recover(
            e ->
                Future.failedFuture(
                    e instanceof GuardFailed
                        ? OrgWrite.conflict(
                            "exists", "org_id: " + orgId + " is taken; an id is never used again")
                        : e))
        .compose(stored -> OrgWrite.inForce(tokens.refreshOrganization(orgId)))
        .map(loaded -> new OrgAdminStore.Org(orgId, display, kind, now, null));
  }

  /** Changes its name for people or its kind; what is left empty stays. */
  public Future<OrgAdminStore.Org> update(
      String actor, String orgId, Optional<String> display, Optional<String> kind) {
    OrgWrite write = new OrgWrite(database, orgId);
    List<String> detail = new ArrayList<>();
    display.ifPresent(
        text -> {
          write.any(Statement.of("UPDATE org SET display = ? WHERE org_id = ?", text, orgId));
          detail.add("display=" + Text.shown(text));
        });
    kind.ifPresent(
        text -> {
          write.any(Statement.of("UPDATE org SET kind = ? WHERE org_id = ?", text, orgId));
          detail.add("kind=" + text);
        });
    return write
        .record(row(actor, orgId, "org_update", String.join(" ", detail)))
        .commit(new Change(Tokens.ORGANIZATION_CHANGED, orgId))
        .compose(stored -> OrgWrite.inForce(tokens.refreshOrganization(orgId)))
        .compose(loaded -> OrgWrite.inForce(store.find(orgId)));
  }

  /**
   * Retires one, for good: its tokens are revoked in the same commit, its members, rules and
   * clusters stay as rows nothing can change. Its clusters then give back all they hold; what a
   * crash or a fault leaves of that is done by {@link #releaseRetired}.
   */
  public Future<OrgAdminStore.Org> retire(String actor, String orgId) {
    long now = clock.millis();
    OrgWrite write = new OrgWrite(database, orgId);
    TokenStore.offboard(orgId, now).forEach(write::any);
    return write
        .any(Statement.of("UPDATE org SET retired_at = ? WHERE org_id = ?", now, orgId))
        .record(row(actor, orgId, "org_retire", ""))
        .commit(new Change(Tokens.ORGANIZATION_CHANGED, orgId), new Change(Members.CHANGED, orgId))
        .compose(
            stored ->
                OrgWrite.inForce(
                    Future.all(tokens.refreshOrganization(orgId), members.refresh(orgId))))
        .compose(loaded -> releaseRetired())
        .compose(released -> OrgWrite.inForce(store.find(orgId)));
  }

  /**
   * Has every cluster of a retired organization give back what it still holds. What cannot be done
   * now is logged and left to the next call, so this never fails.
   */
  public Future<Void> releaseRetired() {
    return store
        .listClustersOfRetired()
        .compose(
            clusters ->
                Future.join(
                        clusters.stream()
                            .map(
                                cluster ->
                                    release
                                        .apply(cluster)
                                        .onFailure(
                                            e ->
                                                LOG.warn(
                                                    "cluster {} of a retired organization not"
                                                        + " released; tried again: {}",
                                                    cluster,
                                                    e.toString())))
                            .toList())
                    .<Void>mapEmpty())
        .otherwise(
            e -> {
              LOG.warn("clusters of retired organizations not looked at: {}", e.toString());
              return null;
            });
  }

  private AuditRow row(String actor, String orgId, String action, String detail) {
    return new AuditRow(clock.millis(), orgId, actor, action, orgId, detail);
  }
}
