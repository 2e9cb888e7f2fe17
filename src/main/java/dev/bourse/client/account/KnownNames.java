package dev.bourse.client.account;

import dev.bourse.client.transfer.ConfigFolder;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The clusters and nodes of one sign-in as commands saw them last, for shell completion, which
 * never calls the service. They may be out of date, and serve for nothing else; so an unreadable
 * file counts as empty, and a failed write is ignored.
 */
public final class KnownNames {
  private static final String FILE = "names.json";
  private static final String PROFILES = "profiles";
  private static final String CLUSTERS = "clusters";
  private static final String NODES = "nodes";
  private static final String CLUSTER = "cluster";
  private static final String NAME = "name";
  private static final String ADDRESS = "address";

  /** The maximum number of sign-ins; beyond it the least recently updated is dropped. */
  private static final int MOST_PROFILES = 8;

  /**
   * More clusters than a person chooses from by Tab; together with the maximum of nodes it bounds
   * the file to 1.6 MB.
   */
  private static final int MOST_CLUSTERS = 200;

  private static final int MOST_NODES = 300;

  /** The longest file that is read; written files are shorter. */
  private static final long MOST_BYTES = 2_000_000;

  /** Names and addresses without characters that are special to a shell. */
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,127}");

  private final ConfigFolder folder;
  private final String profile;

  KnownNames(ConfigFolder folder, SignInProfile profile) {
    this.folder = folder;
    this.profile = profile.name();
  }

  /**
   * A node the cluster held.
   *
   * @param name such as {@code acme-train-0}
   * @param address its public IP
   */
  public record Node(String cluster, String name, String address) {
    private boolean isPlain() {
      return isWord(cluster) && isWord(name) && isWord(address);
    }

    private JsonObject toJson() {
      return new JsonObject().put(CLUSTER, cluster).put(NAME, name).put(ADDRESS, address);
    }
  }

  private static boolean isWord(@Nullable Object text) {
    return text instanceof String word && WORD.matcher(word).matches();
  }

  /**
   * The names of clusters.
   *
   * @param kind {@code vm} or {@code k8s}; empty for both
   */
  public List<String> clusters(Optional<String> kind) {
    List<String> names = new ArrayList<>();
    clusters(entryOfProfile(read()))
        .forEach(
            (name, of) -> {
              if (kind.isEmpty() || kind.get().equals(of)) {
                names.add(name);
              }
            });
    return names;
  }

  /**
   * The nodes of clusters.
   *
   * @param cluster empty for all
   */
  public List<Node> nodes(Optional<String> cluster) {
    return nodes(entryOfProfile(read())).stream()
        .filter(node -> cluster.isEmpty() || cluster.get().equals(node.cluster()))
        .toList();
  }

  /** Replaces all clusters by those in the answer of whoami. */
  public void learnWhoami(JsonObject answer) {
    change(
        kept -> {
          Map<String, String> clusters = new LinkedHashMap<>();
          for (Object one : answer.getJsonArray(CLUSTERS, new JsonArray())) {
            JsonObject entry = (JsonObject) one;
            String name = entry.getString(NAME);
            if (isWord(name) && clusters.size() < MOST_CLUSTERS) {
              clusters.put(name, entry.getString("kind"));
            }
          }
          List<Node> nodes = new ArrayList<>(nodes(kept));
          nodes.removeIf(node -> !clusters.containsKey(node.cluster()));
          return json(clusters, nodes);
        });
  }

  /** Replaces all nodes of a VM cluster. */
  public void learnNodes(String cluster, List<Node> held) {
    if (!isWord(cluster)) {
      return;
    }
    change(
        kept -> {
          Map<String, String> clusters = new LinkedHashMap<>(clusters(kept));
          if (clusters.size() < MOST_CLUSTERS) {
            clusters.putIfAbsent(cluster, "vm");
          }
          List<Node> nodes = new ArrayList<>(nodes(kept));
          nodes.removeIf(node -> node.cluster().equals(cluster));
          held.stream().filter(Node::isPlain).forEach(nodes::add);
          return json(clusters, nodes);
        });
  }

  private static JsonObject json(Map<String, String> clusters, List<Node> nodes) {
    JsonObject named = new JsonObject();
    clusters.forEach(named::put);
    JsonArray held = new JsonArray();
    nodes.stream()
        .skip(Math.max(0, nodes.size() - MOST_NODES))
        .forEach(node -> held.add(node.toJson()));
    return new JsonObject().put(CLUSTERS, named).put(NODES, held);
  }

  private static Map<String, String> clusters(JsonObject kept) {
    Map<String, String> clusters = new LinkedHashMap<>();
    for (Map.Entry<String, Object> cluster : object(kept, CLUSTERS)) {
      if (isWord(cluster.getKey()) && cluster.getValue() instanceof String kind) {
        clusters.put(cluster.getKey(), kind);
      }
    }
    return clusters;
  }

  private static List<Node> nodes(JsonObject kept) {
    List<Node> nodes = new ArrayList<>();
    if (kept.getValue(NODES) instanceof JsonArray entry) {
      for (Object one : entry) {
        if (one instanceof JsonObject node
            && node.getValue(CLUSTER) instanceof String cluster
            && node.getValue(NAME) instanceof String name
            && node.getValue(ADDRESS) instanceof String address) {
          nodes.add(new Node(cluster, name, address));
        }
      }
    }
    nodes.removeIf(node -> !node.isPlain());
    return nodes;
  }

  private static JsonObject object(JsonObject of, String field) {
    return of.getValue(field) instanceof JsonObject object ? object : new JsonObject();
  }

  private JsonObject entryOfProfile(JsonObject content) {
    return object(object(content, PROFILES), profile);
  }

  private JsonObject read() {
    try {
      if (!Files.exists(folder.file(FILE)) || Files.size(folder.file(FILE)) > MOST_BYTES) {
        return new JsonObject();
      }
      return folder.read(FILE);
    } catch (IOException | RefusedException e) {
      return new JsonObject();
    }
  }

  /** A change of this sign-in's names. */
  @FunctionalInterface
  private interface Change {
    JsonObject of(JsonObject kept);
  }

  private void change(Change change) {
    // Most commands see the same names again, so an unchanged file is not written; a concurrent
    // command's update is equally good.
    JsonObject before = entryOfProfile(read());
    if (change.of(before).equals(before)) {
      return;
    }
    try (FileChannel lock = folder.tryLock(FILE)) {
      if (lock == null) {
        return;
      }
      JsonObject content = read();
      JsonObject profiles = object(content, PROFILES).copy();
      JsonObject changed = change.of(object(profiles, profile));
      // Appended, because the order is that of the last updates.
      profiles.remove(profile);
      profiles.put(profile, changed);
      JsonObject kept = new JsonObject();
      profiles.stream()
          .skip(Math.max(0, profiles.size() - MOST_PROFILES))
          .forEach(entry -> kept.put(entry.getKey(), entry.getValue()));
      folder.write(FILE, new JsonObject().put(PROFILES, kept));
    } catch (IOException | RefusedException e) {
      // The names are optional: the command itself has succeeded.
      return;
    }
  }
}
