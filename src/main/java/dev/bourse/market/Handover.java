package dev.bourse.market;

import dev.bourse.core.Times;
import dev.bourse.nodes.Cleaning;
import io.vertx.core.json.JsonObject;

/**
 * The record that a machine was cleaned between two tenants.
 *
 * @param allocationId the allocation that it was cleaned after; never shown to the next tenant
 * @param cleanedAtMillis when the last search found nothing more
 * @param cleaning what was done before
 */
record Handover(String allocationId, String nodeId, long cleanedAtMillis, Cleaning cleaning) {

  /** As the next tenant sees it: nothing of it names the previous one. */
  JsonObject forTenant() {
    return new JsonObject()
        .put("cleaned_at", Times.rfc3339(cleanedAtMillis))
        .put("duration_s", cleaning.seconds())
        .put("processes_ended", cleaning.processes())
        .put("files_removed", cleaning.files())
        .put("ipc_objects_removed", cleaning.objects())
        .put("baseline", cleaning.baseline());
  }

  /** As operators see it. */
  JsonObject forOperators() {
    return forTenant().put("node_id", nodeId).put("allocation_id", allocationId);
  }
}
