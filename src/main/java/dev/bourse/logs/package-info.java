/**
 * The log: one line of text or JSON on standard error for each event, with the request it belongs
 * to.
 *
 * <p>Callers log through SLF4J, and this package is its provider ({@link
 * dev.bourse.logs.LogProvider}). Records of {@code java.util.logging} are written in the same
 * format. {@link dev.bourse.logs.LogFormat} formats a {@link dev.bourse.logs.LogLine}: control
 * characters are escaped, so that no value from outside can start a line, and the length is
 * bounded. No caller may log a token or a person's address; {@code Redaction} is a safety net under
 * that rule.
 *
 * <p>Levels: {@code error}, a person must act or data is lost; {@code warn}, something is wrong and
 * the service copes; {@code info}, events that operators want to see; {@code debug} and {@code
 * trace}, for debugging. Libraries' lines below {@code info} are never written, at any level,
 * because some libraries print the bytes they send, passwords included.
 *
 * <p>A {@link dev.bourse.logs.RequestContext} travels in the Vert.x context that each request has
 * of its own. It is available on the connection's event loop, after each answer of the store, in
 * {@code executeBlocking} and at the owner of a cluster. It is not available on the store engines'
 * own threads, which serve many requests in one batch; on the ssh client's threads; in timers and
 * background work, which belong to no request; and in callbacks of other libraries' clients.
 *
 * <p>Rejected: slf4j-simple and {@code java.util.logging}, which have no JSON format. The manager
 * of the latter also removes its handlers when a shutdown starts, so the lines of shutdown hooks
 * are lost. logback with its {@code JsonEncoder}, which has no limit on the length of a line.
 * {@code LogFormatTest} holds what this format guarantees: a line is shorter than the length at
 * which container runtimes cut it, no message forges a line, text escapes control characters and
 * U+202E, and JSON keeps a lone surrogate.
 */
@NullMarked
package dev.bourse.logs;

import org.jspecify.annotations.NullMarked;
