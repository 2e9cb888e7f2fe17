package dev.bourse.checkpoint;

import java.util.Locale;

/** Who a checkpoint is for. With the organization and the file name it makes a place. */
public enum Visibility {
  /** The organization that published it. */
  ORG,
  /** Everybody, once it passed review. */
  PUBLIC;

  /** As contracts and the store spell it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Visibility of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}
