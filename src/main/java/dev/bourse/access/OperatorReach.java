package dev.bourse.access;

import dev.bourse.core.Text;
import org.jspecify.annotations.Nullable;

/**
 * The reach of an operator token.
 *
 * @param isReadOnly whether its bearer may read only
 * @param site the site whose machines its bearer manages, and nothing else; null for the platform
 */
public record OperatorReach(boolean isReadOnly, @Nullable String site) {
  /** The whole platform, with all operations. */
  public static final OperatorReach ALL = new OperatorReach(false, null);

  /** Returns whether the reach is the whole platform with all operations. */
  public boolean isAll() {
    return equals(ALL);
  }

  /** Returns the reach for audit rows, each part after a space; empty if it is unrestricted. */
  String detail() {
    return (isReadOnly ? " read_only=true" : "")
        + (site == null ? "" : " site=" + Text.shown(site));
  }
}
