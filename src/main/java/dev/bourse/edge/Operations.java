package dev.bourse.edge;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The operations of the running service, by operationId. */
public final class Operations {
  private final Map<String, Operation> byId = new LinkedHashMap<>();
  private @Nullable ErrorPages errorPages;

  /** Binds an operation; each operationId once. */
  public Operations bind(String operationId, Operation operation) {
    if (byId.putIfAbsent(operationId, operation) != null) {
      throw new IllegalStateException("operation " + operationId + " is bound twice");
    }
    return this;
  }

  /** Shows the refusals of operations marked {@code x-errors: page}; without it they are JSON. */
  public Operations showErrors(ErrorPages renderer) {
    errorPages = renderer;
    return this;
  }

  @Nullable ErrorPages errorPages() {
    return errorPages;
  }

  Map<String, Operation> byId() {
    return byId;
  }
}
