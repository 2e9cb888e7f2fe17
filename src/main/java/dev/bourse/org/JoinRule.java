package dev.bourse.org;

import dev.bourse.schemas.common.DnsRecordJson;
import dev.bourse.schemas.common.RuleJson;
import org.jspecify.annotations.Nullable;

/**
 * A rule by which people join an organization when they sign in.
 *
 * @param ruleId {@code jr_…}
 * @param orgId the organization they join
 * @param kind the kind of people the rule admits
 * @param value the domain or the address, in lower case
 * @param createdAtMillis when it was added
 * @param createdBy the actor who added it, as in audit rows
 * @param linkExpiresAtMillis when the invitation's sign-in link expires, null if none was sent
 * @param provenAtMillis when the organization's ownership of the domain was proven; null for a
 *     pending rule and for one of kind email
 * @param provenBy the actor who had it proven or approved it, as in audit rows
 */
public record JoinRule(
    String ruleId,
    String orgId,
    Kind kind,
    String value,
    long createdAtMillis,
    String createdBy,
    @Nullable Long linkExpiresAtMillis,
    @Nullable Long provenAtMillis,
    @Nullable String provenBy) {
  /** The kind of people a rule admits. */
  public enum Kind {
    /** Everybody with an address of this domain, after the domain is proven. */
    DOMAIN("domain"),
    /** The person who signs in with this address. */
    EMAIL("email");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** The kind's name in contracts and the store. */
    public String label() {
      return label;
    }

    /** The kind with this name in contracts and the store. */
    public static Kind of(String label) {
      for (Kind kind : values()) {
        if (kind.label.equals(label)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("no kind of join rule: " + label);
    }
  }

  public JoinRule {
    if (ruleId.isEmpty() || value.isEmpty()) {
      throw new IllegalArgumentException(
          "a join rule has an id and a value, not '%s' and '%s'".formatted(ruleId, value));
    }
  }

  /** Whether the rule waits for a proof and admits nobody yet. */
  boolean isPending() {
    return kind == Kind.DOMAIN && provenAtMillis == null;
  }

  /** Whether an operator approved the domain, so that the rule outlives the member who added it. */
  boolean isApproved() {
    return provenBy != null && provenBy.startsWith("operator:");
  }

  /** The state's name in contracts. */
  String state() {
    return isPending() ? "pending" : "active";
  }

  /** Returns the rule as members and operators see it. */
  public RuleJson toJson() {
    return new RuleJson(
        ruleId,
        kind.label(),
        value,
        createdAtMillis,
        createdBy,
        linkExpiresAtMillis,
        state(),
        kind == Kind.DOMAIN
            ? new DnsRecordJson(
                "TXT", DomainProof.recordName(value), DomainProof.recordValue(ruleId))
            : null,
        provenAtMillis,
        provenBy);
  }
}
