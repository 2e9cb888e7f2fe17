package dev.bourse.org;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.Ids;
import dev.bourse.core.Page;
import dev.bourse.core.Text;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * Adds, proves, approves and removes the rules by which people join an organization, for operators
 * and members.
 */
public final class JoinRuleService {
  /**
   * Rules of one organization that no member has used; each member can add one more to the total.
   * The roster is read in one piece.
   */
  static final int MAX_RULES = 1_000;

  /** Members that a preview names: enough to recognize a wrong domain. */
  static final int MAX_PREVIEWED = 100;

  /** How long an invitation's sign-in link works. */
  public static final Duration LINK_VALIDITY = Duration.ofDays(3);

  private static final Pattern ADDRESS = Pattern.compile("[!-?A-~]{1,64}@" + OwnableDomain.PATTERN);

  private static final String FEWER =
      "(SELECT COUNT(*) FROM join_rule WHERE org_id = ? AND %s) < %s"
          .formatted(JoinRuleStore.UNCONSUMED, MAX_RULES);

  private final Database database;
  private final OrgStore orgs;
  private final JoinRuleStore store;
  private final Clock clock;
  private final RandomGenerator random;
  private final Invitations invitations;
  private final DomainProof proof;

  /**
   * @param invitations sends the mails with links
   * @param proof looks up the DNS records of domains
   */
  public JoinRuleService(
      Database database,
      Clock clock,
      RandomGenerator random,
      Invitations invitations,
      DomainProof proof) {
    this.proof = proof;
    this.invitations = invitations;
    this.database = database;
    this.orgs = new OrgStore(database);
    this.store = new JoinRuleStore(database);
    this.clock = clock;
    this.random = random;
  }

  /** A page of the rules of an organization, retired or not, by id. */
  public Future<Page<JoinRule>> list(String orgId, int limit, Optional<String> after) {
    return orgs.get(orgId).compose(known -> store.list(orgId, limit, after));
  }

  /**
   * Adds a rule; {@code conflict} if the organization has it already. A rule of kind domain is
   * pending.
   *
   * @param value a domain or an address, in any case
   */
  public Future<JoinRule> add(String actor, String orgId, JoinRule.Kind kind, String value) {
    return add(
        new JoinRule(
            Ids.next("jr", random),
            orgId,
            kind,
            folded(kind, value),
            clock.millis(),
            actor,
            null,
            null,
            null),
        new OrgWrite(database, orgId, actor));
  }

  /**
   * Like {@link #add}, by an operator, who thereby approves a domain; {@code conflict} when another
   * organization owns it.
   */
  public Future<JoinRule> addByOperator(
      String actor, String orgId, JoinRule.Kind kind, String value) {
    String folded = folded(kind, value);
    long now = clock.millis();
    boolean isDomain = kind == JoinRule.Kind.DOMAIN;
    JoinRule rule =
        new JoinRule(
            Ids.next("jr", random),
            orgId,
            kind,
            folded,
            now,
            actor,
            null,
            isDomain ? now : null,
            isDomain ? actor : null);
    OrgWrite write = new OrgWrite(database, orgId, actor);
    return isDomain ? ownedOnce(rule, add(rule, demandUnowned(rule, write))) : add(rule, write);
  }

  private Future<JoinRule> add(JoinRule rule, OrgWrite write) {
    String orgId = rule.orgId();
    JoinRule.Kind kind = rule.kind();
    String folded = rule.value();
    return write
        .demand(
            () ->
                OrgWrite.conflict(
                    "exists",
                    "value: %s has a rule of kind %s for %s",
                    orgId,
                    kind.label(),
                    Text.shown(folded)),
            "NOT EXISTS (SELECT 1 FROM join_rule WHERE org_id = ? AND kind = ? AND value = ?)",
            orgId,
            kind.label(),
            folded)
        .demand(() -> tooMany(orgId), FEWER, orgId)
        .add(JoinRuleStore.insert(rule))
        .record(rule.createdAtMillis(), rule.createdBy(), "rule_add", detail(rule))
        .commit()
        .map(stored -> rule);
  }

  /**
   * Activates a pending rule of kind domain if the DNS record proves that the domain belongs to the
   * organization. A rule that is proven already is returned unchanged.
   *
   * @return fails with {@code conflict} if the record is not published, or another organization
   *     owns the domain; with {@code not-found} if there is no such rule
   */
  public Future<JoinRule> verify(String actor, String orgId, String ruleId) {
    return getDomain(orgId, ruleId)
        .compose(
            rule ->
                rule.isPending()
                    ? proof
                        .isPublished(rule)
                        .compose(
                            isPublished ->
                                isPublished
                                    ? prove(actor, rule, "rule_verify", JoinRuleStore::prove)
                                    : Future.failedFuture(unproven(rule)))
                    : Future.succeededFuture(rule));
  }

  /**
   * Like {@link #verify}, without the DNS record, because an operator knows the owner of the
   * domain. The approval of a rule that a member had proven is recorded too; a rule that an
   * operator approved before is returned unchanged.
   */
  public Future<JoinRule> approve(String actor, String orgId, String ruleId) {
    return orgs.get(orgId)
        .compose(
            org ->
                org.retiredAtMillis() == null
                    ? getDomain(orgId, ruleId)
                    : Future.failedFuture(OrgWrite.retired(orgId)))
        .compose(
            rule ->
                rule.isApproved()
                    ? Future.succeededFuture(rule)
                    : prove(actor, rule, "rule_approve", JoinRuleStore::approve));
  }

  /** A write that activates a rule of kind domain. */
  @FunctionalInterface
  private interface Proving {
    Statement of(String orgId, String ruleId, String actor, long nowMillis);
  }

  private Future<JoinRule> prove(String actor, JoinRule rule, String action, Proving proving) {
    long now = clock.millis();
    String orgId = rule.orgId();
    OrgWrite write =
        new OrgWrite(database, orgId, actor)
            .demand(
                () -> ApiException.notFound("join rule", rule.ruleId()),
                "EXISTS (SELECT 1 FROM join_rule WHERE org_id = ? AND rule_id = ?)",
                orgId,
                rule.ruleId());
    return ownedOnce(
            rule,
            demandUnowned(rule, write)
                .add(proving.of(orgId, rule.ruleId(), actor, now))
                .record(now, actor, action, detail(rule))
                .commit())
        .compose(stored -> OrgWrite.inForce(getDomain(orgId, rule.ruleId())));
  }

  private static OrgWrite demandUnowned(JoinRule rule, OrgWrite write) {
    return write.demand(
        () -> ownedByAnother(rule),
        """
        NOT EXISTS (SELECT 1 FROM join_rule WHERE kind = 'domain' AND value = ?
        AND proven_at IS NOT NULL AND org_id <> ?)\
        """,
        rule.value(),
        rule.orgId());
  }

  /**
   * Explains a commit that lost a race against another organization's. The store's index refuses
   * the second owner of a domain, because writes to two organizations do not wait for each other.
   */
  private <T> Future<T> ownedOnce(JoinRule rule, Future<T> commit) {
    return commit.recover(
        e ->
            e instanceof ApiException
                ? Future.failedFuture(e)
                : store
                    .isOwnedByAnother(rule.orgId(), rule.value())
                    .transform(
                        found ->
                            Future.failedFuture(
                                found.succeeded() && found.result() ? ownedByAnother(rule) : e)));
  }

  /** The detail does not name the owner, because other organizations are confidential. */
  private static ApiException ownedByAnother(JoinRule rule) {
    return OrgWrite.conflict(
        "owned",
        "value: another organization owns %s; ask the operators of this service if it is yours",
        rule.value());
  }

  private static ApiException unproven(JoinRule rule) {
    return OrgWrite.conflict(
        "unproven",
        """
        no TXT record %s with the value %s is in DNS; add it where the domain is administered and \
        try again in some minutes\
        """,
        DomainProof.recordName(rule.value()),
        DomainProof.recordValue(rule.ruleId()));
  }

  private Future<JoinRule> getDomain(String orgId, String ruleId) {
    return store
        .findDomain(orgId, ruleId)
        .map(found -> found.orElseThrow(() -> ApiException.notFound("join rule", ruleId)));
  }

  /** A rule's value in lower case; refused if it is neither an address nor an ownable domain. */
  private static String folded(JoinRule.Kind kind, String value) {
    String folded = Text.folded(value);
    if (kind == JoinRule.Kind.EMAIL) {
      requireAddress("value", value);
    } else {
      OwnableDomain.require("value", folded);
    }
    return folded;
  }

  /** All of an organization's rules, the oldest first. */
  public Future<List<JoinRule>> listAll(String orgId) {
    return store.listAll(orgId);
  }

  /** Invitations that no member has accepted, the oldest first. */
  public Future<List<JoinRule>> listInvitations(String orgId) {
    return store.listInvitations(orgId);
  }

  /**
   * The people a rule affects, as far as the service knows them.
   *
   * @param value in lower case
   * @param isThere whether the organization has the same rule already
   * @param members members with a matching address, who need no rule; at most {@link
   *     #MAX_PREVIEWED}
   * @param memberCount the number of such members
   * @param invited matching addresses that are invited already
   * @param removedCount the number of removed members with a matching address, whom a domain rule
   *     does not readmit
   */
  public record Preview(
      JoinRule.Kind kind,
      String value,
      boolean isThere,
      List<Member> members,
      long memberCount,
      List<String> invited,
      long removedCount) {}

  /** Returns the known people that a rule would affect; nothing is stored. */
  public Future<Preview> preview(String orgId, JoinRule.Kind kind, String value) {
    String folded = folded(kind, value);
    Future<Boolean> isThere = store.find(orgId, kind, folded).map(Optional::isPresent);
    Future<List<Member>> members = store.listMembers(orgId, kind, folded, MAX_PREVIEWED);
    Future<Long> memberCount = store.countMembers(orgId, kind, folded);
    Future<List<String>> invited = store.listInvited(orgId, kind, folded);
    Future<Long> removed = store.countRemoved(orgId, kind, folded);
    return Future.all(isThere, members, memberCount, invited, removed)
        .map(
            read ->
                new Preview(
                    kind,
                    folded,
                    isThere.result(),
                    members.result(),
                    memberCount.result(),
                    invited.result(),
                    removed.result()));
  }

  /** Removes a rule; {@code not-found} if there is none with this id. */
  public Future<Void> remove(String actor, String orgId, String ruleId) {
    AuditRow row = new AuditRow(clock.millis(), orgId, actor, "rule_remove", orgId, "");
    return new OrgWrite(database, orgId, actor)
        .add(
            AuditStore.insertEach(
                row,
                "'rule_id=' || rule_id || ' kind=' || kind || ' value=' || value",
                "join_rule WHERE org_id = ? AND rule_id = ?",
                orgId,
                ruleId))
        .add(
            Statement.guarded(
                () -> ApiException.notFound("join rule", ruleId),
                "DELETE FROM join_rule WHERE org_id = ? AND rule_id = ?",
                orgId,
                ruleId))
        .commit();
  }

  /**
   * An invitation.
   *
   * @param rule its rule of kind email
   * @param isNew false when the address was invited before and its link was renewed
   */
  public record InvitationResult(JoinRule rule, boolean isNew) {}

  /**
   * Invites an address: adds a rule of kind email and mails a sign-in link that works for {@link
   * #LINK_VALIDITY} from now. Inviting the address again renews the link; {@code conflict} when a
   * member has it already, {@code rate-limited} like {@link Invitations#count}.
   */
  public Future<InvitationResult> invite(String actor, String orgId, String email) {
    requireAddress("email", email);
    return invite(actor, orgId, Text.folded(email), new OrgWrite(database, orgId, actor));
  }

  /** Renews and mails an invitation's link; {@code not-found} when there is no such invitation. */
  public Future<JoinRule> resend(String actor, String orgId, String ruleId) {
    return store
        .findInvitation(orgId, ruleId)
        .compose(
            found -> {
              JoinRule rule = found.orElseThrow(() -> noInvitation(ruleId));
              return invite(
                  actor,
                  orgId,
                  rule.value(),
                  // Without this condition an invitation withdrawn meanwhile would reappear.
                  new OrgWrite(database, orgId, actor)
                      .demand(
                          () -> noInvitation(ruleId),
                          "EXISTS (SELECT 1 FROM join_rule WHERE org_id = ? AND rule_id = ?)",
                          orgId,
                          ruleId));
            })
        .map(InvitationResult::rule);
  }

  /**
   * Withdraws an invitation and ends its mailed links; {@code not-found} when there is no such
   * invitation.
   */
  public Future<Void> withdraw(String actor, String orgId, String ruleId) {
    AuditRow row = new AuditRow(clock.millis(), orgId, actor, "invitation_withdraw", orgId, "");
    return new OrgWrite(database, orgId, actor)
        .add(
            AuditStore.insertEach(
                row,
                "'rule_id=' || rule_id || ' email=' || value",
                "join_rule WHERE org_id = ? AND rule_id = ? AND kind = 'email' AND "
                    + JoinRuleStore.UNCONSUMED,
                orgId,
                ruleId))
        .add(JoinRuleStore.endLinks(orgId, ruleId))
        .add(
            Statement.guarded(
                () -> noInvitation(ruleId),
                "DELETE FROM join_rule WHERE org_id = ? AND rule_id = ? AND kind = 'email' AND "
                    + JoinRuleStore.UNCONSUMED,
                orgId,
                ruleId))
        .commit();
  }

  private static ApiException noInvitation(String ruleId) {
    return ApiException.notFound("invitation", ruleId);
  }

  private Future<InvitationResult> invite(
      String actor, String orgId, String address, OrgWrite write) {
    invitations.count(orgId, address);
    long now = clock.millis();
    JoinRule rule =
        new JoinRule(
            Ids.next("jr", random),
            orgId,
            JoinRule.Kind.EMAIL,
            address,
            now,
            actor,
            now + LINK_VALIDITY.toMillis(),
            null,
            null);
    return write
        .demand(
            () ->
                OrgWrite.conflict(
                    "exists", "email: %s is the address of a member already", Text.shown(address)),
            "NOT EXISTS (SELECT 1 FROM member WHERE org_id = ? AND lower(email) = ?)",
            orgId,
            address)
        .demand(
            () -> tooMany(orgId),
            """
            (%s OR EXISTS (SELECT 1 FROM join_rule WHERE org_id = ?
            AND kind = 'email' AND value = ?))\
            """
                .formatted(FEWER),
            orgId,
            orgId,
            address)
        .add(JoinRuleStore.insertOrRenew(rule))
        .record(now, actor, "member_invite", "email=" + Text.shown(address))
        .commit()
        .compose(stored -> OrgWrite.inForce(store.find(orgId, JoinRule.Kind.EMAIL, address)))
        // If the rule was removed since, the caller gets it as it was written.
        .map(found -> found.orElse(rule))
        .compose(
            kept ->
                OrgWrite.inForce(
                    store
                        .describe(orgId, actor, address, now + LINK_VALIDITY.toMillis())
                        .compose(invitations::send)
                        .map(
                            sent ->
                                new InvitationResult(kept, kept.ruleId().equals(rule.ruleId())))));
  }

  /**
   * Rejects a text that is not an e-mail address.
   *
   * @throws ApiException {@code bad-request} naming the field
   */
  public static void requireAddress(String field, String email) {
    if (!ADDRESS.matcher(Text.folded(email)).matches()) {
      throw ApiException.badField(
          field, email, "an e-mail address of printable ASCII such as alice@acme.example");
    }
  }

  private static ApiException tooMany(String orgId) {
    return OrgWrite.conflict(
        "limit", "organization %s has %s join rules, the most it may have", orgId, MAX_RULES);
  }

  private static String detail(JoinRule rule) {
    return "rule_id=%s kind=%s value=%s"
        .formatted(rule.ruleId(), rule.kind().label(), rule.value());
  }
}
