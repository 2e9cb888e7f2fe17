package dev.bourse.simulation;

import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A place for a file, and the history of its uploads. */
final class UploadPlace {
  /** An acknowledged publication. */
  record Acknowledged(String itemId, int revision, String sha256) {}

  final String organization;
  final String name;

  /** All sent and publishable contents, by digest. */
  final TreeMap<String, byte[]> contents = new TreeMap<>();

  /** The last acknowledged one whose deletion was not requested. */
  @Nullable Acknowledged acknowledged;

  /** Whether the outcome of a deletion is unknown. */
  boolean isDeletionInDoubt;

  boolean isBusy;

  UploadPlace(String organization, String name) {
    this.organization = organization;
    this.name = name;
  }
}
