package dev.bourse.edge;

import io.vertx.core.Future;

/**
 * What one operation of a contract does, once its caller is known and its input is valid. Runs on
 * an event loop. Refuses by throwing, or failing the future with, an {@link
 * dev.bourse.core.ApiError}.
 */
@FunctionalInterface
public interface Operation {
  Future<Answer> handle(Call call);
}
