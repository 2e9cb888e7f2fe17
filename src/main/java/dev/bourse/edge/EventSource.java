package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import java.util.concurrent.Executor;

/** What fills a stream of server-sent events. */
@FunctionalInterface
public interface EventSource {
  /**
   * Begins; called on the stream's event loop once its head is sent.
   *
   * @return what to do when the stream ends, however it does; called once, on the same loop
   */
  Runnable begin(Sink sink);

  /** One client's stream of server-sent events, from the side that fills it. */
  interface Sink {
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
}
