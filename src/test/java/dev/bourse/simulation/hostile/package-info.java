/**
 * Hostile input, made from the contracts: what a caller could send who means harm or knows no
 * better, over a real connection to a real service.
 *
 * <p>{@link dev.bourse.simulation.hostile.Operation} reads an operation out of its contract. A
 * {@link dev.bourse.simulation.hostile.World} gives a {@link dev.bourse.simulation.hostile.Sample}
 * of each: a request that the service accepts, with real ids and the right credential, so that what
 * is changed in it is met by the operation and not by the door before it. {@code Mutations} lists
 * what can be changed: each value of the body to those just inside and just outside its limits
 * ({@code Values}), each parameter, header ({@code HeaderMutations}) and the framing ({@code
 * FramingMutations}); bytes are flipped, cut and spliced at random. {@link
 * dev.bourse.simulation.hostile.Fuzzer} sends them, one at a time and in pairs; {@code Wire} is a
 * bare socket, so that what is malformed goes out as it is; {@code Oracle} tells what is wrong with
 * the answers, and {@link dev.bourse.simulation.hostile.LoopProbe} how long event loops are held.
 *
 * <p>The rules: no 5xx; no silence beyond two seconds; no connection that neither answers nor
 * closes; every answer is one that the contract allows; a refused write leaves nothing behind; the
 * service goes on answering.
 *
 * <p>To have one more value tried, add it to the lists of {@code Values} or {@code
 * HeaderMutations}. A mutation of another kind is one line in {@code Mutations}, {@code
 * HeaderMutations} or {@code FramingMutations}:
 *
 * <pre>{@code
 * add(Kind.BODY, "the body twice", draft -> draft.onBody = body -> twice(body));
 * }</pre>
 *
 * where a {@code Draft} is the request, each part of it as it will stand on the wire. A mutation
 * that may leave no whole request says {@code draft.isWhole = false}, so that silence is no fault.
 *
 * <p>Rejected: values without limit from a generator of all JSON, which nearly all end at the
 * reader of JSON; and several connections at once, with which nobody could say which request left
 * something behind.
 */
@NullMarked
package dev.bourse.simulation.hostile;

import org.jspecify.annotations.NullMarked;
