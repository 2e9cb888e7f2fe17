/**
 * Audit log streaming: an organization's trail is sent to an address of its own, or to a prefix of
 * its object store, as NDJSON in OCSF format.
 *
 * <p>The unit is one sealed batch of {@code audit}: its rows, then its seal. The seals are the
 * outbox, and nothing is copied: a stream has a cursor for each chain, the last batch that the
 * receiver acknowledged, and the engine of {@code delivery} sends the next one until it is
 * acknowledged, by the same name and, while its rows are kept, with the same bytes. So the receiver
 * has every batch in order and can verify the chain offline, as {@code audit} describes: a missing,
 * changed or inserted row is detected.
 *
 * <p>A stream has one attempt at a time, of the older of its chains' next batches, so that neither
 * chain waits until the other has caught up. Failed batches are retried like webhooks. A batch that
 * fails for the whole retry period switches the stream off, and members are notified by mail. When
 * it is switched on again, it continues at its position, which may be in batches whose rows are
 * purged: their seals are sent alone, and the chain stays verifiable.
 *
 * <p>Rejected: sending each row as it is written (most receivers take a batch for the cost of a
 * row, and nothing would prove completeness); a queue of deliveries as webhooks have it (the seals
 * are one already); several batches in one request (a receiver that accepts half of one would have
 * to be queried).
 */
@NullMarked
package dev.bourse.trailstream;

import org.jspecify.annotations.NullMarked;
