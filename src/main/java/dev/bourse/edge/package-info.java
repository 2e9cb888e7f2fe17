/**
 * The HTTP interface: requests become {@link dev.bourse.edge.Call}s, and {@link
 * dev.bourse.edge.Answer}s and errors become responses.
 *
 * <p>A feature binds an {@link dev.bourse.edge.Operation} to each operationId of its contract; all
 * other HTTP code is here. {@link dev.bourse.edge.Edge} assembles the parts and refuses to start if
 * contracts and handlers do not match. {@code RequestRouter} finds a request's route and {@code
 * RequestPipeline} takes it to its operation; {@code ReceivedRequest} is the parsed request, and
 * {@code Exchange} sends the response. Bodies of bytes arrive block by block ({@link
 * dev.bourse.blob.ByteSource}), and long responses are sent piece by piece ({@link
 * dev.bourse.edge.Pieces}) or as stored bytes ({@link dev.bourse.blob.Reading}), so that memory
 * does not grow with either. Streams of events ({@link dev.bourse.edge.EventSource}) stay open; the
 * bytes that wait for a client are limited, and a client that does not take them is disconnected.
 *
 * <p>Parameters and bodies are checked on the event loop (see {@link dev.bourse.contract}). {@code
 * RequestPipeline} authenticates callers, not the router's security handlers: the contracts define
 * the order of all checks, a token's budget is between two of them, and one operation may accept
 * several kinds of callers.
 *
 * <p>Rejected: the router library's own validation, which leaves the event loop for each request
 * and decodes parameters twice; its body handler, which has no minimum rate; and its failure
 * handlers on the hot path. The library is used for routing only.
 */
@NullMarked
package dev.bourse.edge;

import org.jspecify.annotations.NullMarked;
