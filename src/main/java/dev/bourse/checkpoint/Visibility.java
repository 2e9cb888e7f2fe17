package dev.bourse.checkpoint;

import java.util.Locale;

/** The audience of a checkpoint. Organization, visibility and file name together are its place. */
public enum Visibility {
  /** The organization that published it. */
  ORG,
  /** Everybody, after a review. */
  PUBLIC;

  /** The name in contracts and the store. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Visibility of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
