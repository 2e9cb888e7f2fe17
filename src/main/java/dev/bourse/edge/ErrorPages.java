package dev.bourse.edge;

import dev.bourse.core.ApiError;

/** Shows a refusal to a person. Called on event loops, so it must not block. */
@FunctionalInterface
public interface ErrorPages {
  /** The page of a refusal, with the refusal's status and its {@code Retry-After}, if any. */
  Answer.Page render(ApiError refusal);
}
