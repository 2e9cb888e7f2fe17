package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The spend limits of organizations as they are stored, also by the previous release. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class SpendLimitRowsTest extends StoreFixture {
  private AccountStore accounts;

  @BeforeEach
  void openAccounts() {
    accounts = new AccountStore(database);
  }

  /** The folder of the engine's steps. */
  protected String steps() {
    return "db/sqlite";
  }

  private SpendLimits limits(String orgId) throws Exception {
    return await(accounts.get(orgId, Month.at(Sample.T0))).limits();
  }

  private void set(SpendLimits seen, SpendLimits after) throws Exception {
    await(database.commit(AccountStore.limits("acme", seen, after)));
  }

  /** The statement of the previous release, which knows one limit. */
  private static Statement asBefore(String orgId, @Nullable Long micros) {
    return Statement.of(
        """
        INSERT INTO billing_org (org_id, limit_micros) VALUES (?, ?)
        ON CONFLICT (org_id) DO UPDATE SET limit_micros = excluded.limit_micros\
        """,
        orgId,
        micros);
  }

  @Test
  void theLimitInForceIsStoredForThePreviousRelease() throws Exception {
    SpendLimits both = new SpendLimits(7L, 5L);
    set(SpendLimits.NONE, both);

    assertEquals(both, limits("acme"));
    assertEquals(List.of(5L), integers("SELECT limit_micros FROM billing_org"));
  }

  @Test
  void aWriteUponLimitsThatHaveChangedStoresNothing() throws Exception {
    SpendLimits first = new SpendLimits(4L, 5L);
    set(SpendLimits.NONE, first);

    for (SpendLimits seen :
        List.of(SpendLimits.NONE, new SpendLimits(4L, null), new SpendLimits(null, 5L))) {
      fails(
          Overtaken.class,
          database.commit(AccountStore.limits("acme", seen, new SpendLimits(9L, 9L))));
    }
    assertEquals(first, limits("acme"));
  }

  @Test
  void aLimitThatThePreviousReleaseWritesIsTheMembersAndTheOperatorsStays() throws Exception {
    set(SpendLimits.NONE, new SpendLimits(7L, 5L));

    await(database.commit(List.of(asBefore("acme", 9L))));
    assertEquals(new SpendLimits(9L, 5L), limits("acme"));
    set(limits("acme"), new SpendLimits(3L, 5L));
    assertEquals(new SpendLimits(3L, 5L), limits("acme"));

    await(database.commit(List.of(asBefore("acme", null))));
    assertEquals(new SpendLimits(null, 5L), limits("acme"));
    assertEquals(List.of("acme"), await(accounts.listLimited()));
  }

  @Test
  void aLimitOfThePreviousReleaseIsTheOperatorsIfTheTrailSaysSo() throws Exception {
    of("by-operator", "operator:first", "spend_limit_set", 5L);
    of("by-member", "member:dave", "spend_limit_set", 5L);
    of("of-another", "operator:first", "spend_limit_set", 6L);
    of("without-row", null, "", 5L);
    of("cleared", "operator:first", "spend_limit_clear", null);
    of("changed", "operator:first", "spend_limit_set", 4L);
    of("changed", "member:dave", "spend_limit_set", 5L);
    await(database.commit(List.of(asBefore("of-another", 5L))));

    await(database.commit(dataSteps()));

    assertEquals(new SpendLimits(null, 5L), limits("by-operator"));
    for (String members : List.of("by-member", "of-another", "without-row", "changed")) {
      assertEquals(new SpendLimits(5L, null), limits(members), members);
    }
    assertEquals(SpendLimits.NONE, limits("cleared"));
  }

  /** Stores a limit, and its row in the trail if somebody is named. */
  private void of(String orgId, @Nullable String actor, String action, @Nullable Long micros)
      throws Exception {
    List<Statement> statements = new ArrayList<>();
    if (texts("SELECT org_id FROM org WHERE org_id = '" + orgId + "'").isEmpty()) {
      statements.add(AccessStore.insert(new Organization(orgId, orgId, "standard"), Sample.T0));
    }
    statements.add(asBefore(orgId, micros));
    if (actor != null) {
      String detail = micros == null ? "" : "limit_micros=" + micros;
      statements.add(
          AuditStore.insert(new AuditRow(Sample.T0, orgId, actor, action, orgId, detail)));
    }
    await(database.commit(statements));
  }

  /** What the step does to rows; the columns are there. */
  private List<Statement> dataSteps() throws Exception {
    String file = steps() + "/0049-operators-limit.sql";
    try (InputStream in =
        Objects.requireNonNull(getClass().getClassLoader().getResourceAsStream(file), file)) {
      String sql = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<Statement> updates = new ArrayList<>();
      for (String statement : sql.replaceAll("(?m)^--.*$", "").split(";\n", -1)) {
        if (statement.strip().startsWith("UPDATE")) {
          updates.add(Statement.of(statement.strip()));
        }
      }
      assertEquals(2, updates.size());
      return updates;
    }
  }
}
