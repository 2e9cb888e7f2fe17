package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * One machine of an inventory.
 *
 * @param nodeId its name among operators; never shown on the VM surface
 * @param publicIp the address tenants reach it at
 * @param sshPort the port of its ssh server, for tenants and the provider alike
 * @param hostKey its ssh host key as a public key line ({@code ssh-ed25519 AAAA…}), pinned; null
 *     only for machines that are not real
 * @param baseline the digest of the accepted list of what root owns on it; null until its first
 *     list
 */
public record Machine(
    String nodeId,
    String publicIp,
    int sshPort,
    @Nullable String hostKey,
    @Nullable String baseline) {
  public Machine {
    if (sshPort < 1 || sshPort > 65_535) {
      throw new IllegalArgumentException(
          "ssh port %d of node %s: must be from 1 to 65535".formatted(sshPort, nodeId));
    }
  }

  /** A machine without a list. */
  public Machine(String nodeId, String publicIp, int sshPort, @Nullable String hostKey) {
    this(nodeId, publicIp, sshPort, hostKey, null);
  }

  /** Returns the machine after a new image: with another host key and no list yet. */
  public Machine reimaged(String newHostKey) {
    return new Machine(nodeId, publicIp, sshPort, newHostKey);
  }

  /** Returns the same machine with an accepted list. */
  public Machine withBaseline(String digest) {
    return new Machine(nodeId, publicIp, sshPort, hostKey, digest);
  }
}
