package dev.bourse.org;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * A rule by which people join an organization when they sign in.
 *
 * @param ruleId {@code jr_…}
 * @param orgId the organization they join
 * @param kind whom the rule admits
 * @param value the domain or the address, in lower case
 * @param createdAtMillis when it was added
 * @param createdBy who added it, as audit rows name actors
 * @param linkExpiresAtMillis until when the invitation's sign-in link works, null when none was
 *     sent
 */
public record JoinRule(
    String ruleId,
    String orgId,
    Kind kind,
    String value,
    long createdAtMillis,
    String createdBy,
    @Nullable Long linkExpiresAtMillis) {
  /** Whom a rule admits. */
  public enum Kind {
    /** Whoever signs in with an address of this domain. */
    DOMAIN("domain"),
    /** Whoever signs in with this address. */
    EMAIL("email");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** The kind as contracts and the store spell it. */
    public String label() {
      return label;
    }

    /** The kind that contracts and the store spell so. */
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

  /** The rule as answers spell it. */
  public JsonObject json() {
    return new JsonObject()
        .put("rule_id", ruleId)
        .put("kind", kind.label())
        .put("value", value)
        .put("created_at", Times.rfc3339(createdAtMillis))
        .put("created_by", createdBy)
        .put("link_expires_at", Times.rfc3339OrNull(linkExpiresAtMillis));
  }
}
