package dev.bourse.edge;

import java.util.LinkedHashMap;
import java.util.Map;

/** The operations of the running service, by operationId. */
public final class Operations {
  private final Map<String, Operation> byId = new LinkedHashMap<>();

  /** Binds an operation; each operationId once. */
  public Operations bind(String operationId, Operation operation) {
    if (byId.putIfAbsent(operationId, operation) != null) {
      throw new IllegalStateException("operation " + operationId + " is bound twice");
    }
    return this;
  }

  Map<String, Operation> byId() {
    return byId;
  }
}
