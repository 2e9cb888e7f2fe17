package dev.bourse.org;

import dev.bourse.core.Page;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of the rules by which people join an organization. */
public final class JoinRuleStore {
  private static final String COLUMNS =
      "SELECT rule_id, kind, value, created_at, created_by, link_expires_at FROM join_rule"
          + " WHERE org_id = ?";

  private final Database database;

  JoinRuleStore(Database database) {
    this.database = database;
  }

  /** What a rule admits. */
  public enum Kind {
    /** Whoever signs in with an address of this domain. */
    DOMAIN("domain"),
    /** Whoever signs in with this address. */
    EMAIL("email");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }

    /** The kind contracts and the store spell so. */
    public static Kind of(String label) {
      for (Kind kind : values()) {
        if (kind.label.equals(label)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("no kind of join rule: " + label);
    }
  }

  /**
   * A rule.
   *
   * @param ruleId its id
   * @param kind what it admits
   * @param value the domain or the address, in lower case
   * @param createdAtMillis since when
   * @param createdBy the actor who made it
   * @param linkExpiresAtMillis until when the invitation's sign-in link works, null when it is none
   */
  public record Rule(
      String ruleId,
      Kind kind,
      String value,
      long createdAtMillis,
      String createdBy,
      @Nullable Long linkExpiresAtMillis) {}

  /** A page of an organization's rules, by id. */
  Future<Page<Rule>> list(String orgId, int limit, Optional<String> after) {
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    after.ifPresent(parameters::add);
    parameters.add(limit + 1);
    return database
        .read(
            COLUMNS + (after.isPresent() ? " AND rule_id > ?" : "") + " ORDER BY rule_id LIMIT ?",
            parameters,
            JoinRuleStore::rule)
        .map(found -> Page.of(found, limit));
  }

  Future<Optional<Rule>> find(String orgId, Kind kind, String value) {
    return database
        .read(
            COLUMNS + " AND kind = ? AND value = ?",
            List.of(orgId, kind.label(), value),
            JoinRuleStore::rule)
        .map(found -> found.stream().findFirst());
  }

  private static Rule rule(Row row) {
    return new Rule(
        row.text(0),
        Kind.of(row.text(1)),
        row.text(2),
        row.integer(3),
        row.text(4),
        row.integerOrNull(5));
  }
}
