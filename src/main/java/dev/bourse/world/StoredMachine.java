package dev.bourse.world;

import dev.bourse.nodes.Machine;
import dev.bourse.store.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A node as the store knows it, compared with a world file that lists it too. The store wins,
 * because operators may have changed it since the file was written.
 */
record StoredMachine(
    String nodeId, String pool, @Nullable String publicIp, long sshPort, @Nullable String hostKey) {
  static final String SQL = "SELECT node_id, pool, public_ip, ssh_port, host_key FROM node";

  /** An SSH key is algorithm and key; the rest of its line is a comment. */
  private static final int WORDS_OF_A_KEY = 2;

  static StoredMachine read(Row row) {
    return new StoredMachine(
        row.text("node_id"),
        row.text("pool"),
        row.textOrNull("public_ip"),
        row.integer("ssh_port"),
        row.textOrNull("host_key"));
  }

  /**
   * Lists the differences of a file's node from this one, each with the command that resolves it;
   * empty if there are none.
   */
  List<String> differences(String filePool, Machine file) {
    List<String> found = new ArrayList<>();
    String retire =
        """
        to move the node, retire it with `bourse admin nodes retire %s` and add the node \
        again\
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
            if the node has this key now, `bourse admin nodes replace %s --host-key '%s'` \
            pins it\
            """
                .formatted(nodeId, key))
        .ifPresent(found::add);
    return found;
  }

  /** Explains why a new node of the file cannot be created: this node has its address. */
  String addressConflict(Machine file) {
    return """
    node %s: public_ip is '%s' in the world file, which node %s in the store has; \
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
            "node %s: %s is '%s' in the world file and '%s' in the store, which is kept; %s"
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
