/**
 * Spans made by OpenTelemetry's SDK and sent by its protocol, OTLP, as protobuf over HTTP by the
 * JDK's own client. {@link dev.bourse.traces.otlp.OtlpTraces} is the way in, and is loaded when
 * {@code trace.endpoint} is set.
 *
 * <p>Whether a request is traced is decided before the SDK is asked ({@code Sampler}), so those
 * that are not cost a comparison. A span that has ended waits in a queue that has an end ({@code
 * SpanQueue}); a thread of the SDK's sends what is in it, and an event loop never waits. What the
 * collector does not take is lost and counted ({@code CountedExporter}): traces are for looking
 * into things, and not worth a request's time.
 */
@NullMarked
package dev.bourse.traces.otlp;

import org.jspecify.annotations.NullMarked;
