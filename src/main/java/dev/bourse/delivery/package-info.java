/**
 * Shared machinery of deliveries to members' addresses. {@link dev.bourse.delivery.DeliveryRounds}
 * polls for pending items by a background job and tries them, in the process that holds the lease;
 * {@link dev.bourse.delivery.Schedule} chooses the queue and {@link
 * dev.bourse.delivery.DeliveryBackoff} the time of a retry, both without I/O; {@link
 * dev.bourse.delivery.DeliveryClient} makes an attempt, after {@code outbound} checked the address;
 * {@link dev.bourse.delivery.Signature} signs as the Standard Webhooks specification requires, with
 * the keys of {@link dev.bourse.delivery.SigningSecrets}; {@link dev.bourse.delivery.MemberMails}
 * notifies members of receivers that were given up.
 *
 * <p>Each kind of delivery has rounds, a lease and a client of its own, so that receivers of one
 * kind never wait for those of another.
 */
@NullMarked
package dev.bourse.delivery;

import org.jspecify.annotations.NullMarked;
