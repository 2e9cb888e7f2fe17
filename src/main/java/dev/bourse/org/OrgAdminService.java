package dev.bourse.org;

import dev.bourse.access.Members;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Revocations;
import dev.bourse.access.Tokens;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates, renames and retires organizations, for operators. */
public final class OrgAdminService {
  private static final Logger LOG = LoggerFactory.getLogger(OrgAdminService.class);

  private final Database database;
  private final OrgStore store;
  private final Tokens tokens;
  private final Members members;
  private final List<Offboarding> offboardings;
  private final Function<String, Future<Void>> release;
  private final Clock clock;

  /**
   * @param offboardings end the items of other packages when the organization is retired
   * @param release disarms a cluster's writes, ends its declaration and releases all its nodes;
   *     idempotent
   */
  public OrgAdminService(
      Database database,
      Tokens tokens,
      Members members,
      List<Offboarding> offboardings,
      Function<String, Future<Void>> release,
      Clock clock) {
    this.database = database;
    this.members = members;
    this.offboardings = List.copyOf(offboardings);
    this.store = new OrgStore(database);
    this.tokens = tokens;
    this.release = release;
    this.clock = clock;
  }

  /** A page of all organizations, by id. */
  public Future<Page<Org>> list(int limit, Optional<String> after) {
    return store.list(limit, after);
  }

  /** The existing ones among these organizations, by id. */
  public Future<List<Org>> list(List<String> ids) {
    return store.list(ids);
  }

  /** One organization; {@code not-found} if it does not exist. */
  public Future<Org> read(String orgId) {
    return store.get(orgId);
  }

  /** Creates an organization; {@code conflict} when its id belongs to another, retired or not. */
  public Future<Org> create(
      String actor, String orgId, String display, String kind, Optional<Integer> maxClusters) {
    Org org = new Org(orgId, display, kind, maxClusters.orElse(null), clock.millis(), null);
    List<String> detail = new ArrayList<>(List.of("display=" + Text.shown(display)));
    detail.add("kind=" + kind);
    maxClusters.ifPresent(most -> detail.add("max_clusters=" + most));
    return database
        .commit(
            List.of(
                OrgStore.ORG
                    .insert(org, "ON CONFLICT (org_id) DO NOTHING")
                    .orElse(
                        () ->
                            OrgWrite.conflict(
                                "exists", "org_id: %s is taken; an id is never used again", orgId)),
                AuditStore.insert(
                    new AuditRow(
                        org.createdAtMillis(),
                        orgId,
                        actor,
                        "org_create",
                        orgId,
                        String.join(" ", detail)))),
            List.of(new Change(Tokens.ORGANIZATION_CHANGED, orgId)))
        .compose(stored -> OrgWrite.inForce(tokens.refreshOrganization(orgId)))
        .map(
            loaded -> {
              LOG.info("organization {} created", orgId);
              return org;
            });
  }

  /**
   * Changes an organization's display name, kind or quota; empty parameters leave their value
   * unchanged.
   *
   * @param maxClusters the most clusters its members may create
   */
  public Future<Org> update(
      String actor,
      String orgId,
      Optional<String> display,
      Optional<String> kind,
      Optional<Integer> maxClusters) {
    OrgWrite write = new OrgWrite(database, orgId);
    List<String> detail = new ArrayList<>();
    display.ifPresent(
        text -> {
          write.add(Statement.of("UPDATE org SET display = ? WHERE org_id = ?", text, orgId));
          detail.add("display=" + Text.shown(text));
        });
    kind.ifPresent(
        text -> {
          write.add(Statement.of("UPDATE org SET kind = ? WHERE org_id = ?", text, orgId));
          detail.add("kind=" + text);
        });
    maxClusters.ifPresent(
        most -> {
          write.add(Statement.of("UPDATE org SET max_clusters = ? WHERE org_id = ?", most, orgId));
          detail.add("max_clusters=" + most);
        });
    return write
        .record(clock.millis(), actor, "org_update", String.join(" ", detail))
        .commit(new Change(Tokens.ORGANIZATION_CHANGED, orgId))
        .compose(stored -> OrgWrite.inForce(tokens.refreshOrganization(orgId)))
        .compose(loaded -> OrgWrite.inForce(store.get(orgId)));
  }

  /**
   * Retires an organization for good. The same commit ends its tokens, its members' sessions, the
   * grants of applications, its ownership of domains, and the items of each {@link Offboarding};
   * its members, rules and clusters stay as immutable rows. Its clusters then release their nodes;
   * {@link #releaseRetired} completes this after a crash or a failure.
   */
  public Future<Org> retire(String actor, String orgId) {
    long now = clock.millis();
    OrgWrite write = new OrgWrite(database, orgId);
    List<Change> changes =
        new ArrayList<>(
            List.of(
                new Change(Tokens.ORGANIZATION_CHANGED, orgId),
                new Change(Members.CHANGED, orgId)));
    for (Offboarding offboarding : offboardings) {
      write.addAll(offboarding.ending(new Offboarding.Author(orgId, null), now));
      changes.addAll(offboarding.changes(orgId));
    }
    return write
        .addAll(TokenStore.offboard(orgId, now))
        .add(RosterStore.endSessions(orgId))
        .add(JoinRuleStore.release(orgId))
        .addAll(Revocations.ending(orgId, now))
        .add(Statement.of("UPDATE org SET retired_at = ? WHERE org_id = ?", now, orgId))
        .record(now, actor, "org_retire", "")
        .commit(changes.toArray(new Change[0]))
        .onSuccess(stored -> LOG.info("organization {} retired", orgId))
        .compose(stored -> OrgWrite.inForce(refresh(orgId)))
        // The organization is retired even if this release fails; the job then releases the rest.
        .compose(loaded -> releaseRetired().otherwiseEmpty())
        .compose(released -> OrgWrite.inForce(store.get(orgId)));
  }

  private Future<Void> refresh(String orgId) {
    List<Future<?>> all =
        new ArrayList<>(List.of(tokens.refreshOrganization(orgId), members.refresh(orgId)));
    offboardings.forEach(offboarding -> all.add(offboarding.refresh(orgId)));
    return Future.all(all).mapEmpty();
  }

  /**
   * Makes every cluster of a retired organization release its remaining nodes. Fails if one of them
   * cannot, after the others were tried; the next call tries again.
   */
  public Future<Void> releaseRetired() {
    AtomicInteger failed = new AtomicInteger();
    return store
        .listClustersOfRetired()
        .compose(
            clusters ->
                BoundedWork.each(clusters.iterator(), cluster -> releaseOne(cluster, failed)))
        .compose(
            done ->
                failed.get() == 0
                    ? Future.succeededFuture()
                    : Future.failedFuture(
                        failed + " clusters of retired organizations are not released"));
  }

  private Future<Void> releaseOne(String cluster, AtomicInteger failed) {
    return release
        .apply(cluster)
        .otherwise(
            e -> {
              failed.incrementAndGet();
              LOG.warn(
                  """
                  cluster {} of a retired organization still holds nodes or a declaration; this is \
                  retried: {}\
                  """,
                  cluster,
                  e.toString());
              return null;
            });
  }
}
