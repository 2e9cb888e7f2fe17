package dev.bourse.sshkeys;

import dev.bourse.schemas.vm.SshKeyJson;
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
  public SshKeyJson toJson() {
    return new SshKeyJson(keyId, name, publicKey, fingerprint, cluster, createdAtMillis, createdBy);
  }
}
