package dev.bourse.sshkeys;

import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
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
    JsonArray list = new JsonArray();
    keys.listSshKeys(call.principal(), call.text("org")).forEach(key -> list.add(key.toJson()));
    return Future.succeededFuture(Answer.ok(new JsonObject().put("keys", list)));
  }

  private Future<Answer> addSshKey(Call call) {
    JsonObject body = call.body();
    return keys.addSshKey(
            call.principal(),
            call.text("org"),
            body.getString("name"),
            body.getString("public_key"),
            body.getString("cluster"),
            List.of())
        .map(
            added ->
                added.isNew()
                    ? Answer.created(added.key().toJson())
                    : Answer.ok(added.key().toJson()));
  }

  private Future<Answer> revokeSshKey(Call call) {
    return keys.revokeSshKey(call.principal(), call.text("org"), call.text("key_id"), List.of())
        .map(
            revoked ->
                Answer.ok(
                    new JsonObject()
                        .put("ok", true)
                        .put("key_id", revoked.keyId())
                        .put("revoked_at", Times.rfc3339(revoked.revokedAtMillis()))
                        .put("still_on", new JsonArray(revoked.stillOn()))));
  }
}
