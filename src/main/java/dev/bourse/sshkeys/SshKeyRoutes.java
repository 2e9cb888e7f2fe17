package dev.bourse.sshkeys;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.vm.SshKeyListJson;
import dev.bourse.schemas.vm.SshKeyRegistrationJson;
import dev.bourse.schemas.vm.SshKeyRevocationJson;
import io.vertx.core.Future;
import java.util.List;

/** Operations of the VM contract on ssh keys. */
public final class SshKeyRoutes {
  private final SshKeyService keys;

  public SshKeyRoutes(SshKeyService keys) {
    this.keys = keys;
  }

  public void bind(Operations operations) {
    operations
        .bind("listSshKeys", this::listSshKeys)
        .bind("addSshKey", this::addSshKey)
        .bind("revokeSshKey", this::revokeSshKey);
  }

  private Future<Answer> listSshKeys(Call call) {
    return Future.succeededFuture(
        Answer.ok(toJson(keys.listSshKeys(call.principal(), call.text("org")))));
  }

  private Future<Answer> addSshKey(Call call) {
    SshKeyRegistrationJson sent = SshKeyRegistrationJson.read(call.body());
    return keys.addSshKey(
            call.principal(),
            call.text("org"),
            sent.name(),
            sent.publicKey(),
            sent.cluster(),
            List.of())
        .map(
            added ->
                added.isNew()
                    ? Answer.created(added.key().toJson())
                    : Answer.ok(added.key().toJson()));
  }

  private Future<Answer> revokeSshKey(Call call) {
    return keys.revokeSshKey(call.principal(), call.text("org"), call.text("key_id"), List.of())
        .map(SshKeyRoutes::toJson)
        .map(Answer::ok);
  }

  static SshKeyRevocationJson toJson(SshKeyService.Revoked revoked) {
    return new SshKeyRevocationJson(
        true, revoked.keyId(), revoked.revokedAtMillis(), revoked.stillOn());
  }

  static SshKeyListJson toJson(List<SshKey> keys) {
    return new SshKeyListJson(keys.stream().map(SshKey::toJson).toList());
  }
}
