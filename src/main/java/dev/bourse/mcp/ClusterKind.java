package dev.bourse.mcp;

import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** The kinds of clusters, by the surface they are reached on. */
enum ClusterKind {
  VM,
  K8S;

  /** As tools take and tell it. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The kind that arguments name; VM when they name none. */
  static ClusterKind of(JsonObject arguments) {
    return arguments.getString("kind", VM.label()).equals(K8S.label()) ? K8S : VM;
  }
}
