package dev.bourse.market;

import dev.bourse.nodes.Cleaning;
import dev.bourse.schemas.vm.HandoverJson;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * The record that a machine was cleaned between two tenants.
 *
 * @param allocationId the allocation that ended; never shown to the next tenant
 * @param cleanedAtMillis when the last search found nothing more
 * @param cleaning the results of the cleaning
 * @param replacedKey the host key that a new image of the machine replaced; null if the machine was
 *     cleaned without one
 */
record Handover(
    String allocationId,
    String nodeId,
    long cleanedAtMillis,
    Cleaning cleaning,
    @Nullable String replacedKey) {

  /** Returns the record for the next tenant. It does not identify the previous tenant. */
  HandoverJson toJson() {
    return new HandoverJson(
        cleanedAtMillis,
        cleaning.seconds(),
        cleaning.processes(),
        cleaning.files(),
        cleaning.objects(),
        cleaning.baseline(),
        replacedKey != null);
  }

  /** Returns the record for operators. */
  JsonObject forOperators() {
    return toJson().toTree().put("node_id", nodeId).put("allocation_id", allocationId);
  }
}
