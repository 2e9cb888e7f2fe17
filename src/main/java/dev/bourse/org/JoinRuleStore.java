package dev.bourse.org;

import dev.bourse.access.Offboarding;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.store.Columns;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;

/** Rows of the rules by which people join an organization. */
final class JoinRuleStore {
  /** The most rules read at once, beyond the maximum of an organization. */
  private static final int MAX_RULES = 10_000;

  private static final Columns<JoinRule> RULE =
      Columns.<JoinRule>of("join_rule")
          .fixed("rule_id", JoinRule::ruleId)
          .fixed("org_id", JoinRule::orgId)
          .fixed("kind", rule -> rule.kind().label())
          .fixed("value", JoinRule::value)
          .fixed("created_at", JoinRule::createdAtMillis)
          .fixed("created_by", JoinRule::createdBy)
          .changing("link_expires_at", JoinRule::linkExpiresAtMillis)
          .changing("proven_at", JoinRule::provenAtMillis)
          .changing("proven_by", JoinRule::provenBy);

  private static final String SELECT =
      "SELECT %s FROM join_rule WHERE org_id = ?".formatted(RULE.names());

  private final Database database;

  JoinRuleStore(Database database) {
    this.database = database;
  }

  static Statement insert(JoinRule rule) {
    return RULE.insert(rule);
  }

  /** Stores an invitation, or renews the link of the existing one for the address. */
  static Statement insertOrRenew(JoinRule rule) {
    return RULE.insert(
        rule,
        """
        ON CONFLICT (org_id, kind, value)
        DO UPDATE SET link_expires_at = excluded.link_expires_at\
        """);
  }

  /**
   * Reads the names that the mail of an invitation mentions.
   *
   * @param actor the sender, as in audit rows
   */
  Future<Invitations.Invitation> describe(
      String orgId, String actor, String email, long expiresAtMillis) {
    return database
        .readFirst(
            """
            SELECT o.display, (SELECT m.email FROM member m WHERE m.org_id = o.org_id
            AND 'member:' || m.username = ?) AS inviter FROM org o WHERE o.org_id = ?\
            """,
            List.of(actor, orgId),
            row ->
                new Invitations.Invitation(
                    orgId,
                    row.text("display"),
                    Optional.ofNullable(row.textOrNull("inviter")).orElse(""),
                    email,
                    expiresAtMillis))
        .map(found -> found.orElseThrow(() -> ApiException.notFound("organization", orgId)));
  }

  /** A rule that no member's address has used, as SQL. */
  static final String UNCONSUMED =
      """
      NOT (kind = 'email' AND EXISTS (SELECT 1 FROM member m
      WHERE m.org_id = join_rule.org_id AND lower(m.email) = join_rule.value))\
      """;

  /** A member's unaccepted invitations, as SQL. */
  static final String SENT =
      "join_rule WHERE org_id = ? AND kind = 'email' AND created_by = ? AND " + UNCONSUMED;

  /** Activates a pending rule of kind domain; does nothing to an active one. */
  static Statement prove(String orgId, String ruleId, String actor, long nowMillis) {
    return Statement.of(
        """
        UPDATE join_rule SET proven_at = ?, proven_by = ?
        WHERE org_id = ? AND rule_id = ? AND kind = 'domain' AND proven_at IS NULL\
        """,
        nowMillis,
        actor,
        orgId,
        ruleId);
  }

  /**
   * Records that an operator approves a domain, and activates its rule if it was pending. Does
   * nothing to a rule that an operator approved before.
   */
  static Statement approve(String orgId, String ruleId, String actor, long nowMillis) {
    return Statement.of(
        """
        UPDATE join_rule SET proven_at = COALESCE(proven_at, ?), proven_by = ?
        WHERE org_id = ? AND rule_id = ? AND kind = 'domain'
        AND (proven_at IS NULL OR proven_by NOT LIKE 'operator:%')\
        """,
        nowMillis, actor, orgId, ruleId);
  }

  /** Releases the domains of a retired organization. */
  static Statement release(String orgId) {
    return Statement.of(
        """
        UPDATE join_rule SET proven_at = NULL, proven_by = NULL
        WHERE org_id = ? AND kind = 'domain' AND proven_at IS NOT NULL\
        """,
        orgId);
  }

  /** The rules that {@link #suspend} changes, as SQL. */
  private static final String VOUCHED_FOR =
      """
      join_rule WHERE org_id = ? AND kind = 'domain' AND created_by = ? AND proven_at IS NOT NULL
      AND proven_by NOT LIKE 'operator:%'\
      """;

  /**
   * Makes the domain rules pending that a leaving member added and no operator approved, with an
   * audit row for each, because the domain may be the member's own. A remaining member can have the
   * rule proven again.
   */
  static List<Statement> suspend(String orgId, String username, long nowMillis) {
    String actor = "member:" + username;
    return List.of(
        AuditStore.insertEach(
            new AuditRow(nowMillis, orgId, Offboarding.ACTOR, "rule_suspend", orgId, ""),
            "'rule_id=' || rule_id || ' value=' || value",
            VOUCHED_FOR + " ORDER BY created_at, rule_id",
            orgId,
            actor),
        Statement.of(
            "UPDATE join_rule SET proven_at = NULL, proven_by = NULL WHERE rule_id IN"
                + " (SELECT rule_id FROM "
                + VOUCHED_FOR
                + ")",
            orgId,
            actor));
  }

  /** Domains of the rules that {@link #suspend} would change, the oldest first. */
  Future<List<String>> listVouchedFor(String orgId, String username) {
    return database.read(
        "SELECT value FROM " + VOUCHED_FOR + " ORDER BY created_at, rule_id LIMIT " + MAX_RULES,
        List.of(orgId, "member:" + username),
        row -> row.text("value"));
  }

  /** Whether another organization has proven that a domain is its own. */
  Future<Boolean> isOwnedByAnother(String orgId, String domain) {
    return database.exists(
        """
        SELECT 1 FROM join_rule WHERE kind = 'domain' AND value = ? AND proven_at IS NOT NULL
        AND org_id <> ?\
        """,
        List.of(domain, orgId));
  }

  Future<Optional<JoinRule>> findDomain(String orgId, String ruleId) {
    return database.readFirst(
        SELECT + " AND rule_id = ? AND kind = 'domain'",
        List.of(orgId, ruleId),
        JoinRuleStore::rule);
  }

  /** Ends the sign-in links that were mailed with an invitation. */
  static Statement endLinks(String orgId, String ruleId) {
    return Statement.of(
        """
        DELETE FROM sign_in_link WHERE org_id = ? AND email =
        (SELECT value FROM join_rule WHERE org_id = ? AND rule_id = ? AND kind = 'email')\
        """,
        orgId,
        orgId,
        ruleId);
  }

  /** Rules of kind email whose address no member carries, the oldest first. */
  Future<List<JoinRule>> listInvitations(String orgId) {
    return database.read(
        """
        %s AND kind = 'email' AND %s ORDER BY created_at, rule_id LIMIT %d\
        """
            .formatted(SELECT, UNCONSUMED, MAX_RULES),
        List.of(orgId),
        JoinRuleStore::rule);
  }

  /** Addresses of a member's unaccepted invitations, oldest first. */
  Future<List<String>> listInvitedBy(String orgId, String username) {
    return database.read(
        """
        SELECT value FROM %s ORDER BY created_at, rule_id LIMIT %d\
        """
            .formatted(SENT, MAX_RULES),
        List.of(orgId, "member:" + username),
        row -> row.text("value"));
  }

  Future<Optional<JoinRule>> findInvitation(String orgId, String ruleId) {
    return database.readFirst(
        SELECT + " AND rule_id = ? AND kind = 'email' AND " + UNCONSUMED,
        List.of(orgId, ruleId),
        JoinRuleStore::rule);
  }

  /** Whether the address in a column matches a rule of this kind, as SQL. */
  private static String isOf(JoinRule.Kind kind, String column) {
    return column + (kind == JoinRule.Kind.DOMAIN ? " LIKE '%@' || ?" : " = ?");
  }

  /** Members whose address matches a rule, by username. */
  Future<List<Member>> listMembers(String orgId, JoinRule.Kind kind, String value, int limit) {
    return database.read(
        RosterStore.SELECT
            + " AND "
            + isOf(kind, "lower(email)")
            + " ORDER BY username LIMIT "
            + limit,
        List.of(orgId, value),
        RosterStore::member);
  }

  Future<Long> countMembers(String orgId, JoinRule.Kind kind, String value) {
    return count("member WHERE org_id = ? AND " + isOf(kind, "lower(email)"), orgId, value);
  }

  /** Invited addresses that match a rule. */
  Future<List<String>> listInvited(String orgId, JoinRule.Kind kind, String value) {
    return listInvitations(orgId)
        .map(
            found ->
                found.stream()
                    .map(JoinRule::value)
                    .filter(
                        address ->
                            kind == JoinRule.Kind.EMAIL
                                ? address.equals(value)
                                : address.endsWith('@' + value))
                    .toList());
  }

  /** The number of removed members whose address matches a rule. */
  Future<Long> countRemoved(String orgId, JoinRule.Kind kind, String value) {
    return count("removed_member WHERE org_id = ? AND " + isOf(kind, "email"), orgId, value);
  }

  private Future<Long> count(String from, String orgId, String value) {
    return database
        .readFirst(
            "SELECT COUNT(*) AS found FROM " + from,
            List.of(orgId, value),
            row -> row.integer("found"))
        .map(found -> found.orElse(0L));
  }

  /** All of an organization's rules, the oldest first. */
  Future<List<JoinRule>> listAll(String orgId) {
    return database.read(
        SELECT + " ORDER BY created_at, rule_id LIMIT " + MAX_RULES,
        List.of(orgId),
        JoinRuleStore::rule);
  }

  /** A page of an organization's rules, by id. */
  Future<Page<JoinRule>> list(String orgId, int limit, Optional<String> after) {
    return database
        .read(
            SELECT + " AND rule_id > ? ORDER BY rule_id LIMIT ?",
            List.of(orgId, after.orElse(""), limit + 1),
            JoinRuleStore::rule)
        .map(found -> Page.of(found, limit));
  }

  Future<Optional<JoinRule>> find(String orgId, JoinRule.Kind kind, String value) {
    return database.readFirst(
        SELECT + " AND kind = ? AND value = ?",
        List.of(orgId, kind.label(), value),
        JoinRuleStore::rule);
  }

  private static JoinRule rule(Row row) {
    return new JoinRule(
        row.text("rule_id"),
        row.text("org_id"),
        JoinRule.Kind.of(row.text("kind")),
        row.text("value"),
        row.integer("created_at"),
        row.text("created_by"),
        row.integerOrNull("link_expires_at"),
        row.integerOrNull("proven_at"),
        row.textOrNull("proven_by"));
  }
}
