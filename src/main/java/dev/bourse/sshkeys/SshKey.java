package dev.bourse.sshkeys;

import org.jspecify.annotations.Nullable;

/**
 * A registered ssh public key.
 *
 * @param keyId its id
 * @param orgId whose it is
 * @param name a label for people
 * @param publicKey the key line: type, base64, comment
 * @param fingerprint {@code SHA256:…} of the key material
 * @param cluster the one cluster whose nodes get it; null for all of the organization's
 * @param createdAtMillis when it was registered
 * @param createdBy by whom
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

  /** Whether nodes of this cluster get it. */
  boolean servesCluster(String name) {
    return cluster == null || cluster.equals(name);
  }
}
