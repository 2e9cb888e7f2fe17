package dev.bourse.mcp;

import dev.bourse.access.Scope;
import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** The kinds of clusters, by their surface. */
enum ClusterKind {
  VM(Scope.CAPACITY_READ, Scope.CAPACITY_WRITE),
  K8S(Scope.BID_READ, Scope.BID_WRITE);

  /** The scope of reads of such clusters. */
  final Scope read;

  /** The scope of writes. */
  final Scope write;

  ClusterKind(Scope read, Scope write) {
    this.read = read;
    this.write = write;
  }

  /** The kind's name in arguments and answers of tools. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The kind in the arguments; VM by default. */
  static ClusterKind of(JsonObject arguments) {
    return arguments.getString("kind", VM.label()).equals(K8S.label()) ? K8S : VM;
  }
}
