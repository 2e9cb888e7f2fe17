package dev.bourse.mcp;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The supported revisions of the protocol, the newest first. */
enum ProtocolRevision {
  /** Without sessions: each request is self-contained. */
  STATELESS("2026-07-28"),
  /** The newest revision with a handshake. */
  HANDSHAKE("2025-11-25"),
  OLDEST("2025-06-18");

  private final String label;

  ProtocolRevision(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  boolean isStateless() {
    return this == STATELESS;
  }

  static Optional<ProtocolRevision> find(String label) {
    return Arrays.stream(values()).filter(revision -> revision.label.equals(label)).findFirst();
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(ProtocolRevision::label).toList();
  }
}
