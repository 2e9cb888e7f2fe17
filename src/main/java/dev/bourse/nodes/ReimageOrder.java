package dev.bourse.nodes;

import java.util.function.BooleanSupplier;

/**
 * A machine to be given a new image after an allocation.
 *
 * @param pool the machine's pool
 * @param allocationId the allocation that is over
 * @param id the same each time that the order is repeated, such as after a restart of the service,
 *     so that an imaging system recognises the repetition; another one after an operator's retry
 * @param remainingMillis how long it may take
 * @param isWanted false as soon as nobody waits for the answer any more; called on any thread
 */
public record ReimageOrder(
    String pool, String allocationId, String id, long remainingMillis, BooleanSupplier isWanted) {}
