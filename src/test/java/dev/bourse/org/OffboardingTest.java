package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The removal of a member is one commit with the revocation of the member's tokens. */
class OffboardingTest extends StoreFixture {
  private static final int TOKENS = 3;

  private long count(String rows) throws Exception {
    return integers("SELECT COUNT(*) FROM " + rows).get(0);
  }

  /** Returns the members, live tokens and audit rows of the organization. */
  private List<Long> stored() throws Exception {
    return List.of(
        count("member WHERE org_id = 'acme'"),
        count("token WHERE org_id = 'acme' AND revoked_at IS NULL"),
        count("audit WHERE action IN ('member_remove', 'vm_token_revoke')"));
  }

  private void addMemberWithTokens() throws Exception {
    List<Statement> statements = new ArrayList<>();
    statements.add(RosterStore.insert(Member.joining("acme", "ann", "ann@acme.example", "Ann", 1)));
    for (int i = 0; i < TOKENS; i++) {
      statements.addAll(
          TokenStore.minted(
              new Token(
                  "t" + i,
                  "acme",
                  "t" + i,
                  "hash" + i,
                  EnumSet.noneOf(Scope.class),
                  null,
                  "member:ann",
                  1,
                  null),
              "operator:first"));
    }
    await(database.commit(statements));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE ON member",
        "UPDATE OF revoked_at ON token",
        "INSERT ON audit WHEN NEW.action = 'vm_token_revoke'",
        "INSERT ON audit WHEN NEW.action = 'member_remove'"
      })
  void aRemovalThatFailsAtAnyStepChangesNothing(String step) throws Exception {
    addMemberWithTokens();
    RosterService roster =
        new RosterService(
            database,
            new Tokens(new AccessStore(database), clock),
            new Members(new AccessStore(database)),
            new Revocations(database, clock),
            clock);
    await(
        database.commit(
            List.of(
                Statement.of(
                    "CREATE TRIGGER fault BEFORE %s BEGIN SELECT RAISE(ABORT, 'fault'); END"
                        .formatted(step)))));

    fails(SQLException.class, roster.remove("operator:first", "acme", "ann"));
    assertEquals(List.of(1L, (long) TOKENS, 0L), stored());

    await(database.commit(List.of(Statement.of("DROP TRIGGER fault"))));
    await(roster.remove("operator:first", "acme", "ann"));
    assertEquals(List.of(0L, 0L, TOKENS + 1L), stored());
  }
}
