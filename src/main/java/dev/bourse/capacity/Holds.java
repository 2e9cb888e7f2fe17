package dev.bourse.capacity;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What organizations are held for, as whoever keeps their accounts has it stored. */
@FunctionalInterface
public interface Holds {
  /** A hold has moved since it was read. */
  final class HoldMovedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public HoldMovedException() {
      super("the billing hold has moved", null, false, false);
    }
  }

  /** What an organization's clusters are to be under now. */
  Future<Reading> readHold(String orgId);

  /**
   * What an organization is held for.
   *
   * @param hold what its clusters are under; null for nothing
   * @param fences fail a commit with {@link HoldMovedException} when this is not so any more
   */
  record Reading(@Nullable Hold hold, List<Statement> fences) {
    public Reading {
      fences = List.copyOf(fences);
    }
  }
}
