package dev.bourse.capacity;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The billing holds of organizations, which billing stores. */
@FunctionalInterface
public interface Holds {
  /** Thrown when a hold changed after it was read. */
  final class HoldMovedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public HoldMovedException() {
      super("the billing hold has changed", null, false, false);
    }
  }

  /** Reads the hold that applies to an organization's clusters. */
  Future<Reading> readHold(String orgId);

  /**
   * The hold of an organization.
   *
   * @param hold the hold that applies to its clusters; null without one
   * @param fences statements that fail a commit with {@link HoldMovedException} if the hold changed
   */
  record Reading(@Nullable Hold hold, List<Statement> fences) {
    public Reading {
      fences = List.copyOf(fences);
    }
  }
}
