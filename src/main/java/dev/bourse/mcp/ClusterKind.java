package dev.bourse.mcp;

import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** The kinds of clusters, by their surface. */
enum ClusterKind {
  VM,
  K8S;

  /** The kind's name in arguments and answers of tools. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The kind in the arguments; VM by default. */
  static ClusterKind of(JsonObject arguments) {
    return arguments.getString("kind", VM.label()).equals(K8S.label()) ? K8S : VM;
  }
}
