package dev.bourse.simulation;

import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A place for a file, and what became of what was sent there. */
final class UploadPlace {
  /** What was acknowledged as readable. */
  record Acknowledged(String itemId, int revision, String sha256) {}

  final String organization;
  final String name;

  /** All that was sent and could be published, by its digest. */
  final TreeMap<String, byte[]> contents = new TreeMap<>();

  /** The last that was acknowledged and that nobody has asked to delete. */
  @Nullable Acknowledged acknowledged;

  /** Nobody knows whether a deletion came about. */
  boolean isDeletionInDoubt;

  boolean isBusy;

  UploadPlace(String organization, String name) {
    this.organization = organization;
    this.name = name;
  }
}
