package dev.bourse.sshkeys;

import dev.bourse.core.Times;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * A registered ssh public key.
 *
 * @param keyId its id
 * @param orgId the organization that owns it
 * @param name a label for people
 * @param publicKey the key line: type, base64, comment
 * @param fingerprint {@code SHA256:…} of the key material
 * @param cluster the one cluster whose nodes get it; null for all of the organization's
 * @param createdAtMillis time of registration
 * @param createdBy the member who registered it
 */
public record SshKey(
    String keyId,
    String orgId,
    String name,
    String publicKey,
    String fingerprint,
    @Nullable String cluster,
    long createdAtMillis,
    String createdBy) {

  /** Returns true if nodes of this cluster get the key. */
  boolean servesCluster(String name) {
    return cluster == null || cluster.equals(name);
  }

  /** Returns the key as every API shows it. */
  public JsonObject toJson() {
    return new JsonObject()
        .put("key_id", keyId)
        .put("name", name)
        .put("public_key", publicKey)
        .put("fingerprint", fingerprint)
        .put("cluster", cluster)
        .put("created_at", Times.rfc3339(createdAtMillis))
        .put("created_by", createdBy);
  }
}
