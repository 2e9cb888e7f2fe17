package dev.bourse.edge;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;

/**
 * A long response in pieces. The next piece is requested after the client has taken the previous
 * one, so memory holds one piece at any length, and a disconnected client causes no reads.
 */
@FunctionalInterface
public interface Pieces {
  /** Returns the next piece, which is not empty, of tens of kilobytes; empty after the last. */
  Future<Optional<Buffer>> next();
}
