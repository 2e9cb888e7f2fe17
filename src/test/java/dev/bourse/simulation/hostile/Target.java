package dev.bourse.simulation.hostile;

import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A service with objects for requests. */
public interface Target {
  /** The port it listens on. */
  int port();

  /**
   * Returns the samples by name; each call of a sample creates a request that is accepted now, with
   * new objects if the previous ones were used up.
   */
  Map<String, Supplier<AcceptedRequest>> samples();

  /** Fails unless the contract allows the answer to this request. */
  void judge(String method, String target, int status, @Nullable String json);

  /** Returns the stored state that a rejected request must not change, by place. */
  Map<String, String> stored() throws IOException;
}
