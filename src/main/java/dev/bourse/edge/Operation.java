package dev.bourse.edge;

import io.vertx.core.Future;

/**
 * The handler of a contract's operation, called with an authenticated caller and valid input. Runs
 * on an event loop. Rejects a call by throwing an {@link dev.bourse.core.ApiException} or failing
 * the future with one.
 */
@FunctionalInterface
public interface Operation {
  Future<Answer> handle(Call call);
}
