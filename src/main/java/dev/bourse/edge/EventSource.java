package dev.bourse.edge;

import io.vertx.core.buffer.Buffer;
import java.util.concurrent.Executor;

/** The source of a stream of server-sent events. */
@FunctionalInterface
public interface EventSource {
  /**
   * Starts the source; called on the stream's event loop after its head is sent.
   *
   * @return runs once when the stream ends for any reason, on the same loop
   */
  Runnable begin(Sink sink);

  /** One client's stream of server-sent events, for its source. */
  interface Sink {
    /**
     * Returns the stream's event loop. It is the same object for every stream of that loop, so that
     * a source can serve many clients in one task.
     */
    Executor loop();

    /**
     * Sends encoded complete events; on the stream's loop only. A client with too many waiting
     * bytes is disconnected. No effect after the stream has ended.
     */
    void send(Buffer events);

    /** Ends the stream; on its loop only. Interested clients reconnect. */
    void end();
  }
}
