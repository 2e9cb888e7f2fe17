package dev.bourse.edge.limits;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The open connections of one event loop, with the deadline of each one's client.
 *
 * <p>One sweep a second checks all of them, because a timer per request would cost more than the
 * request. HTTP/1.1 serves one request of a connection at a time, so a connection waits for one
 * thing only: a head, a body, the service's response, or the end of the client's data after an
 * error response.
 *
 * <p>Memory for slow clients is counted over all loops ({@link Occupancy}). When it is exhausted,
 * the client with the least to lose is disconnected: not one whose request is being answered, and
 * of the others the one with the earliest deadline. So idle connections displace each other, while
 * a request that arrives in one piece is answered before its turn comes. A loop without a candidate
 * asks the others ({@link Neighbours}). Waiting bytes displace only connections of their own loop,
 * because rejecting them cannot wait for another loop.
 */
public final class Connections {
  /** How many other connections may be closed to make room for one. */
  private static final int MOST_EVICTED = 8;

  /** When a rejected client may retry: slow connections are closed within seconds. */
  private static final long RETRY_ROOM_MILLIS = 2_000;

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Occupancy occupancy;
  private final @Nullable ProxyProtocol proxies;

  /** Ordered by age: of two equal deadlines, the older connection is closed first. */
  private final Map<HttpConnection, OpenConnection> open = new LinkedHashMap<>();

  /** Connections in their TLS handshake, ordered by age; Vert.x ends the slow ones. */
  private final Map<Channel, Handshake> handshakes = new LinkedHashMap<>();

  /** New connections for which the other loops look for room. */
  private final Set<Channel> asking = new HashSet<>();

  /** A connection in its TLS handshake. */
  private record Handshake(Occupancy.ClientShare client, long deadlineMillis) {}

  /**
   * @param occupancy shared by all event loops
   */
  public Connections(EdgeLimits limits, Occupancy occupancy, LongSupplier nanos) {
    this(limits, occupancy, nanos, null);
  }

  /**
   * Creates the connections of a loop behind proxies.
   *
   * @param proxies shared by all event loops; null if clients connect directly
   */
  public Connections(
      EdgeLimits limits, Occupancy occupancy, LongSupplier nanos, @Nullable ProxyProtocol proxies) {
    this.proxies = proxies;
    this.limits = limits;
    this.occupancy = occupancy;
    this.nanos = nanos;
  }

  /** Counts a connection before its TLS handshake, or closes it if there is no room. */
  void accepted(Channel channel) {
    String peer = peer(channel);
    if (proxies != null && !proxies.admits(peer)) {
      channel.close();
      return;
    }
    Occupancy.ClientShare client = occupancy.enter(peer);
    if (client == null || !findRoom(channel)) {
      occupancy.recordRejection();
      if (client != null) {
        occupancy.leave(client);
      }
      channel.close();
      return;
    }
    handshakes.put(channel, new Handshake(client, nowMillis() + limits.headMillis()));
    channel.closeFuture().addListener(closed -> finishHandshake(channel));
    if (proxies != null) {
      // Before the handshake, whose deadline covers the PROXY header.
      proxies.read(channel, source -> assignTo(source, channel));
    }
  }

  private static Channel channel(HttpConnection http) {
    return ((ConnectionBase) http).channelHandlerContext().channel();
  }

  private static String peer(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address && !address.isUnresolved()
        ? address.getAddress().getHostAddress()
        : "";
  }

  /**
   * Assigns a handshake to the client behind a proxy; false if that client has too many
   * connections.
   */
  private boolean assignTo(String source, Channel channel) {
    Handshake handshake = handshakes.get(channel);
    if (handshake == null) {
      return false;
    }
    if (source.isEmpty()) {
      return true;
    }
    Occupancy.ClientShare client = occupancy.enter(source);
    if (client == null) {
      occupancy.recordRejection();
      return false;
    }
    occupancy.leave(handshake.client());
    // Keeps its place in the order of age.
    handshakes.put(channel, new Handshake(client, handshake.deadlineMillis()));
    return true;
  }

  /** Assigns an unencrypted connection to the client behind a proxy. */
  private boolean assignTo(String source, OpenConnection connection) {
    if (connection.closing) {
      return false;
    }
    connection.setSource(source);
    if (source.isEmpty()) {
      return true;
    }
    Occupancy.ClientShare client = occupancy.enter(source);
    if (client == null) {
      occupancy.recordRejection();
      end(connection);
      return false;
    }
    occupancy.leave(connection.client);
    connection.client = client;
    return true;
  }

  /** Records the end of a connection's handshake, for a server that counts only handshakes. */
  public void handshakeFinished(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      finishHandshake(base.channelHandlerContext().channel());
    }
  }

  /**
   * Records that a handshake has ended or failed; may be called more than once.
   *
   * @return whether it was counted until now
   */
  private boolean finishHandshake(Channel channel) {
    Handshake handshake = handshakes.remove(channel);
    if (handshake != null) {
      occupancy.leave(handshake.client());
    }
    return handshake != null;
  }

  /**
   * Closes the oldest handshake if its deadline is no later than {@code millis}; false if there is
   * none.
   */
  private boolean evictHandshake(long millis) {
    for (Map.Entry<Channel, Handshake> oldest : handshakes.entrySet()) {
      if (oldest.getValue().deadlineMillis() > millis) {
        return false;
      }
      Channel channel = oldest.getKey();
      if (!asking.contains(channel)) {
        occupancy.recordRejection();
        finishHandshake(channel);
        channel.close();
        return true;
      }
    }
    return false;
  }

  /** Registers a new connection, or closes it at once if there is no room. */
  public void opened(HttpConnection http) {
    Channel channel = channel(http);
    // There was room for it before its handshake, and the bytes after the handshake are read.
    boolean hasRoom = finishHandshake(channel);
    String peer = peer(channel);
    // Over TLS, the PROXY header came before the handshake.
    String source = proxies == null ? null : ProxyProtocol.source(channel);
    if (proxies != null && source == null && !proxies.admits(peer)) {
      abort(http);
      return;
    }
    Occupancy.ClientShare client =
        occupancy.enter(source == null || source.isEmpty() ? peer : source);
    if (client == null) {
      occupancy.recordRejection();
      abort(http);
      return;
    }
    if (!hasRoom && !findRoom(channel)) {
      occupancy.recordRejection();
      occupancy.leave(client);
      abort(http);
      return;
    }
    OpenConnection connection = new OpenConnection(http, peer, client, limits, occupancy, nanos);
    if (source != null) {
      connection.setSource(source);
    }
    open.put(http, connection);
    if (http instanceof ConnectionBase base) {
      ChannelHandlerContext last = base.channelHandlerContext();
      ChannelPipeline pipeline = last.pipeline();
      // After TLS, if there is TLS.
      pipeline.addBefore(
          pipeline.context(HttpRequestDecoder.class).name(),
          null,
          new UnreadBytesHandler(this, connection));
      pipeline.addBefore(last.name(), null, HttpVersionHandler.INSTANCE);
    }
    if (proxies != null && source == null) {
      // Within the deadline of the first request's head.
      proxies.read(channel, address -> assignTo(address, connection));
    }
    http.closeHandler(gone -> gone(connection));
  }

  /** Removes a connection and releases its resources; may be called more than once. */
  private void gone(OpenConnection connection) {
    if (open.remove(connection.http) == null) {
      return;
    }
    connection.closing = true;
    occupancy.leave(connection.client);
    connection.releaseUnread();
    if (connection.pending != null) {
      connection.pending.abandon();
    }
  }

  /**
   * Returns whether a new connection may stay. If no connection here can make room, it stays until
   * the other loops have answered. Until then its bytes are not read, so that a connection that is
   * rejected in the end was not served.
   */
  private boolean findRoom(Channel newcomer) {
    EventLoop loop = newcomer.eventLoop();
    occupancy.neighbours().join(loop, this::makeRoom);
    if (makeRoom()) {
      return true;
    }
    boolean isAsked = occupancy.neighbours().ask(loop, found -> admit(newcomer, found));
    if (isAsked) {
      asking.add(newcomer);
      newcomer.config().setAutoRead(false);
    }
    return isAsked;
  }

  /** Handles the other loops' answer. If they found no room, this loop may have some by now. */
  private void admit(Channel newcomer, boolean hasRoom) {
    asking.remove(newcomer);
    if (hasRoom || makeRoom()) {
      newcomer.config().setAutoRead(true);
    } else if (newcomer.isOpen()) {
      occupancy.recordRejection();
      abort(newcomer);
    }
  }

  /**
   * If there is no room, closes the idle connection or handshake with the earliest deadline;
   * returns false if there is none.
   */
  private boolean makeRoom() {
    if (!occupancy.isFull()) {
      return true;
    }
    OpenConnection idle = firstToEnd(connection -> true);
    if (evictHandshake(idle == null ? Long.MAX_VALUE : idle.deadlineMillis)) {
      return true;
    }
    if (idle == null) {
      return false;
    }
    evict(idle);
    return true;
  }

  /** Returns the idle connection with the earliest deadline; null if there is none. */
  private @Nullable OpenConnection firstToEnd(Predicate<OpenConnection> among) {
    OpenConnection first = null;
    for (OpenConnection connection : open.values()) {
      if (connection.isAwaited()
          && among.test(connection)
          && (asking.isEmpty() || !asking.contains(channel(connection.http)))
          && (first == null || connection.deadlineMillis < first.deadlineMillis)) {
        first = connection;
      }
    }
    return first;
  }

  private void evict(OpenConnection connection) {
    occupancy.recordRejection();
    end(connection);
  }

  /**
   * Closes a connection and removes it at once, because the close event comes in a later turn of
   * the loop.
   */
  private void end(OpenConnection connection) {
    gone(connection);
    abort(connection.http);
  }

  /** Closes a connection at once, and drops unsent data. */
  private static void abort(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      abort(base.channelHandlerContext().channel());
    } else {
      http.close();
    }
  }

  private static void abort(Channel channel) {
    UnreadBytesHandler.forget(channel.pipeline());
    // From the head of the pipeline, because TLS would wait to send its close message to a client
    // that does not read.
    channel.pipeline().firstContext().close();
  }

  /**
   * Counts bytes that wait for the rest of their head, or for the response to an earlier request.
   *
   * @param isPart whether the rest of a head is awaited, which has the deadline of a head
   */
  void reserveUnread(OpenConnection connection, long bytes, boolean isPart) {
    if (connection.closing) {
      return;
    }
    if (isPart && !connection.inHead) {
      connection.inHead = true;
      if (connection.isBetweenRequests()) {
        connection.deadlineMillis =
            Math.min(connection.deadlineMillis, nowMillis() + limits.headMillis());
      }
    }
    if (!take(connection, bytes)) {
      occupancy.recordRejection();
      end(connection);
    }
  }

  /** Counts bytes of a body that is kept in memory until it is complete. */
  public void reserveBody(OpenConnection connection, int bytes) {
    if (!take(connection, OpenConnection.weight(bytes, 0))) {
      occupancy.recordRejection();
      throw ApiException.retryLater(
          ErrorCode.OVERLOADED, "too many incomplete requests; try again", RETRY_ROOM_MILLIS);
    }
  }

  private boolean take(OpenConnection connection, long bytes) {
    Occupancy.Reservation taking = occupancy.reserveUnread(connection.client, bytes);
    for (int i = 0; taking == Occupancy.Reservation.NONE_LEFT && i < MOST_EVICTED; i++) {
      OpenConnection other = firstToEnd(idle -> idle != connection && idle.unreadBytes > 0);
      if (other == null) {
        break;
      }
      evict(other);
      taking = occupancy.reserveUnread(connection.client, bytes);
    }
    if (taking != Occupancy.Reservation.TAKEN) {
      return false;
    }
    connection.unreadBytes += bytes;
    return true;
  }

  /** Returns the connection of a request; null if it is closing and the request came too late. */
  public @Nullable OpenConnection find(HttpConnection http) {
    OpenConnection connection = open.get(http);
    return connection == null || connection.closing ? null : connection;
  }

  /**
   * Closes connections with expired deadlines; a client with a slow body is answered 408 first. A
   * close waits until the client has read the pending data; after a while the connection is
   * aborted.
   */
  public void sweep() {
    long now = nowMillis();
    List<OpenConnection> late = new ArrayList<>();
    for (OpenConnection connection : open.values()) {
      if (Math.min(connection.deadlineMillis, connection.paidMillis) <= now) {
        late.add(connection);
      }
    }
    for (OpenConnection connection : late) {
      if (connection.paidMillis <= now) {
        connection.reset();
      } else if (connection.readingBody && connection.pending != null) {
        connection.pending.reportSlowBody();
      } else if (connection.closed) {
        abort(connection.http);
      } else {
        connection.close();
      }
    }
  }

  int size() {
    return open.size();
  }

  private long nowMillis() {
    return nanos.getAsLong() / 1_000_000;
  }
}
