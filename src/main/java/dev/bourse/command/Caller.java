package dev.bourse.command;

import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import java.util.Optional;

/** Who runs an operation's command: the service meant, and how its answer is printed. */
public interface Caller {
  /**
   * The service, with whatever lets the caller in.
   *
   * @throws Refused when nothing does, saying how to get it
   */
  Service service() throws Refused;

  /** The service as it answers whoever asks, of operations that take no token. */
  default Service openService() throws Refused {
    return service();
  }

  /** How answers are printed. */
  AnswerFormat format() throws Refused;

  /**
   * What an input is that is not given on the command line; empty leaves it out. Asked only for
   * inputs that {@link #knows} names.
   *
   * @param service the one {@link #service} gave
   */
  default Optional<String> known(String input, Service service) throws Refused {
    return Optional.empty();
  }

  /** Whether the caller knows a segment of a path by itself, so that nobody need type it. */
  default boolean knows(String argument) {
    return false;
  }
}
