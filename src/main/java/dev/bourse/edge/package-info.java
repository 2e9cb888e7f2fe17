/**
 * The way in: contracts become routers, requests become {@link dev.bourse.edge.Call}s, {@link
 * dev.bourse.edge.Answer}s and errors become JSON.
 *
 * <p>A feature binds an {@link dev.bourse.edge.Operation} to each operationId of its contract; all
 * else about HTTP stays here. {@link dev.bourse.edge.Edge} puts the parts together and refuses to
 * when contracts and handlers do not fit. A request passes {@code EdgeLoop}; what it holds while it
 * is served is its {@code Exchange}; {@code Connections} ends what keeps us waiting.
 *
 * <p>Rejected: the router library's own validation, which leaves the event loop for each request
 * and decodes parameters twice; its body handler, which has no minimum rate; and its failure
 * handlers on the hot path. What the library does here is routing.
 */
@NullMarked
package dev.bourse.edge;

import org.jspecify.annotations.NullMarked;
