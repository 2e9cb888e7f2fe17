package dev.bourse.world;

import dev.bourse.nodes.Machine;
import dev.bourse.store.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A machine as the store knows it, to be held against a world file that names it too. The store
 * stands: operators may have changed it since the file was written.
 */
record StoredMachine(
    String nodeId, String pool, @Nullable String publicIp, long sshPort, @Nullable String hostKey) {
  static final String SQL = "SELECT node_id, pool, public_ip, ssh_port, host_key FROM node";

  /** Algorithm and key; what follows in a line is a comment. */
  private static final int WORDS_OF_A_KEY = 2;

  static StoredMachine read(Row row) {
    return new StoredMachine(
        row.text("node_id"),
        row.text("pool"),
        row.textOrNull("public_ip"),
        row.integer("ssh_port"),
        row.textOrNull("host_key"));
  }

  /** What a file says otherwise about this node, each with what to do; empty when nothing. */
  List<String> differences(String filePool, Machine file) {
    List<String> found = new ArrayList<>();
    String retire =
        """
        to move the node, retire it with `bourse admin nodes retire %s` and add the machine \
        anew\
        """
            .formatted(nodeId);
    compare("pool", filePool, pool, retire).ifPresent(found::add);
    compare("public_ip", file.publicIp(), publicIp, retire).ifPresent(found::add);
    compare("ssh_port", String.valueOf(file.sshPort()), String.valueOf(sshPort), retire)
        .ifPresent(found::add);
    String key = key(file.hostKey());
    compare(
            "host_key",
            key,
            key(hostKey),
            """
            if the machine has this key now, `bourse admin nodes replace %s --host-key '%s'` \
            pins it\
            """
                .formatted(nodeId, key))
        .ifPresent(found::add);
    return found;
  }

  /** Why a machine that a file lists anew cannot be had: its address is this node's. */
  String inTheWayOf(Machine file) {
    return """
    node %s: public_ip is '%s' in the world file, which is that of node %s in the store; \
    call it %s in the file, or retire that node with `bourse admin nodes retire %s`\
    """
        .formatted(file.nodeId(), file.publicIp(), nodeId, nodeId, nodeId);
  }

  private Optional<String> compare(
      String field, @Nullable String file, @Nullable String stored, String remedy) {
    String filed = file == null ? "" : file;
    String kept = stored == null ? "" : stored;
    return filed.equals(kept)
        ? Optional.empty()
        : Optional.of(
            "node %s: %s is '%s' in the world file and '%s' in the store, which stands; %s"
                .formatted(nodeId, field, filed, kept, remedy));
  }

  private static @Nullable String key(@Nullable String line) {
    if (line == null) {
      return null;
    }
    List<String> words = List.of(line.strip().split("\\s+", -1));
    return String.join(" ", words.subList(0, Math.min(WORDS_OF_A_KEY, words.size())));
  }
}
