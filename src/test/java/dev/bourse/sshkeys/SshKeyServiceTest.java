package dev.bourse.sshkeys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Organization;
import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ExchangeFixture;
import dev.bourse.capacity.Sample;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The registry of ssh keys on a real store. */
class SshKeyServiceTest extends ExchangeFixture {
  private final Principal alice = caller("acme", null);
  private final SecureRandom random = new SecureRandom();

  @Test
  void theSameMaterialAgainIsTheSameKeyWithoutAnotherAuditRow() throws Exception {
    String line = newLine();
    SshKeyService.Added first = await(keys.addSshKey(alice, "acme", "a", line, null, List.of()));
    SshKeyService.Added again =
        await(keys.addSshKey(alice, "acme", "b", line + " note", null, List.of()));

    assertTrue(first.isNew());
    assertFalse(again.isNew());
    assertEquals(first.key(), again.key());
    assertEquals(List.of(1L), audits("vm_key_add"));
  }

  @Test
  void twoWhoRegisterTheSameMaterialAtOnceGetOneKey() throws Exception {
    String line = newLine();
    List<Future<SshKeyService.Added>> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      all.add(keys.addSshKey(alice, "acme", "k" + i, line, null, List.of()));
    }
    await(Future.all(all));

    assertEquals(1, all.stream().map(f -> f.result().key()).distinct().count());
    assertEquals(1, all.stream().filter(f -> f.result().isNew()).count());
    assertEquals(List.of(1L), audits("vm_key_add"));
    assertEquals(2, keys.listSshKeys(alice, "acme").size());
  }

  @Test
  void aKeyWhoseCommitWasNotAnsweredIsInForceOnceItIsAcknowledged() throws Exception {
    loseNextAnswer();
    SshKeyService.Added added =
        await(keys.addSshKey(alice, "acme", "a", newLine(), null, List.of()));

    assertTrue(added.isNew());
    assertTrue(keys.listSshKeys(alice, "acme").contains(added.key()));
  }

  /** The request was admitted before the removal or the revocation was committed. */
  @ParameterizedTest
  @ValueSource(strings = {"member:gone", "token:revoked"})
  void aCallerWhoIsGoneWhenTheCommitComesAddsNothing(String actor) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO token (token_id, org_id, name, secret_sha256, scopes, created_by,
                    created_at, revoked_at) VALUES ('revoked', 'acme', 't', 'h', '', 'm', 1, 2)\
                    """))));
    Principal gone =
        new Principal(
            new Organization("acme", "Acme", "standard"), actor, "revoked", Set.of(), null, null);

    fails(ApiException.class, keys.addSshKey(gone, "acme", "a", newLine(), null, List.of()));
    assertEquals(List.of(0L), audits("vm_key_add"));
  }

  @Test
  void twoWhoRevokeTheSameKeyAtOnceAreOneRevokeAndOneNotFound() throws Exception {
    SshKey key = await(keys.addSshKey(alice, "acme", "a", newLine(), null, List.of())).key();
    Future<SshKeyService.Revoked> first = keys.revokeSshKey(alice, "acme", key.keyId(), List.of());
    // The first call may have finished, and then the second fails by itself.
    Future<SshKeyService.Revoked> second =
        Future.succeededFuture()
            .compose(v -> keys.revokeSshKey(alice, "acme", key.keyId(), List.of()));

    assertEquals(key.keyId(), await(first).keyId());
    assertEquals(ErrorCode.NOT_FOUND, fails(ApiException.class, second).code());
    assertEquals(List.of(1L), audits("vm_key_revoke"));
  }

  @Test
  void aRevokedMaterialCanBeRegisteredAgain() throws Exception {
    String line = newLine();
    SshKey key = await(keys.addSshKey(alice, "acme", "a", line, null, List.of())).key();
    await(keys.revokeSshKey(alice, "acme", key.keyId(), List.of()));

    SshKeyService.Added again = await(keys.addSshKey(alice, "acme", "a", line, null, List.of()));

    assertTrue(again.isNew());
    assertEquals(
        List.of(again.key().publicKey()), await(keyStore.listLines(List.of(again.key().keyId()))));
  }

  @Test
  void aRevokeTellsWhichHeldNodesStillHaveTheKeyAndIsInstalledOnNoOther() throws Exception {
    adopt(Sample.active(2));

    SshKeyService.Revoked revoked = await(keys.revokeSshKey(alice, "acme", "key_1", List.of()));

    assertEquals(List.of(Sample.ip(0), Sample.ip(1)), revoked.stillOn());
    assertEquals(List.of(), await(keyStore.listLines(List.of("key_1"))));
    assertEquals(List.of(), keys.keysFor(Sample.empty()));
  }

  @Test
  void aKeyForOneClusterServesItAlone() throws Exception {
    adopt(Sample.empty());
    SshKey key = await(keys.addSshKey(alice, "acme", "a", newLine(), "c1", List.of())).key();
    Cluster other = Cluster.created("c2", "acme", "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);

    assertTrue(keys.keysFor(Sample.empty()).contains(key));
    assertFalse(keys.keysFor(other).contains(key));
    assertEquals(ErrorCode.NOT_FOUND, refusedFor("c9").code());
  }

  @Test
  void anotherOrganizationsRegistryIsNotFound() {
    Principal stranger = caller("globex", null);

    Sample.refused(ErrorCode.NOT_FOUND, () -> keys.listSshKeys(stranger, "acme"));
    Sample.refused(
        ErrorCode.NOT_FOUND, () -> keys.revokeSshKey(stranger, "acme", "key_1", List.of()));
    Sample.refused(
        ErrorCode.NOT_FOUND, () -> keys.revokeSshKey(alice, "acme", "key_9", List.of()).await());
  }

  @Test
  void theRegistryOfAnOrganizationIsBounded() throws Exception {
    for (int i = 1; i < SshKeyService.MAX_KEYS_PER_ORG; i++) {
      await(keys.addSshKey(alice, "acme", "k" + i, newLine(), null, List.of()));
    }

    Sample.refused(
        ErrorCode.BAD_REQUEST,
        () -> keys.addSshKey(alice, "acme", "more", newLine(), null, List.of()).await());
  }

  private ApiException refusedFor(String cluster) {
    return Sample.refused(
        ErrorCode.NOT_FOUND,
        () -> keys.addSshKey(alice, "acme", "a", newLine(), cluster, List.of()).await());
  }

  private List<Long> audits(String action) throws Exception {
    return integers("SELECT COUNT(*) FROM audit WHERE action = '" + action + "'");
  }

  private static Principal caller(String org, @Nullable String cluster) {
    return new Principal(
        new Organization(org, org, "standard"), "token:t", "t", Set.of(), cluster, null);
  }

  private String newLine() {
    byte[] blob = new byte[51];
    byte[] type = "ssh-ed25519".getBytes(StandardCharsets.US_ASCII);
    byte[] material = new byte[32];
    random.nextBytes(material);
    blob[3] = 11;
    System.arraycopy(type, 0, blob, 4, 11);
    blob[18] = 32;
    System.arraycopy(material, 0, blob, 19, 32);
    return "ssh-ed25519 " + Base64.getEncoder().encodeToString(blob);
  }
}
