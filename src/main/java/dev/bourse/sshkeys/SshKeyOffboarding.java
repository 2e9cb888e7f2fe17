package dev.bourse.sshkeys;

import dev.bourse.access.Offboarding;
import dev.bourse.store.Change;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** Revokes the ssh keys of members who leave. Held nodes keep a key until they are released. */
public final class SshKeyOffboarding implements Offboarding {
  private final SshKeyStore store;
  private final SshKeyService keys;

  public SshKeyOffboarding(SshKeyStore store, SshKeyService keys) {
    this.store = store;
    this.keys = keys;
  }

  @Override
  public List<Statement> ending(Author author, long nowMillis) {
    return SshKeyStore.offboard(author, nowMillis);
  }

  @Override
  public List<Change> changes(String orgId) {
    return List.of(new Change(SshKeyStore.CHANGED, orgId));
  }

  @Override
  public Future<Void> refresh(String orgId) {
    return keys.reload(orgId);
  }

  @Override
  public Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis) {
    Future<List<SshKey>> ended = store.listOf(author, endedAtMillis);
    Future<Long> left = store.countOthers(author);
    return Future.all(ended, left)
        .map(
            read ->
                new JsonObject()
                    .put(
                        "ssh_keys", new JsonArray(ended.result().stream().map(this::json).toList()))
                    .put("ssh_keys_left", left.result()));
  }

  private JsonObject json(SshKey key) {
    JsonArray nodes = new JsonArray();
    keys.listHolders(key)
        .forEach(
            holder ->
                nodes.add(
                    new JsonObject()
                        .put("cluster", holder.cluster())
                        .put("public_ip", holder.publicIp())));
    return new JsonObject()
        .put("key_id", key.keyId())
        .put("name", key.name())
        .put("fingerprint", key.fingerprint())
        .put("still_on", nodes);
  }
}
