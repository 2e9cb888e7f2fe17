package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A tool that a model can call; one class each. The contract defines its title, description, hints
 * and schemas under {@code x-mcp-tools}, by its name.
 */
public interface Tool {
  String name();

  /** The contract's description, completed with data of the running service. */
  default String describe(String written) {
    return written;
  }

  /**
   * The scope the caller needs for a call with these arguments; empty if none.
   *
   * @throws dev.bourse.core.ApiException when the arguments alone show that the call would be
   *     refused
   */
  Optional<Scope> scope(JsonObject arguments);

  /**
   * Executes a call. The arguments match the tool's schema, and the caller has the scope.
   *
   * <p>Returns a JSON object, encoded. Fails or throws with an {@link
   * dev.bourse.core.ApiException}, like the HTTP API.
   */
  Future<Buffer> call(Principal caller, JsonObject arguments);

  /**
   * Executes a call that may take long.
   *
   * @param ifGone accepts an action to run if the caller disconnects before the answer
   */
  default Future<Buffer> call(Principal caller, JsonObject arguments, Consumer<Runnable> ifGone) {
    return call(caller, arguments);
  }
}
