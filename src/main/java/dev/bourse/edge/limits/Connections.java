package dev.bourse.edge.limits;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop and how long each may wait for its client.
 *
 * <p>One sweep a second looks at all of them; a timer for each request would cost more than the
 * request. HTTP/1.1 serves one request of a connection at a time, so a connection waits for one
 * thing only: a head, a body, our answer, or the end of what it still sends after a refusal.
 *
 * <p>What is held for clients that keep us waiting is counted over all loops ({@link Occupancy}).
 * When there is no more room, the client that is to go is the one that has least to lose: not one
 * that is being answered, and of the others the one whose time is up first. So those who open
 * connections and say nothing push out each other, while a request that arrives in one go is
 * answered before its turn comes.
 */
public final class Connections {
  /**
   * After an early refusal the client may go on sending for so long, so that it gets to read it.
   */
  private static final long LINGER_MILLIS = 2_000;

  /**
   * How long a connection stays open whose client was told to ask less: somewhat over the second or
   * so after which it may come back.
   */
  private static final long THROTTLED_MILLIS = 5_000;

  /** Others that may have to go for one that needs room; past that it is not worth their loss. */
  private static final int MOST_EVICTED = 8;

  /** Until room may have come: who does not send a body in time is cut off within seconds. */
  private static final long RETRY_ROOM_MILLIS = 2_000;

  private static final long NEVER = Long.MAX_VALUE;

  /** A line of a head becomes a header: an entry of a map, a name and a value, or a request. */
  private static final int LINE_BYTES = 256;

  /** What bytes that wait take: a buffer that grows by doubling, and what their lines become. */
  static long weight(int bytes, int lines) {
    return 2L * bytes + (long) LINE_BYTES * lines;
  }

  /** A request of a connection whose answer is not given yet. */
  public interface PendingRequest {
    /** Whether there is a body of which some was not read. */
    boolean hasUnread();

    /** Its body comes too slowly. */
    void bodyTooSlow();

    /** The client is gone. */
    void abandon();
  }

  /** One connection. */
  public static final class Link {
    private final HttpConnection connection;
    private final Occupancy.Tenant tenant;
    private long deadlineMillis;

    /** Until when the bytes a download has taken pay for it. */
    private long paidMillis = NEVER;

    private @Nullable PendingRequest request;
    private boolean readingBody;
    private boolean closing;
    private boolean closed;

    /** What is held for it and not yet read to its end. */
    private long unreadBytes;

    /** Of a head, only a part has come. */
    private boolean inHead;

    private boolean throttled;
    private int entered;
    private boolean hadBody;

    /** Requests came before the one ahead of them was answered. */
    boolean isPipelined;

    private Link(HttpConnection connection, Occupancy.Tenant tenant, long deadlineMillis) {
      this.connection = connection;
      this.tenant = tenant;
      this.deadlineMillis = deadlineMillis;
    }

    /** Whether the next bytes belong to a head. */
    boolean isBetweenRequests() {
      return request == null;
    }

    /** How many requests have come over it; only whether it has changed means anything. */
    int entered() {
      return entered;
    }

    /** Whether the last request had a body, after which lines need not be those of a head. */
    boolean hadBody() {
      return hadBody;
    }

    /** Whether the next bytes belong to a body. */
    boolean isInBody() {
      return request != null && request.hasUnread();
    }

    /**
     * Whether a request has arrived in full and is not answered: what comes now waits behind it.
     */
    boolean isAnswering() {
      return request != null && !request.hasUnread();
    }

    /** Whether we wait for its client, rather than the client for us. */
    private boolean isAwaited() {
      return (request == null || readingBody) && !closing;
    }
  }

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Occupancy occupancy;
  private final Map<HttpConnection, Link> links = new HashMap<>();

  /**
   * @param occupancy shared by all event loops
   */
  public Connections(EdgeLimits limits, Occupancy occupancy, LongSupplier nanos) {
    this.limits = limits;
    this.occupancy = occupancy;
    this.nanos = nanos;
  }

  /** A connection is open; it must send a request's head in time. Closed at once without room. */
  public void opened(HttpConnection connection) {
    SocketAddress peer = connection.remoteAddress();
    Occupancy.Tenant tenant = occupancy.enter(peer == null ? "" : peer.hostAddress());
    if (tenant == null) {
      occupancy.turnsAway();
      abort(connection);
      return;
    }
    if (occupancy.isFull() && !evict(link -> true)) {
      occupancy.turnsAway();
      occupancy.leave(tenant);
      abort(connection);
      return;
    }
    Link link = new Link(connection, tenant, nowMillis() + limits.headMillis());
    links.put(connection, link);
    if (connection instanceof ConnectionBase base) {
      ChannelHandlerContext last = base.channelHandlerContext();
      last.pipeline().addFirst(new UnreadBytesHandler(this, link));
      last.pipeline().addBefore(last.name(), null, HttpVersionHandler.INSTANCE);
    }
    connection.closeHandler(gone -> gone(link));
  }

  /** Its place is another's; may be called more than once. */
  private void gone(Link link) {
    if (links.remove(link.connection) == null) {
      return;
    }
    link.closing = true;
    occupancy.leave(link.tenant);
    giveBack(link);
    if (link.request != null) {
      link.request.abandon();
    }
  }

  /** Ends the connection that has least to lose of those; false when all have work under way. */
  private boolean evict(Predicate<Link> among) {
    Link first = null;
    for (Link link : links.values()) {
      if (link.isAwaited()
          && among.test(link)
          && (first == null || link.deadlineMillis < first.deadlineMillis)) {
        first = link;
      }
    }
    if (first == null) {
      return false;
    }
    occupancy.turnsAway();
    end(first);
    return true;
  }

  /** Cuts a connection and counts it out at once: closing takes a turn of the loop. */
  private void end(Link link) {
    gone(link);
    abort(link.connection);
  }

  /** Closes a connection with whatever is still to be sent. The port has no word for it. */
  private static void abort(HttpConnection connection) {
    if (connection instanceof ConnectionBase base) {
      UnreadBytesHandler.forget(base.channelHandlerContext().pipeline());
      base.channelHandlerContext().close();
    } else {
      connection.close();
    }
  }

  /**
   * So much came and waits: for the rest of its head, or for the answer of the request before it.
   *
   * @param isPart whether the rest of a head is awaited, which has as long as any head
   */
  void waits(Link link, long bytes, boolean isPart) {
    if (link.closing) {
      return;
    }
    if (isPart && !link.inHead) {
      link.inHead = true;
      if (link.isBetweenRequests()) {
        link.deadlineMillis = Math.min(link.deadlineMillis, nowMillis() + limits.headMillis());
      }
    }
    if (!take(link, bytes)) {
      occupancy.turnsAway();
      end(link);
    }
  }

  /** More of a body is kept in memory until it is whole. */
  public void gathers(Link link, int bytes) {
    if (!take(link, weight(bytes, 0))) {
      occupancy.turnsAway();
      throw ApiError.retryLater(
          ErrorCode.OVERLOADED,
          "there is no room for more requests that are not complete",
          RETRY_ROOM_MILLIS);
    }
  }

  private boolean take(Link link, long bytes) {
    Occupancy.Taking taking = occupancy.takeUnread(link.tenant, bytes);
    for (int i = 0; taking == Occupancy.Taking.NONE_LEFT && i < MOST_EVICTED; i++) {
      if (!evict(other -> other != link && other.unreadBytes > 0)) {
        break;
      }
      taking = occupancy.takeUnread(link.tenant, bytes);
    }
    if (taking != Occupancy.Taking.TAKEN) {
      return false;
    }
    link.unreadBytes += bytes;
    return true;
  }

  /** All that came is read to its end, unless something has begun that is not. */
  public void settled(Link link) {
    if (link.unreadBytes > 0 && link.request == null && !link.inHead) {
      giveBack(link);
    }
  }

  private void giveBack(Link link) {
    if (link.unreadBytes > 0) {
      occupancy.giveUnread(link.tenant, link.unreadBytes);
      link.unreadBytes = 0;
    }
    link.isPipelined = false;
  }

  /** The client asks too much: its connection is not kept as long as others. */
  public void throttles(Link link) {
    link.throttled = true;
  }

  /** The connection a request came over; null when it is closing, and the request came too late. */
  public @Nullable Link find(HttpConnection connection) {
    Link link = links.get(connection);
    return link == null || link.closing ? null : link;
  }

  /** A request's head is complete: nothing is awaited of the client for now. */
  public void entered(Link link, PendingRequest request) {
    link.request = request;
    link.paidMillis = NEVER;
    link.entered++;
    link.hadBody = request.hasUnread();
    link.inHead = false;
    link.readingBody = false;
    link.throttled = false;
    link.deadlineMillis = NEVER;
  }

  /** The request's body is awaited; the time it has grows with what arrives. */
  public void bodyBegins(Link link) {
    link.readingBody = true;
    link.deadlineMillis = nowMillis() + limits.bodyGraceMillis();
  }

  /**
   * So many bytes of the body arrived; they buy the rest more time, but never more than a silent
   * connection has, or a gigabyte would buy weeks.
   */
  public void bodyGrows(Link link, int bytes) {
    link.deadlineMillis =
        Math.min(
            link.deadlineMillis + bytes * 1_000L / limits.minBodyBytesPerSecond(),
            nowMillis() + limits.keepAliveMillis());
  }

  /** The body is not taken for now: the client waits for us. */
  public void bodyWaits(Link link) {
    link.deadlineMillis = NEVER;
  }

  /** The whole body is here. */
  public void bodyEnds(Link link) {
    link.readingBody = false;
    link.deadlineMillis = NEVER;
  }

  /** A piece of a long answer is being sent; the client must take it in time. */
  public void sends(Link link) {
    link.deadlineMillis = nowMillis() + limits.keepAliveMillis();
  }

  /** Stored bytes are about to be sent; the client must take them at the least pace from now on. */
  public void downloadBegins(Link link) {
    sends(link);
    if (limits.pace().isBounded()) {
      link.paidMillis = nowMillis() + limits.pace().windowMillis();
    }
  }

  /** The client took so many stored bytes. */
  public void downloadGoesOn(Link link, long bytes) {
    sends(link);
    if (link.paidMillis != NEVER) {
      link.paidMillis =
          Math.min(
              link.paidMillis + limits.pace().millisFor(bytes),
              nowMillis() + limits.pace().mostAheadMillis());
    }
  }

  /** The client took the piece. */
  public void sent(Link link) {
    link.deadlineMillis = NEVER;
  }

  /** The answer is about to be sent and the next request's head is awaited. */
  public void answered(Link link, HttpServerRequest request) {
    link.request = null;
    link.readingBody = false;
    link.paidMillis = NEVER;
    long waitMillis =
        link.inHead
            ? limits.headMillis()
            : link.throttled ? THROTTLED_MILLIS : limits.keepAliveMillis();
    link.deadlineMillis = nowMillis() + Math.min(waitMillis, limits.keepAliveMillis());
    if (link.isPipelined) {
      // Others wait behind it, and may always do: what it took itself goes back alone.
      long own = Math.min(link.unreadBytes, weightOf(request.headers()));
      occupancy.giveUnread(link.tenant, own);
      link.unreadBytes -= own;
    }
  }

  private static long weightOf(MultiMap headers) {
    int bytes = 0;
    for (Map.Entry<String, String> header : headers) {
      bytes += header.getKey().length() + header.getValue().length();
    }
    return weight(bytes, headers.size() + 2);
  }

  /** The answer is about to be sent before the whole request was read: the connection ends soon. */
  public void lingers(Link link) {
    link.closing = true;
    link.request = null;
    link.readingBody = false;
    link.deadlineMillis = nowMillis() + LINGER_MILLIS;
  }

  /**
   * Closes connections whose client kept us waiting; a slow body is told so first. Closing waits
   * for what is still to be sent, which a client that does not read never takes: what is not closed
   * after a while is cut.
   */
  public void sweep() {
    long now = nowMillis();
    List<Link> late = new ArrayList<>();
    for (Link link : links.values()) {
      if (Math.min(link.deadlineMillis, link.paidMillis) <= now) {
        late.add(link);
      }
    }
    for (Link link : late) {
      if (link.paidMillis <= now) {
        reset(link);
      } else if (link.readingBody && link.request != null) {
        link.request.bodyTooSlow();
      } else if (link.closed) {
        abort(link.connection);
      } else {
        close(link);
      }
    }
  }

  /** Closes a connection; requests that it still brings are not served. */
  public void close(Link link) {
    link.closing = true;
    link.closed = true;
    link.readingBody = false;
    link.paidMillis = NEVER;
    link.deadlineMillis = nowMillis() + LINGER_MILLIS;
    link.connection.close();
  }

  /**
   * Closes a connection and has the system forget what it holds for it: megabytes, which a client
   * that takes them slowly would be sent for hours.
   */
  private void reset(Link link) {
    if (link.connection instanceof ConnectionBase connection) {
      connection.channelHandlerContext().channel().config().setOption(ChannelOption.SO_LINGER, 0);
    }
    close(link);
  }

  int open() {
    return links.size();
  }

  private long nowMillis() {
    return nanos.getAsLong() / 1_000_000;
  }
}
