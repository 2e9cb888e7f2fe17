package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.Times;
import dev.bourse.sshkeys.SshKey;
import dev.bourse.sshkeys.SshKeyService;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Registers or removes an ssh key of the member's organization, in two phases. */
public final class SshKeyWriteTool implements Tool {
  private static final String NAME = "ssh_key_write";
  private static final String ADD = "add";
  private static final String REMOVE = "remove";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of("phase", "confirm_token"),
          Map.of(ADD, Set.of("name", "public_key", "cluster"), REMOVE, Set.of("key_id")));

  /** A key has one version, because it never changes. */
  private static final long ONLY_VERSION = 0;

  private final SshKeyService keys;
  private final ConfirmTokens confirms;

  public SshKeyWriteTool(SshKeyService keys, ConfirmTokens confirms) {
    this.keys = keys;
    this.confirms = confirms;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CAPACITY_WRITE);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    boolean isPreview = arguments.getString("phase").equals("preview");
    return keys.requireWriter(caller, caller.org().orgId(), NAME)
        .compose(
            may ->
                arguments.getString("action").equals(ADD)
                    ? (isPreview ? previewAdd(caller, arguments) : confirmAdd(caller, arguments))
                    : (isPreview
                        ? previewRemove(caller, arguments)
                        : confirmRemove(caller, arguments)))
        .map(JsonObject::toBuffer);
  }

  private Future<JsonObject> previewAdd(Principal caller, JsonObject arguments) {
    SshKeyService.Added prepared =
        keys.prepare(
            caller,
            caller.org().orgId(),
            FIELDS.text(arguments, "name"),
            FIELDS.text(arguments, "public_key"),
            arguments.getString("cluster"));
    SshKey key = prepared.key();
    JsonObject answer = answer(arguments).put("is_registered", !prepared.isNew());
    return Future.succeededFuture(
        prepared.isNew()
            ? confirmable(answer.put("ssh_key", unregistered(key)), caller, arguments, key)
            : answer
                .put("ssh_key", key.toJson().toTree())
                .putNull("confirm_token")
                .putNull("expires_at"));
  }

  /** The key without the fields that the registry sets at the confirm. */
  private static JsonObject unregistered(SshKey key) {
    JsonObject json = key.toJson().toTree();
    List.of("key_id", "created_at", "created_by").forEach(json::remove);
    return json;
  }

  private Future<JsonObject> confirmAdd(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                keys.addSshKey(
                    caller,
                    caller.org().orgId(),
                    arguments.getString("name"),
                    arguments.getString("public_key"),
                    arguments.getString("cluster"),
                    List.of(confirms.use(confirmation))))
        .map(
            added ->
                answer(arguments)
                    .put("is_registered", true)
                    .put("ssh_key", added.key().toJson().toTree()));
  }

  private Future<JsonObject> previewRemove(Principal caller, JsonObject arguments) {
    SshKey key = keys.getSshKey(caller, caller.org().orgId(), FIELDS.text(arguments, "key_id"));
    return Future.succeededFuture(
        confirmable(
            answer(arguments)
                .put("is_registered", true)
                .put("ssh_key", key.toJson().toTree())
                .put("still_on", new JsonArray(keys.stillOn(key))),
            caller,
            arguments,
            key));
  }

  private Future<JsonObject> confirmRemove(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                keys.revokeSshKey(
                    caller,
                    caller.org().orgId(),
                    arguments.getString("key_id"),
                    List.of(confirms.use(confirmation))))
        .map(
            revoked ->
                answer(arguments)
                    .put("is_registered", false)
                    .put("key_id", revoked.keyId())
                    .put("revoked_at", Times.rfc3339(revoked.revokedAtMillis()))
                    .put("still_on", new JsonArray(revoked.stillOn())));
  }

  private static JsonObject answer(JsonObject arguments) {
    return new JsonObject()
        .put("phase", arguments.getString("phase"))
        .put("action", arguments.getString("action"));
  }

  private JsonObject confirmable(
      JsonObject preview, Principal caller, JsonObject arguments, SshKey key) {
    ConfirmTokens.IssuedToken issued =
        confirms.issue(caller, NAME, arguments, key.fingerprint(), ONLY_VERSION);
    return preview
        .put("confirm_token", issued.token())
        .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
  }
}
