package dev.bourse.command;

import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Terminal;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/**
 * The environment of an operation's command: the service, its credentials, and the output format.
 */
public interface CommandContext {
  /**
   * The service, with the caller's credentials.
   *
   * @throws RefusedException when there are none, saying how to get them
   */
  Service service() throws RefusedException;

  /** The service for operations that need no token. */
  default Service openService() throws RefusedException {
    return service();
  }

  /** How answers are printed. */
  AnswerFormat format() throws RefusedException;

  /**
   * The value of an input that is missing on the command line; empty leaves it out. Called only for
   * inputs that {@link #knows} names.
   *
   * @param service the result of {@link #service}
   */
  default Optional<String> known(String input, Service service) throws RefusedException {
    return Optional.empty();
  }

  /**
   * The shell completions for an input's value. Called after the words before it are parsed; must
   * not call the service.
   */
  default List<String> offered(RemoteOperation operation, String input) {
    return List.of();
  }

  /** The line a person types in reply to a question; empty if there is no terminal. */
  default Optional<String> answer() {
    return Terminal.line();
  }

  /** Called with an operation's answer before it is printed. */
  default void learn(RemoteOperation operation, JsonObject answer) throws RefusedException {}

  /** Whether the caller can supply a path segment, so that nobody has to type it. */
  default boolean knows(String argument) {
    return false;
  }
}
