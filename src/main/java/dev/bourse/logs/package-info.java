/**
 * The log: one line of text or JSON on standard error for each thing said, and the request that it
 * was said for.
 *
 * <p>Whoever logs does so by SLF4J, for which this package is the provider ({@link
 * dev.bourse.logs.LogProvider}). What libraries log by {@code java.util.logging} comes out in the
 * same form. {@link dev.bourse.logs.LogFormat} makes a line of a {@link dev.bourse.logs.LogLine}:
 * control characters are escaped, so that no value from outside begins a line of its own, and the
 * length is bounded. {@code Redaction} is the net under the rule that no token and no address of a
 * person is logged; the rule is kept by whoever logs.
 *
 * <p>Levels: {@code error}, somebody has to act or something is lost; {@code warn}, something is
 * not as it should be and the service copes; {@code info}, what an operator wants to have seen;
 * {@code debug} and {@code trace}, for those who look for a fault. A library's lines below {@code
 * info} are never shown, whatever the level: some print what they send, passwords too.
 *
 * <p>A {@link dev.bourse.logs.RequestContext} goes with its request in the Vert.x context that each
 * request has of its own. So it is there on the event loop of the connection, after each answer of
 * the store, in what {@code executeBlocking} runs for it, and at the owner of a cluster. It is not
 * there on the engines' own threads, which serve many requests in one batch; on the threads of the
 * ssh client; in timers and upkeep, which belong to no request; and in callbacks of another
 * library's client that knows no such context.
 *
 * <p>Rejected: slf4j-simple, which has no other form than its own; logback, which would be another
 * megabyte and makes each start slower; {@code java.util.logging} behind slf4j-jdk14, which walks
 * the stack for each line, and whose manager takes its handlers away at the beginning of a stop, so
 * that what is said of the stop is lost.
 */
@NullMarked
package dev.bourse.logs;

import org.jspecify.annotations.NullMarked;
