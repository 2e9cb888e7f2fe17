package dev.bourse.org;

import dev.bourse.access.Members;
import dev.bourse.access.Offboarding;
import dev.bourse.access.Revocations;
import dev.bourse.access.Tokens;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Adds, changes and removes an organization's members, for operators and members. */
public final class RosterService {
  /** The most members of one organization, because its roster is read in one piece. */
  static final int MAX_MEMBERS = 2_000;

  private static final String SAME_ADDRESS =
      "EXISTS (SELECT 1 FROM member WHERE org_id = ? AND lower(email) = ? AND username <> ?)";

  private final Database database;
  private final OrgStore orgs;
  private final RosterStore store;
  private final TokenStore tokenStore;
  private final Tokens tokens;
  private final Members members;
  private final Revocations revocations;
  private final List<Offboarding> offboardings;
  private final JoinRuleStore rules;
  private final Clock clock;

  /**
   * @param tokens refreshed after revocations
   * @param members refreshed after changes of members
   * @param revocations refreshed after removals, which end members' tokens
   * @param offboardings end the items of other packages with their author
   */
  public RosterService(
      Database database,
      Tokens tokens,
      Members members,
      Revocations revocations,
      List<Offboarding> offboardings,
      Clock clock) {
    this.database = database;
    this.rules = new JoinRuleStore(database);
    this.offboardings = List.copyOf(offboardings);
    this.orgs = new OrgStore(database);
    this.store = new RosterStore(database);
    this.tokenStore = new TokenStore(database);
    this.tokens = tokens;
    this.members = members;
    this.revocations = revocations;
    this.clock = clock;
  }

  /** A page of the members of an organization, retired or not, by username. */
  public Future<Page<Member>> list(String orgId, int limit, Optional<String> after) {
    return orgs.get(orgId).compose(known -> store.list(orgId, limit, after));
  }

  /**
   * Adds a member; {@code conflict} if the username belongs or belonged to a member, or the address
   * belongs to one.
   */
  public Future<Member> add(
      String actor, String orgId, String username, String email, String name) {
    JoinRuleService.requireAddress("email", email);
    long now = clock.millis();
    Member member = Member.joining(orgId, username, email, name, now);
    return new OrgWrite(database, orgId)
        .demand(
            () ->
                OrgWrite.conflict(
                    "exists", "username: %s is a member of %s already", username, orgId),
            "NOT EXISTS (SELECT 1 FROM member WHERE org_id = ? AND username = ?)",
            orgId,
            username)
        .demand(
            () ->
                OrgWrite.conflict(
                    "used",
                    """
                    username: %s was the name of a removed member of %s, and no name is \
                    given twice; choose another one\
                    """,
                    username,
                    orgId),
            RosterStore.IS_NEW_USERNAME,
            orgId,
            username)
        .demand(() -> taken(email), "NOT " + SAME_ADDRESS, orgId, Text.folded(email), username)
        .demand(
            () ->
                OrgWrite.conflict(
                    "limit",
                    "organization %s has %s members, the most it may have",
                    orgId,
                    MAX_MEMBERS),
            "(SELECT COUNT(*) FROM member WHERE org_id = ?) < " + MAX_MEMBERS,
            orgId)
        .addAll(RosterStore.join(member))
        .record(
            now,
            actor,
            "member_add",
            "username=%s email=%s name=%s".formatted(username, Text.shown(email), Text.shown(name)))
        .commit(new Change(Members.CHANGED, orgId))
        .compose(stored -> OrgWrite.inForce(members.refresh(orgId)))
        .map(loaded -> member);
  }

  /**
   * Changes a member; empty parameters leave their value unchanged. A suspension blocks sign-ins
   * and, in the same commit, permanently ends the member's browser sessions and application grants.
   * The API tokens they minted remain valid, because the organization's work may depend on them.
   */
  public Future<Member> update(
      String actor,
      String orgId,
      String username,
      Optional<Boolean> suspended,
      Optional<String> email,
      Optional<String> name) {
    email.ifPresent(address -> JoinRuleService.requireAddress("email", address));
    long now = clock.millis();
    OrgWrite write =
        new OrgWrite(database, orgId)
            .add(
                Statement.guarded(
                    () -> unknown(username),
                    "UPDATE member SET username = username WHERE org_id = ? AND username = ?",
                    orgId,
                    username));
    List<String> detail = new ArrayList<>(List.of("username=" + Text.shown(username)));
    email.ifPresent(
        address -> {
          write.demand(
              () -> taken(address), "NOT " + SAME_ADDRESS, orgId, Text.folded(address), username);
          write.add(RosterStore.removeRule(orgId, username));
          write.add(set("email = ?", address, orgId, username));
          detail.add("email=" + Text.shown(address));
        });
    name.ifPresent(
        text -> {
          write.add(set("name = ?", text, orgId, username));
          detail.add("name=" + Text.shown(text));
        });
    suspended.ifPresent(
        on -> {
          // A repeated suspension keeps the time of the first.
          write.add(
              on
                  ? set("suspended_at = COALESCE(suspended_at, ?)", now, orgId, username)
                  : set("suspended_at = ?", null, orgId, username));
          if (on) {
            // Otherwise they would be valid again when the suspension ends.
            write.add(RosterStore.endSessions(orgId, username));
            write.addAll(revocations.ending(orgId, username));
          }
          detail.add("suspended=" + on);
        });
    return write
        .record(now, actor, "member_update", String.join(" ", detail))
        .commit(new Change(Members.CHANGED, orgId), ended(orgId, username))
        .compose(
            stored ->
                OrgWrite.inForce(
                    Future.all(members.refresh(orgId), revocations.refreshMember(orgId, username))))
        .compose(loaded -> OrgWrite.inForce(store.find(orgId, username)))
        .map(found -> found.orElseThrow(() -> unknown(username)));
  }

  /**
   * The effects of a removal.
   *
   * @param tokens the member's API tokens, oldest first
   * @param invitations addresses the member invited that have not accepted
   * @param domains domains whose rules the member added and which become pending again
   * @param sessions the number of the member's sessions
   * @param things the descriptions by each {@link Offboarding}
   */
  public record Removal(
      List<TokenView> tokens,
      List<String> invitations,
      List<String> domains,
      long sessions,
      JsonObject things) {}

  /** Returns the effects that the removal of a member would have. Nothing is stored. */
  public Future<Removal> previewRemoval(String orgId, String username) {
    long now = clock.millis();
    Future<List<TokenView>> live = tokenStore.listLive(orgId, username, now);
    Future<List<String>> invited = rules.listInvitedBy(orgId, username);
    Future<List<String>> domains = rules.listVouchedFor(orgId, username);
    Future<Long> sessions = store.countSessions(orgId, username, now);
    Future<JsonObject> things = describe(orgId, username, Optional.empty());
    return store
        .find(orgId, username)
        .compose(
            found -> {
              if (found.isEmpty()) {
                throw unknown(username);
              }
              return Future.all(live, invited, domains, sessions, things);
            })
        .map(
            read ->
                new Removal(
                    live.result(),
                    invited.result(),
                    domains.result(),
                    sessions.result(),
                    things.result()));
  }

  private Future<JsonObject> describe(String orgId, String username, Optional<Long> endedAtMillis) {
    Offboarding.Author author = new Offboarding.Author(orgId, username);
    return Future.all(
            offboardings.stream().map(each -> each.describe(author, endedAtMillis)).toList())
        .map(
            all -> {
              JsonObject things = new JsonObject();
              all.<JsonObject>list().forEach(things::mergeIn);
              return things;
            });
  }

  /**
   * The effects of a completed removal.
   *
   * @param tokens ids of the tokens revoked, oldest first
   * @param things the descriptions by each {@link Offboarding}
   */
  public record RemovalResult(List<String> tokens, JsonObject things) {}

  /**
   * Removes a member. The same commit ends their API tokens, ssh keys and other items, each with an
   * audit row by {@link Offboarding#ACTOR}, as well as their sessions and application grants. The
   * address can join again only by an invitation.
   */
  public Future<RemovalResult> remove(String actor, String orgId, String username) {
    return remove(actor, orgId, username, new OrgWrite(database, orgId, actor));
  }

  /**
   * Like {@link #remove}, by a member; {@code conflict} for the last member who can sign in,
   * because afterwards only an operator could restore access.
   */
  public Future<RemovalResult> removeByMember(String actor, String orgId, String username) {
    return remove(
        actor,
        orgId,
        username,
        new OrgWrite(database, orgId, actor)
            .demand(
                () -> unknown(username),
                "EXISTS (SELECT 1 FROM member WHERE org_id = ? AND username = ?)",
                orgId,
                username)
            .demand(
                () ->
                    OrgWrite.conflict(
                        "last",
                        "%s is the last member of %s who may sign in; invite somebody else first",
                        username,
                        orgId),
                """
                EXISTS (SELECT 1 FROM member WHERE org_id = ? AND username <> ?
                AND suspended_at IS NULL)\
                """,
                orgId,
                username));
  }

  private Future<RemovalResult> remove(
      String actor, String orgId, String username, OrgWrite write) {
    long now = clock.millis();
    Offboarding.Author author = new Offboarding.Author(orgId, username);
    List<Change> changes =
        new ArrayList<>(
            List.of(
                new Change(Tokens.ORGANIZATION_CHANGED, orgId),
                new Change(Members.CHANGED, orgId),
                ended(orgId, username)));
    for (Offboarding offboarding : offboardings) {
      write.addAll(offboarding.ending(author, now));
      changes.addAll(offboarding.changes(orgId));
    }
    return write
        .addAll(RosterStore.remember(orgId, username, now))
        .addAll(RosterStore.withdrawInvitations(orgId, username, now))
        .addAll(JoinRuleStore.suspend(orgId, username, now))
        .add(RosterStore.endSessions(orgId, username))
        .add(
            Statement.guarded(
                () -> unknown(username),
                "DELETE FROM member WHERE org_id = ? AND username = ?",
                orgId,
                username))
        .addAll(TokenStore.offboard(orgId, username, now))
        .addAll(revocations.ending(orgId, username))
        .record(now, actor, "member_remove", "username=" + Text.shown(username))
        .commit(changes.toArray(new Change[0]))
        .compose(stored -> OrgWrite.inForce(refresh(orgId, username)))
        .compose(
            loaded ->
                OrgWrite.inForce(
                    Future.all(
                        tokenStore.listRevoked(orgId, username, now),
                        describe(orgId, username, Optional.of(now)))))
        .map(read -> new RemovalResult(read.resultAt(0), read.resultAt(1)));
  }

  private Future<Void> refresh(String orgId, String username) {
    List<Future<?>> all =
        new ArrayList<>(
            List.of(
                tokens.refreshOrganization(orgId),
                members.refresh(orgId),
                revocations.refreshMember(orgId, username)));
    offboardings.forEach(offboarding -> all.add(offboarding.refresh(orgId)));
    return Future.all(all).mapEmpty();
  }

  private static Change ended(String orgId, String username) {
    return new Change(Revocations.MEMBER_CHANGED, Revocations.memberKey(orgId, username));
  }

  private static Statement set(
      String column, @Nullable Object value, String orgId, String username) {
    return Statement.of(
        "UPDATE member SET " + column + " WHERE org_id = ? AND username = ?",
        value,
        orgId,
        username);
  }

  private static ApiException unknown(String username) {
    return ApiException.notFound("member", username);
  }

  private static ApiException taken(String email) {
    return OrgWrite.conflict(
        "exists", "email: %s is the address of another member", Text.shown(email));
  }
}
