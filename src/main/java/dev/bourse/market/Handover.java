package dev.bourse.market;

import dev.bourse.core.Times;
import dev.bourse.nodes.Cleaning;
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
  JsonObject forTenant() {
    return new JsonObject()
        .put("cleaned_at", Times.rfc3339(cleanedAtMillis))
        .put("duration_s", cleaning.seconds())
        .put("processes_ended", cleaning.processes())
        .put("files_removed", cleaning.files())
        .put("ipc_objects_removed", cleaning.objects())
        .put("baseline", cleaning.baseline())
        .put("reimaged", replacedKey != null);
  }

  /** Returns the record for operators. */
  JsonObject forOperators() {
    return forTenant().put("node_id", nodeId).put("allocation_id", allocationId);
  }
}
