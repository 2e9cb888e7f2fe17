/**
 * Spans recorded by OpenTelemetry's SDK and exported by its protocol, OTLP, as protobuf over HTTP
 * through the JDK's own client. {@link dev.bourse.traces.otlp.OtlpTraces} is the entry point; it is
 * loaded when {@code trace.endpoint} is set.
 *
 * <p>{@code Sampler} decides whether a request is traced before the SDK is called, so an untraced
 * request costs a comparison. An ended span waits in a bounded queue ({@code SpanQueue}); a thread
 * of the SDK exports it, and an event loop never waits. Spans that the collector does not accept
 * are dropped and counted ({@code CountedExporter}): traces are for diagnosis, and not worth
 * delaying a request.
 */
@NullMarked
package dev.bourse.traces.otlp;

import org.jspecify.annotations.NullMarked;
