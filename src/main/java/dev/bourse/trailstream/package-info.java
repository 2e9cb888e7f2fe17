/**
 * Audit log streaming: an organization has its trail sent to an address of its own, or to a prefix
 * of its object store, as NDJSON in the shape of OCSF.
 *
 * <p>What is sent is one sealed batch of {@code audit}, its rows and the seal behind them. The
 * seals are the outbox, and nothing is copied: a stream has a cursor for each chain, the last batch
 * that the receiver has taken, and {@link dev.bourse.trailstream.Streamer} sends the next one until
 * it is taken, by the same name and, while its rows are kept, with the same bytes. So the receiver
 * has every batch, in its order, and can prove it offline, by {@code audit}'s proof: what is
 * missing, changed or put in shows.
 *
 * <p>A stream has one attempt at a time, of the older of its chains' next batches, so that neither
 * chain waits for the other to be caught up with. What the receiver does not take is tried again as
 * webhooks are, and when it is not taken for as long as is set, the stream is switched off and
 * members are told by mail; switched on again it goes on where it stopped, which may then be
 * batches whose rows are purged: their seals are sent alone, and the chain stays whole.
 *
 * <p>Rejected: sending each row as it is written (most receivers take a batch for what a row costs
 * them, and nothing would prove that all came), a queue of deliveries as webhooks have it (the
 * seals are one already), and several batches in one request (a receiver that takes half of one
 * would have to be asked which).
 */
@NullMarked
package dev.bourse.trailstream;

import org.jspecify.annotations.NullMarked;
