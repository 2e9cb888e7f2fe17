/**
 * The HTTP interface: requests become {@link dev.bourse.edge.Call}s, and {@link
 * dev.bourse.edge.Answer}s and errors become responses.
 *
 * <p>A feature binds an {@link dev.bourse.edge.Operation} to each operationId of its contract; all
 * else about HTTP stays here. {@link dev.bourse.edge.Edge} puts the parts together and refuses to
 * start when contracts and handlers do not fit. {@code RequestRouter} finds a request's route and
 * {@code RequestPipeline} takes it to its operation; {@code ReceivedRequest} is what was read of
 * it, and {@code Exchange} sends the answer. Bodies that are bytes come in block by block ({@link
 * dev.bourse.blob.ByteSource}), long answers go out piece by piece ({@link dev.bourse.edge.Pieces})
 * or as stored bytes ({@link dev.bourse.blob.Reading}), so that memory does not grow with either.
 * Streams of events ({@link dev.bourse.edge.EventSource}) stay open; what waits for a client is
 * bounded, and a client that does not take it is disconnected.
 *
 * <p>Parameters and bodies are checked on the event loop (see {@link dev.bourse.contract}). Callers
 * are authenticated in {@code RequestPipeline}, not by the router's security handlers: the
 * contracts name the order of all checks, a token's budget stands between two of them, and one
 * operation may accept several kinds of caller.
 *
 * <p>Rejected: the router library's own validation, which leaves the event loop for each request
 * and decodes parameters twice; its body handler, which has no minimum rate; and its failure
 * handlers on the hot path. What the library does here is routing.
 */
@NullMarked
package dev.bourse.edge;

import org.jspecify.annotations.NullMarked;
