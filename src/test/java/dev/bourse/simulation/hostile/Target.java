package dev.bourse.simulation.hostile;

import java.io.IOException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A service with something in it, for requests to be made about. */
public interface Target {
  /** The port it listens on. */
  int port();

  /**
   * How to make a sample of each kind of request; each time it is asked for, one that is accepted
   * now, with objects of its own where the last one used them up.
   */
  Map<String, Supplier<AcceptedRequest>> samples();

  /** Fails unless the answer is one that the contract allows to this request. */
  void judge(String method, String target, int status, @Nullable String json);

  /** What is stored of all that a refused request must leave alone, by where it stands. */
  Map<String, String> stored() throws IOException;
}
