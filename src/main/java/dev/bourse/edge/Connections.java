package dev.bourse.edge;

import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop and how long each may wait for its client.
 *
 * <p>One sweep a second looks at all of them; a timer for each request would cost more than the
 * request. HTTP/1.1 serves one request of a connection at a time, so a connection waits for one
 * thing only: a head, a body, our answer, or the end of what it still sends after a refusal.
 */
final class Connections {
  /**
   * After an early refusal the client may go on sending for so long, so that it gets to read it.
   */
  private static final long LINGER_MILLIS = 2_000;

  private static final long NEVER = Long.MAX_VALUE;

  /** One connection. */
  static final class Link {
    private final HttpConnection connection;
    private long deadlineMillis;
    private @Nullable Exchange exchange;
    private boolean readingBody;
    private boolean closing;
    private boolean closed;

    private Link(HttpConnection connection, long deadlineMillis) {
      this.connection = connection;
      this.deadlineMillis = deadlineMillis;
    }
  }

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Map<HttpConnection, Link> links = new HashMap<>();

  Connections(EdgeLimits limits, LongSupplier nanos) {
    this.limits = limits;
    this.nanos = nanos;
  }

  /** A connection is open; it must send a request's head in time. Closed at once over the bound. */
  void opened(HttpConnection connection) {
    if (links.size() >= limits.maxConnections()) {
      connection.close();
      return;
    }
    links.put(connection, new Link(connection, nowMillis() + limits.headMillis()));
    connection.closeHandler(
        gone -> {
          Link link = links.remove(connection);
          if (link != null && link.exchange != null) {
            link.exchange.abandon();
          }
        });
  }

  /** The connection a request came over; null when it is closing, and the request came too late. */
  @Nullable Link find(HttpConnection connection) {
    Link link = links.get(connection);
    return link == null || link.closing ? null : link;
  }

  /** A request's head is complete: nothing is awaited of the client for now. */
  void entered(Link link, Exchange exchange) {
    link.exchange = exchange;
    link.readingBody = false;
    link.deadlineMillis = NEVER;
  }

  /** The request's body is awaited; the time it has grows with what arrives. */
  void bodyBegins(Link link) {
    link.readingBody = true;
    link.deadlineMillis = nowMillis() + limits.bodyGraceMillis();
  }

  /**
   * So many bytes of the body arrived; they buy the rest more time, but never more than a silent
   * connection has, or a gigabyte would buy weeks.
   */
  void bodyGrows(Link link, int bytes) {
    link.deadlineMillis =
        Math.min(
            link.deadlineMillis + bytes * 1_000L / limits.minBodyBytesPerSecond(),
            nowMillis() + limits.keepAliveMillis());
  }

  /** The body is not taken for now: the client waits for us. */
  void bodyWaits(Link link) {
    link.deadlineMillis = NEVER;
  }

  /** The whole body is here. */
  void bodyEnds(Link link) {
    link.readingBody = false;
    link.deadlineMillis = NEVER;
  }

  /** A piece of a long answer is being sent; the client must take it in time. */
  void sends(Link link) {
    link.deadlineMillis = nowMillis() + limits.keepAliveMillis();
  }

  /** The client took the piece. */
  void sent(Link link) {
    link.deadlineMillis = NEVER;
  }

  /** The answer is about to be sent and the next request's head is awaited. */
  void answered(Link link) {
    link.exchange = null;
    link.readingBody = false;
    link.deadlineMillis = nowMillis() + limits.keepAliveMillis();
  }

  /** The answer is about to be sent before the whole request was read: the connection ends soon. */
  void lingers(Link link) {
    link.closing = true;
    link.exchange = null;
    link.readingBody = false;
    link.deadlineMillis = nowMillis() + LINGER_MILLIS;
  }

  /**
   * Closes connections whose client kept us waiting; a slow body is told so first. Closing waits
   * for what is still to be sent, which a client that does not read never takes: what is not closed
   * after a while is cut.
   */
  void sweep() {
    long now = nowMillis();
    List<Link> late = new ArrayList<>();
    for (Link link : links.values()) {
      if (link.deadlineMillis <= now) {
        late.add(link);
      }
    }
    for (Link link : late) {
      if (link.readingBody && link.exchange != null) {
        link.exchange.bodyTooSlow();
      } else if (link.closed) {
        cut(link);
      } else {
        close(link);
      }
    }
  }

  /** Closes a connection; requests that it still brings are not served. */
  void close(Link link) {
    link.closing = true;
    link.closed = true;
    link.readingBody = false;
    link.deadlineMillis = nowMillis() + LINGER_MILLIS;
    link.connection.close();
  }

  /** Closes a connection with whatever is still to be sent. The port has no word for it. */
  private static void cut(Link link) {
    if (link.connection instanceof ConnectionBase connection) {
      connection.channelHandlerContext().close();
    }
  }

  int open() {
    return links.size();
  }

  private long nowMillis() {
    return nanos.getAsLong() / 1_000_000;
  }
}
