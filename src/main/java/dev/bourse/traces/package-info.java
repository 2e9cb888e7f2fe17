/**
 * Traces: what a request did, when and for how long, as spans that a collector is sent.
 *
 * <p>{@link dev.bourse.traces.Span} and {@link dev.bourse.traces.Traces} are all that the rest of
 * the house knows, and neither does anything unless {@code trace.endpoint} is set; then {@code
 * traces.otlp} makes and sends them, the one package that knows OpenTelemetry. Without the setting
 * no class of it is loaded.
 *
 * <p>A span has what the program names: a name that is written in the code, and values under the
 * keys of {@link dev.bourse.traces.Attribute}. No path, query, header, body, address or message of
 * an error is ever among them, for a collector is read by more people than the store, and keeps
 * what it is told elsewhere.
 *
 * <p>Rejected: Vert.x' own tracing, whose spans have each request's whole address, with the secrets
 * in the links of uploads and sign-ins, and the text of queries; and which makes them for all
 * requests, the ones that are not sampled too. Sending {@code traceparent} to others: receivers of
 * webhooks and identity providers are no part of the site, and an object store's is its own.
 */
@NullMarked
package dev.bourse.traces;

import org.jspecify.annotations.NullMarked;
