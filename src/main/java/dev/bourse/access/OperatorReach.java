package dev.bourse.access;

import dev.bourse.core.Text;
import org.jspecify.annotations.Nullable;

/**
 * How far an operator's token reaches.
 *
 * @param isReadOnly whether its bearer may look and change nothing
 * @param site the one site whose machines its bearer keeps, and nothing else; null for the platform
 */
public record OperatorReach(boolean isReadOnly, @Nullable String site) {
  /** The whole platform, to do all that operators do. */
  public static final OperatorReach ALL = new OperatorReach(false, null);

  /** Whether there is nothing of the platform that is beyond it. */
  public boolean isAll() {
    return equals(ALL);
  }

  /** As trails tell it, each part after a space; nothing of one that is all. */
  String told() {
    return (isReadOnly ? " read_only=true" : "")
        + (site == null ? "" : " site=" + Text.shown(site));
  }
}
