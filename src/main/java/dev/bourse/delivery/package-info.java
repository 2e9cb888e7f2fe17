/**
 * Deliveries: one engine for webhooks, trail streams and stored mail.
 *
 * <p>{@link dev.bourse.delivery.DeliveryEngine} polls for pending items by a background job, tries
 * them with bounded parallelism, and decides what follows each attempt: the next item, a retry, or
 * the end. A {@link dev.bourse.delivery.DeliveryKind} is what differs: where the items are stored,
 * what the next one is, and how it is sent. {@link dev.bourse.delivery.Schedule} chooses the next
 * queue so that failing receivers leave room for others, and a {@link
 * dev.bourse.delivery.RetrySchedule} the time of a retry, both without I/O. Each kind has an engine
 * and a client of its own, so that receivers of one kind never wait for those of another.
 *
 * <p>The store is the queue: an item leaves it in the commit that records its result, so a process
 * that dies between any two steps loses nothing and may repeat the attempts that were in progress.
 * The engine holds names of queues and due times only, and loads them page by page; so its memory
 * is bounded however many receivers there are. Exactly one process delivers to a receiver: webhooks
 * and streams are delivered by the holder of a lease, and a mail by the process that claims its
 * row.
 *
 * <p>Receivers are addresses that members set. {@link dev.bourse.delivery.DeliveryClient} makes an
 * attempt, after {@code outbound} checked the address; {@link dev.bourse.delivery.Signature} signs
 * as the Standard Webhooks specification requires, with the keys of {@link
 * dev.bourse.delivery.SigningSecrets}. {@link dev.bourse.delivery.ReceiverTable} has the SQL that
 * all tables of receivers share, with the offboarding of members, and {@link
 * dev.bourse.delivery.ReceiverUpkeep} deletes expired rows.
 *
 * <p>Rejected: one table for all queues. The trail's seals are a queue already, and a copy could
 * differ from them; mail must be encrypted; and the last release reads the present tables during a
 * rolling upgrade. Also rejected: mail under a lease. Only a process with the secret key of a mail
 * can send it, and the holder of a lease may have another key while keys are rotated.
 */
@NullMarked
package dev.bourse.delivery;

import org.jspecify.annotations.NullMarked;
