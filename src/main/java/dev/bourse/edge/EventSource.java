package dev.bourse.edge;

/** What fills a stream of server-sent events. */
@FunctionalInterface
public interface EventSource {
  /**
   * Begins; called on the stream's event loop once its head is sent.
   *
   * @return what to do when the stream ends, however it does; called once, on the same loop
   */
  Runnable begin(EventSink sink);
}
