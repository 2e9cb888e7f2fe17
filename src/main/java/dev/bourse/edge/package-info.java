/**
 * The way in: contracts become routers, requests become {@link dev.bourse.edge.Call}s, {@link
 * dev.bourse.edge.Answer}s and errors become JSON.
 *
 * <p>A feature binds an {@link dev.bourse.edge.Operation} to each operationId of its contract; all
 * else about HTTP stays here.
 */
@NullMarked
package dev.bourse.edge;

import org.jspecify.annotations.NullMarked;
