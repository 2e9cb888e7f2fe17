package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A domain has one owner, even if several organizations claim it at the same moment. */
class DomainOwnershipTest extends StoreFixture {
  private static final int CLAIMS = 8;
  private static final String DOMAIN = "acme.example";

  private void addClaims() throws Exception {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      statements.add(AccessStore.insert(new Organization("org-" + i, "O", "standard"), 1));
      statements.add(
          JoinRuleStore.insert(
              new JoinRule(
                  "jr_" + i,
                  "org-" + i,
                  JoinRule.Kind.DOMAIN,
                  DOMAIN,
                  1,
                  "member:m",
                  null,
                  null,
                  null)));
    }
    await(database.commit(statements));
  }

  private JoinRuleService rules() {
    Invitations none =
        new Invitations() {
          @Override
          public void count(String orgId, String email) {}

          @Override
          public Future<Void> send(Invitation invitation) {
            return Future.succeededFuture();
          }
        };
    return new JoinRuleService(
        database, clock, new Random(1), none, new DomainProof(vertx, Optional.empty(), 1));
  }

  @Test
  void ofClaimsAtTheSameMomentOneIsProven() throws Exception {
    addClaims();
    JoinRuleService rules = rules();
    List<Future<JoinRule>> all = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      all.add(rules.approve("operator:first", "org-" + i, "jr_" + i));
    }
    await(Future.join(all).otherwiseEmpty());

    assertEquals(1, all.stream().filter(Future::succeeded).count());
    all.stream()
        .filter(Future::failed)
        .forEach(each -> assertEquals("owned", reason((ApiException) each.cause())));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM audit WHERE action = 'rule_approve'"));
  }

  @Test
  void anOperatorsApprovalOfAProvenDomainIsRecordedAndOutlivesItsAuthor() throws Exception {
    addClaims();
    await(database.commit(List.of(JoinRuleStore.prove("org-0", "jr_0", "member:m", 7))));
    JoinRule approved = await(rules().approve("operator:first", "org-0", "jr_0"));
    assertEquals("operator:first", approved.provenBy());
    assertEquals(7L, approved.provenAtMillis());
    assertEquals(approved, await(rules().approve("operator:second", "org-0", "jr_0")));
    assertEquals(
        List.of("operator:first"), texts("SELECT actor FROM audit WHERE action = 'rule_approve'"));

    await(database.commit(JoinRuleStore.suspend("org-0", "m", clock.millis())));
    assertEquals(List.of(7L), integers("SELECT proven_at FROM join_rule WHERE proven_at > 0"));
    assertEquals(List.of(), texts("SELECT detail FROM audit WHERE action = 'rule_suspend'"));
  }

  private static @Nullable Object reason(ApiException refusal) {
    return refusal.extras().get("reason");
  }

  /** Writes to two organizations do not wait for each other on PostgreSQL. */
  @Test
  void theStoreRefusesASecondOwner() throws Exception {
    addClaims();
    await(database.commit(List.of(JoinRuleStore.prove("org-0", "jr_0", "member:m", 1))));
    fails(
        SQLException.class,
        database.commit(List.of(JoinRuleStore.prove("org-1", "jr_1", "member:m", 1))));
  }
}
