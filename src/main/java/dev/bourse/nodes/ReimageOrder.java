package dev.bourse.nodes;

import java.util.function.BooleanSupplier;

/**
 * An order to give a machine a new image after an allocation.
 *
 * @param pool the machine's pool
 * @param allocationId the allocation that ended
 * @param id the idempotency key for the imaging system: the same if the order is repeated, such as
 *     after a restart of the service, and another one after an operator's retry
 * @param remainingMillis how long it may take
 * @param isWanted returns false when no caller waits for the answer any more; called on any thread
 */
public record ReimageOrder(
    String pool, String allocationId, String id, long remainingMillis, BooleanSupplier isWanted) {}
