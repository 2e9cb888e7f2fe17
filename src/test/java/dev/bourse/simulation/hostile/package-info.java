/**
 * Hostile input derived from the contracts: requests of an attacker or a faulty client, over a real
 * connection to a real service.
 *
 * <p>{@link dev.bourse.simulation.hostile.AttackedOperation} reads an operation from its contract.
 * {@link dev.bourse.simulation.hostile.HostileTarget} has an {@link
 * dev.bourse.simulation.hostile.AcceptedRequest} for each: a request that the service accepts, with
 * real ids and a valid credential, so that its mutations reach the operation and are not rejected
 * earlier. {@code Mutations} lists the changes: values of the body just inside and just outside
 * their limits ({@code Values}), parameters, headers ({@code HeaderMutations}) and the framing
 * ({@code FramingMutations}); bytes are flipped, cut and spliced at random. {@link
 * dev.bourse.simulation.hostile.Fuzzer} sends them, one at a time and in pairs; {@code Wire} is a
 * raw socket, so that malformed requests are sent unchanged; {@code Oracle} judges the answers, and
 * {@link dev.bourse.simulation.hostile.LoopHoldProbe} measures how long event loops are held.
 *
 * <p>The rules: no 5xx; no silence beyond two seconds; no connection that neither answers nor
 * closes; every answer is one that the contract allows; a rejected write changes nothing; the
 * service keeps answering.
 *
 * <p>To try one more value, add it to the lists of {@code Values} or {@code HeaderMutations}. A
 * mutation of another kind is one line in {@code Mutations}, {@code HeaderMutations} or {@code
 * FramingMutations}:
 *
 * <pre>{@code
 * add(Kind.BODY, "the body twice", draft -> draft.onBody = body -> twice(body));
 * }</pre>
 *
 * A {@code Draft} is the request, each part in its form on the wire. A mutation that may leave an
 * incomplete request sets {@code draft.isWhole = false}, so that silence is not a fault.
 *
 * <p>Rejected: arbitrary values from a generator of all JSON, nearly all of which the JSON parser
 * rejects; several connections at once, because a change could not be attributed to a request.
 */
@NullMarked
package dev.bourse.simulation.hostile;

import org.jspecify.annotations.NullMarked;
