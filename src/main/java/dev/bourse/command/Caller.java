package dev.bourse.command;

import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.Console;
import java.util.List;
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

  /**
   * What a shell offers where an input's value is completed. Read once the words before it are
   * parsed; never asks the service.
   */
  default List<String> offered(RemoteOperation operation, String input) {
    return List.of();
  }

  /**
   * What whoever types answers to a question that was just printed, a line; empty when nobody is
   * there to be asked.
   */
  default Optional<String> answer() {
    return Optional.ofNullable(System.console()).map(Console::readLine);
  }

  /** What an operation answered, before it is printed. */
  default void learn(RemoteOperation operation, JsonObject answer) throws Refused {}

  /** Whether the caller knows a segment of a path by itself, so that nobody need type it. */
  default boolean knows(String argument) {
    return false;
  }
}
