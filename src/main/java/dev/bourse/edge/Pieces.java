package dev.bourse.edge;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;

/**
 * A long answer, a piece at a time: the next is asked for once the client has taken the one before,
 * so that memory holds one piece whatever the length, and nothing is read for a client that left.
 */
@FunctionalInterface
public interface Pieces {
  /** The next piece, never an empty buffer; empty after the last. Tens of kilobytes are best. */
  Future<Optional<Buffer>> next();
}
