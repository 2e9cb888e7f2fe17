package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import java.util.concurrent.Executor;

/** One client's stream of server-sent events, from the side that fills it. */
public interface EventSink {
  /**
   * The stream's event loop: the same object for every stream of that loop, so that what many
   * clients are told can be told in one turn of it.
   */
  Executor loop();

  /**
   * Sends encoded events, whole ones; on the stream's loop only. A client for whom too much waits
   * already is dropped instead: nobody waits for it. Without effect once the stream has ended.
   */
  void send(Buffer events);

  /** Ends the stream; on its loop only. A client that still wants events comes back. */
  void end();
}
