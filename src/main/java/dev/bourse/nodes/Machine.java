package dev.bourse.nodes;

import org.jspecify.annotations.Nullable;

/**
 * One machine of an inventory.
 *
 * @param nodeId its id, which operators see and the VM surface never shows
 * @param publicIp the address at which tenants reach it
 * @param sshPort the port of its SSH server, for tenants and the provider
 * @param hostKey its pinned SSH host key as a public key line ({@code ssh-ed25519 AAAA…}); null for
 *     simulated machines only
 * @param baseline the digest of its accepted baseline; null until the first one
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

  /** A machine without a baseline. */
  public Machine(String nodeId, String publicIp, int sshPort, @Nullable String hostKey) {
    this(nodeId, publicIp, sshPort, hostKey, null);
  }

  /** Returns the machine after a new image: with another host key and no baseline yet. */
  public Machine reimaged(String newHostKey) {
    return new Machine(nodeId, publicIp, sshPort, newHostKey);
  }

  /** Returns the machine with an accepted baseline. */
  public Machine withBaseline(String digest) {
    return new Machine(nodeId, publicIp, sshPort, hostKey, digest);
  }
}
