/**
 * Traces: the operations of a request with their times, as spans that are exported to a collector.
 *
 * <p>Other packages use {@link dev.bourse.traces.Span} and {@link dev.bourse.traces.Traces} only,
 * and neither does anything unless {@code trace.endpoint} is set. Then {@code traces.otlp}, the one
 * package that uses OpenTelemetry, records and exports the spans. Without the setting none of its
 * classes is loaded ({@code TracesOffTest}).
 *
 * <p>A span has a name from the code, and values under the keys of {@link
 * dev.bourse.traces.Attribute}. It never contains a path, query, header, body, address or error
 * message, because a collector has more readers than the store, and keeps its data elsewhere.
 *
 * <p>Rejected: Vert.x' own tracing, whose spans contain each request's whole address, with the
 * secrets in the links of uploads and sign-ins, and the text of queries, and which creates spans
 * for unsampled requests too. Sending {@code traceparent} to other services: receivers of webhooks
 * and identity providers are not part of the site, and an object store has traces of its own.
 * OpenTelemetry's own API with its no-op tracer in place of this facade: its attributes take any
 * key and value, so no type would keep a path or an address out of a span, and a service that
 * exports none would load its classes, which {@code TracesOffTest} forbids.
 */
@NullMarked
package dev.bourse.traces;

import org.jspecify.annotations.NullMarked;
