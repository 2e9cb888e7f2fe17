/**
 * What all deliveries to addresses of members share, whatever is delivered: {@link
 * dev.bourse.delivery.DeliveryRounds} look for what waits and try it, in one of the processes of a
 * store; {@link dev.bourse.delivery.Schedule} says which queue has its turn and {@link
 * dev.bourse.delivery.Retries} when it is tried again, both without any I/O; {@link
 * dev.bourse.delivery.DeliveryClient} makes an attempt, past the guard of {@code outbound}; {@link
 * dev.bourse.delivery.Signature} signs as the Standard Webhooks specification has it, with what
 * {@link dev.bourse.delivery.SigningSecrets} keep; {@link dev.bourse.delivery.MemberMails} tell
 * members what was given up.
 *
 * <p>Each kind of delivery has rounds, a lease and a client of its own, so that receivers of one
 * kind never wait for those of another.
 */
@NullMarked
package dev.bourse.delivery;

import org.jspecify.annotations.NullMarked;
