package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Something a model can call. A class each; what it is called, its words, hints and schemas stand
 * in the contract under {@code x-mcp-tools}, by its name.
 */
public interface Tool {
  String name();

  /** What the contract says of it, with what only the running service knows. */
  default String describe(String written) {
    return written;
  }

  /**
   * What the caller must be allowed to do for a call with these arguments; empty for anybody.
   *
   * @throws dev.bourse.core.ApiError when the arguments already tell that it would be refused
   */
  Optional<Scope> scope(JsonObject arguments);

  /**
   * Carries a call out. The arguments match the tool's schema, and the caller has the scope.
   *
   * <p>Answers a JSON object, encoded. Fails, or throws, with an {@link dev.bourse.core.ApiError}
   * as the HTTP interface would.
   */
  Future<Buffer> call(Principal caller, JsonObject arguments);

  /**
   * The same, for a tool that may take long.
   *
   * @param ifGone is given what to run if the caller goes away before the answer
   */
  default Future<Buffer> call(Principal caller, JsonObject arguments, Consumer<Runnable> ifGone) {
    return call(caller, arguments);
  }
}
