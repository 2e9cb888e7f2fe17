package dev.bourse.client.ssh;

import dev.bourse.client.capacity.NamedNode;
import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * OpenSSH files about the nodes of clusters: a configuration with a host for each node, and their
 * host keys. The entries of one cluster are replaced as a whole; those of others stay.
 */
final class SshFiles {
  private static final String HOSTS = "ssh-hosts.json";
  private static final String CONFIG = "ssh_config";
  private static final String KNOWN_HOSTS = "known_hosts";

  private final ConfigFolder folder;

  SshFiles(ConfigFolder folder) {
    this.folder = folder;
  }

  /** The configuration, for an Include directive in the user's own. */
  Path config() {
    return folder.file(CONFIG);
  }

  Path knownHosts() {
    return folder.file(KNOWN_HOSTS);
  }

  /**
   * Replaces the entries of a cluster.
   *
   * @param capacity the cluster's
   * @param hostKeys the service's answer on its nodes' host keys
   * @param identity the file of the private key to log in with; null for ssh's default
   * @return its nodes that can be reached, by their names
   */
  Map<String, SshHost> replace(JsonObject capacity, JsonObject hostKeys, @Nullable Path identity)
      throws RefusedException {
    String user = capacity.getJsonObject("environment").getString("ssh_user");
    Map<String, JsonObject> keys = new HashMap<>();
    for (Object key : hostKeys.getJsonArray("host_keys")) {
      keys.put(((JsonObject) key).getString("public_ip"), (JsonObject) key);
    }
    Map<String, SshHost> hosts = new HashMap<>();
    JsonArray kept = new JsonArray();
    for (NamedNode node : NamedNode.active(capacity)) {
      JsonObject key = keys.get(node.address());
      if (key != null) {
        SshHost host = SshHost.of(node, user, key, identity);
        hosts.put(node.name(), host);
        kept.add(host.toJson());
      }
    }
    folder.locked(
        HOSTS,
        () -> {
          JsonObject clusters = folder.read(HOSTS).put(capacity.getString("cluster"), kept);
          folder.write(HOSTS, clusters);
          write(all(clusters));
          return true;
        });
    return hosts;
  }

  private static List<SshHost> all(JsonObject clusters) {
    List<SshHost> hosts = new ArrayList<>();
    for (String cluster : clusters.fieldNames()) {
      clusters.getJsonArray(cluster).forEach(host -> hosts.add(SshHost.of((JsonObject) host)));
    }
    return hosts;
  }

  private void write(List<SshHost> hosts) throws RefusedException {
    StringBuilder config =
        new StringBuilder("# Written by bourse ssh-config, which replaces it.\n");
    StringBuilder known = new StringBuilder();
    for (SshHost host : hosts) {
      config.append(host.configuration(knownHosts()));
      known.append(host.knownHost());
    }
    folder.write(CONFIG, config.toString());
    folder.write(KNOWN_HOSTS, known.toString());
  }
}
