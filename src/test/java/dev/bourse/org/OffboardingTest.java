package dev.bourse.org;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Members;
import dev.bourse.access.Organization;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Sample;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.sshkeys.SshKeyOffboarding;
import dev.bourse.store.Statement;
import dev.bourse.trailstream.TrailStreams;
import dev.bourse.webhooks.Webhooks;
import io.vertx.core.json.JsonObject;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Removing a member and ending the member's items is one commit. */
class OffboardingTest extends ExchangeFixture {
  private static final int TOKENS = 3;

  /** Authors of items that are not the member's: another member, an operator, and unknown. */
  private static final List<String> OTHERS = List.of("member:bob", "operator:first", "");

  private long count(String rows) throws Exception {
    return integers("SELECT COUNT(*) FROM " + rows).get(0);
  }

  /** Returns the numbers of members, live tokens, other live items, and audit rows. */
  private List<Long> stored() throws Exception {
    return List.of(
        count("member WHERE org_id = 'acme'"),
        count("token WHERE org_id = 'acme' AND revoked_at IS NULL"),
        count("ssh_key WHERE org_id = 'acme' AND revoked_at IS NULL"),
        count("webhook_endpoint WHERE org_id = 'acme' AND disabled_at IS NULL"),
        count("trail_stream WHERE org_id = 'acme' AND disabled_at IS NULL"),
        count("join_rule WHERE org_id = 'acme' AND kind = 'email'"),
        count("audit"));
  }

  private static Statement key(String keyId, String orgId, String createdBy) {
    return Statement.of(
        """
        INSERT INTO ssh_key (key_id, org_id, name, public_key, fingerprint, created_at, created_by)
        VALUES (?, ?, 'k', ?, ?, 1, ?)\
        """,
        keyId,
        orgId,
        KEY_LINE,
        "SHA256:" + keyId,
        createdBy);
  }

  private static Statement endpoint(String id, String createdBy, @Nullable String urlBy) {
    return Statement.of(
        """
        INSERT INTO webhook_endpoint (endpoint_id, org_id, url, description, kinds, created_at,
        created_by, secret_version, revision, url_by)
        VALUES (?, 'acme', 'https://' || ? || '.example/T0k3nT0k3nT0k3nT0', '', '', 1, ?, 1, 1, ?)\
        """,
        id,
        id,
        createdBy,
        urlBy);
  }

  private static Statement invitation(String address, String createdBy) {
    return Statement.of(
        """
        INSERT INTO join_rule (rule_id, org_id, kind, value, created_at, created_by)
        VALUES (?, 'acme', 'email', ?, 1, ?)\
        """,
        "jr_" + address,
        address,
        createdBy);
  }

  private static Statement signInLink(String address) {
    return Statement.of(
        """
        INSERT INTO sign_in_link (link_sha256, email, org_id, person_name, return_to, made_at,
        expires_at) VALUES (?, ?, 'acme', '', '', 1, 2)\
        """,
        address,
        address);
  }

  /** Adds ann's items, and items of others beside each. */
  private void addThings() throws Exception {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        AccessStore.insert(new Organization("globex", "Globex", "standard"), clock.millis()));
    statements.add(key("of-ann", "acme", "member:ann"));
    statements.add(key("of-her-token", "acme", "token:t0"));
    // A username belongs to one organization.
    statements.add(key("of-globex", "globex", "member:ann"));
    statements.add(endpoint("of-ann", "member:ann", null));
    statements.add(endpoint("moved-by-ann", "member:bob", "member:ann"));
    statements.add(endpoint("moved-by-bob", "member:ann", "member:bob"));
    statements.add(
        Statement.of(
            """
            INSERT INTO webhook_delivery (endpoint_id, source, position, message_id, kind, body,
            made_at, due_at, tries) VALUES ('of-ann', '', 1, 'msg_1', 'k', '{}', 1, 1, 0)\
            """));
    statements.add(
        Statement.of(
            """
            INSERT INTO trail_stream (org_id, stream_id, destination, include_reads, writes_batch,
            tries, next_try_at, secret_version, revision, created_at, created_by, destination_by)
            VALUES ('acme', 'tst_1', 'https://of-ann.example?key=k', 0, 0, 0, 1, 1, 1, 1, 'member:bob',
            'member:ann')\
            """));
    statements.add(invitation("private@mail.example", "member:ann"));
    for (String other : OTHERS) {
      statements.add(key("of-" + other, "acme", other));
      statements.add(endpoint("of-" + other.replace(':', '-'), other, null));
      statements.add(invitation("invited-by-" + other + "@mail.example", other));
    }
    await(database.commit(statements));
    await(keys.load());
  }

  private RosterService roster() {
    return new RosterService(
        database,
        new Tokens(new AccessStore(database), clock),
        new Members(new AccessStore(database)),
        new Revocations(database, clock),
        List.of(
            new SshKeyOffboarding(keyStore, keys),
            Webhooks.offboarding(database),
            TrailStreams.offboarding(database)),
        clock);
  }

  private static List<String> each(JsonObject things, String list, String field) {
    return things.getJsonArray(list).stream()
        .map(thing -> ((JsonObject) thing).getString(field))
        .toList();
  }

  @Test
  void aRemovalEndsWhatTheMemberLeavesAndNothingElse() throws Exception {
    addMemberWithTokens();
    addThings();
    RosterService.Removal preview = await(roster().previewRemoval("acme", "ann"));
    RosterService.RemovalResult removed = await(roster().remove("operator:first", "acme", "ann"));

    assertEquals(List.of("t0", "t1", "t2"), removed.tokens());
    assertEquals(List.of("private@mail.example"), preview.invitations());
    assertEquals(List.of("of-ann", "of-her-token"), each(removed.things(), "ssh_keys", "key_id"));
    assertEquals(
        List.of("moved-by-ann", "of-ann"), each(removed.things(), "webhooks", "endpoint_id"));
    assertEquals(
        List.of("https://of-ann.example?key=k"),
        each(removed.things(), "trail_streams", "destination"));
    // The key of the fixture and those of others.
    assertEquals(1 + OTHERS.size(), removed.things().getInteger("ssh_keys_left"));
    assertEquals(preview.things(), removed.things());
    assertEquals(
        List.of(0L, 0L, 1L + OTHERS.size(), 1L + OTHERS.size(), 0L, (long) OTHERS.size()),
        stored().subList(0, 6));
    // The in-memory state that grants read.
    List<String> installed = keys.keysFor(Sample.empty()).stream().map(SshKey::keyId).toList();
    assertFalse(installed.contains("of-ann"));
    assertTrue(installed.contains("of-member:bob"));
    assertEquals(1L, count("ssh_key WHERE org_id = 'globex' AND revoked_at IS NULL"));
    assertEquals(
        List.of("author-removed"),
        texts("SELECT DISTINCT disabled_reason FROM webhook_endpoint WHERE disabled_at > 0"));
    assertEquals(
        List.of("given-up"),
        texts("SELECT outcome FROM webhook_delivery WHERE endpoint_id = 'of-ann'"));
    assertEquals(
        List.of(
            "invitation_withdraw rule_id=jr_private@mail.example email=private@mail.example",
            "trail_stream_disable stream_id=tst_1 reason=author-removed",
            "vm_key_revoke key_id=of-ann name=k fingerprint=SHA256:of-ann",
            "vm_key_revoke key_id=of-her-token name=k fingerprint=SHA256:of-her-token",
            "vm_token_revoke token_id=t0 name=t0",
            "vm_token_revoke token_id=t1 name=t1",
            "vm_token_revoke token_id=t2 name=t2",
            "webhook_disable endpoint_id=moved-by-ann reason=author-removed",
            "webhook_disable endpoint_id=of-ann reason=author-removed"),
        texts(
            """
            SELECT action || ' ' || detail FROM audit WHERE actor = 'system:offboard'
            ORDER BY action, detail\
            """));
  }

  /** A rule that a member used is removed with that member, not with its author. */
  @Test
  void aRemovalKeepsTheInvitationsThatOthersTookUp() throws Exception {
    addMemberWithTokens();
    await(
        database.commit(
            List.of(
                RosterStore.insert(Member.joining("acme", "bob", "Bob@acme.example", "Bob", 1)),
                invitation("bob@acme.example", "member:ann"),
                invitation("open@acme.example", "member:ann"),
                signInLink("bob@acme.example"),
                signInLink("open@acme.example"))));
    RosterService.Removal preview = await(roster().previewRemoval("acme", "ann"));
    await(roster().remove("operator:first", "acme", "ann"));

    assertEquals(List.of("open@acme.example"), preview.invitations());
    assertEquals(
        List.of("rule_id=jr_open@acme.example email=open@acme.example"),
        texts("SELECT detail FROM audit WHERE action = 'invitation_withdraw'"));
    assertEquals(List.of("bob@acme.example"), texts("SELECT value FROM join_rule"));
    assertEquals(List.of("bob@acme.example"), texts("SELECT email FROM sign_in_link"));
  }

  private void addMemberWithTokens() throws Exception {
    List<Statement> statements = new ArrayList<>();
    statements.add(RosterStore.insert(Member.joining("acme", "ann", "ann@acme.example", "Ann", 1)));
    for (int i = 0; i < TOKENS; i++) {
      statements.addAll(
          TokenStore.mintStatements(
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
        "UPDATE OF revoked_at ON ssh_key WHEN NEW.revoked_at IS NOT NULL",
        "UPDATE OF disabled_at ON webhook_endpoint WHEN NEW.disabled_at IS NOT NULL",
        "UPDATE OF disabled_at ON trail_stream WHEN NEW.disabled_at IS NOT NULL",
        "DELETE ON join_rule",
        "INSERT ON audit WHEN NEW.action = 'vm_token_revoke'",
        "INSERT ON audit WHEN NEW.action = 'member_remove'"
      })
  void aRemovalThatFailsAtAnyStepChangesNothing(String step) throws Exception {
    addMemberWithTokens();
    addThings();
    List<Long> before = stored();
    RosterService roster = roster();
    await(
        database.commit(
            List.of(
                Statement.of(
                    "CREATE TRIGGER fault BEFORE %s BEGIN SELECT RAISE(ABORT, 'fault'); END"
                        .formatted(step)))));

    fails(SQLException.class, roster.remove("operator:first", "acme", "ann"));
    assertEquals(before, stored());

    await(database.commit(List.of(Statement.of("DROP TRIGGER fault"))));
    await(roster.remove("operator:first", "acme", "ann"));
    assertEquals(0L, count("member WHERE org_id = 'acme'"));
  }
}
