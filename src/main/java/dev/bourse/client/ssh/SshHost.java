package dev.bourse.client.ssh;

import dev.bourse.client.capacity.NamedNode;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A node's ssh settings. Values from the service are validated before they are written, so that
 * they cannot inject ssh options.
 *
 * @param name the name for people
 * @param address its IP
 * @param port of its ssh server
 * @param user the login name for tenants
 * @param hostKey the key it was granted with, as a public key line; null for a simulated machine
 * @param identity the file of the private key to log in with; null for ssh's default
 */
record SshHost(
    String name,
    String address,
    int port,
    String user,
    @Nullable String hostKey,
    @Nullable Path identity) {
  private static final int USUAL_PORT = 22;

  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}");

  private static final Pattern HOST_KEY =
      Pattern.compile("[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,8192}={0,2}");

  /**
   * A node of a cluster.
   *
   * @param user the cluster's login name
   * @param key the service's answer on its host key
   * @param identity the file of a private key, absolute
   */
  static SshHost of(NamedNode node, String user, JsonObject key, @Nullable Path identity)
      throws RefusedException {
    String hostKey = key.getString("host_key");
    if (hostKey != null && !HOST_KEY.matcher(hostKey).matches()) {
      throw unusable("host_key", hostKey);
    }
    return new SshHost(
        word("node", node.name()),
        word("public_ip", key.getString("public_ip")),
        key.getInteger("ssh_port"),
        word("ssh_user", user),
        hostKey,
        identity);
  }

  private static String word(String what, String text) throws RefusedException {
    if (!WORD.matcher(text).matches()) {
      throw unusable(what, text);
    }
    return text;
  }

  private static RefusedException unusable(String what, String text) {
    return new RefusedException(
        ExitCode.UNAVAILABLE,
        "the service sent a %s that is not safe for ssh: '%s'".formatted(what, Text.plain(text)));
  }

  static SshHost of(JsonObject json) {
    return new SshHost(
        json.getString("name"),
        json.getString("address"),
        json.getInteger("port"),
        json.getString("user"),
        json.getString("host_key"),
        json.getString("identity") == null ? null : Path.of(json.getString("identity")));
  }

  JsonObject toJson() {
    return new JsonObject()
        .put("name", name)
        .put("address", address)
        .put("port", port)
        .put("user", user)
        .put("host_key", hostKey)
        .put("identity", identity == null ? null : identity.toString());
  }

  /** The settings, by ssh_config(5). */
  private Map<String, String> settings(Path knownHosts) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("HostName", address);
    settings.put("Port", String.valueOf(port));
    settings.put("User", user);
    if (hostKey != null) {
      // Only the pinned key is accepted: a machine with another key is not the node.
      settings.put("UserKnownHostsFile", quoted(knownHosts));
      settings.put("GlobalKnownHostsFile", "/dev/null");
      settings.put("StrictHostKeyChecking", "yes");
    }
    if (identity != null) {
      settings.put("IdentityFile", quoted(identity));
      settings.put("IdentitiesOnly", "yes");
    }
    return settings;
  }

  private static String quoted(Path path) {
    return '"' + path.toString() + '"';
  }

  /** The settings as options of ssh and scp. */
  List<String> options(Path knownHosts) {
    List<String> options = new ArrayList<>();
    settings(knownHosts)
        .forEach(
            (key, value) -> {
              options.add("-o");
              options.add(key + "=" + value);
            });
    return options;
  }

  /** The settings as a block of a configuration. */
  String configuration(Path knownHosts) {
    StringBuilder block = new StringBuilder("\nHost ").append(name).append('\n');
    settings(knownHosts)
        .forEach(
            (key, value) -> block.append("  ").append(key).append(' ').append(value).append('\n'));
    return block.toString();
  }

  /** The node's line of a known-hosts file; empty without a host key. */
  String knownHost() {
    if (hostKey == null) {
      return "";
    }
    String host = port == USUAL_PORT ? address : "[%s]:%d".formatted(address, port);
    return host + ' ' + hostKey + '\n';
  }
}
