package dev.bourse.edge.limits;

import dev.bourse.core.ApiError;
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
 * answered before its turn comes. A loop where nobody is to go asks the others ({@link
 * Neighbours}); bytes that wait push out those of their own loop alone, as a refusal of some bytes
 * cannot wait for another loop.
 */
public final class Connections {
  /** How many other connections may be closed to make room for one. */
  private static final int MOST_EVICTED = 8;

  /** When a refused client may retry: connections that are too slow are closed within seconds. */
  private static final long RETRY_ROOM_MILLIS = 2_000;

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Occupancy occupancy;
  private final @Nullable ProxyProtocol proxies;

  /** By their age: of two whose time is up at once the older one is the first to go. */
  private final Map<HttpConnection, OpenConnection> open = new LinkedHashMap<>();

  /** Those whose TLS handshake is under way, by their age; Vert.x ends the ones that are late. */
  private final Map<Channel, Handshake> handshakes = new LinkedHashMap<>();

  /** Newcomers for whom the other loops look for room. */
  private final Set<Channel> asking = new HashSet<>();

  /** Of a connection that does not speak HTTP yet. */
  private record Handshake(Occupancy.Client client, long deadlineMillis) {}

  /**
   * @param occupancy shared by all event loops
   */
  public Connections(EdgeLimits limits, Occupancy occupancy, LongSupplier nanos) {
    this(limits, occupancy, nanos, null);
  }

  /**
   * The same where proxies tell whose connections are.
   *
   * @param proxies shared by all event loops, too; null where clients connect by themselves
   */
  public Connections(
      EdgeLimits limits, Occupancy occupancy, LongSupplier nanos, @Nullable ProxyProtocol proxies) {
    this.proxies = proxies;
    this.limits = limits;
    this.occupancy = occupancy;
    this.nanos = nanos;
  }

  /** Counts a connection before its TLS handshake, or closes it when there is no room for it. */
  void accepted(Channel channel) {
    String peer = peer(channel);
    if (proxies != null && !proxies.admits(peer)) {
      channel.close();
      return;
    }
    Occupancy.Client client = occupancy.enter(peer);
    if (client == null || !findRoom(channel)) {
      occupancy.turnsAway();
      if (client != null) {
        occupancy.leave(client);
      }
      channel.close();
      return;
    }
    handshakes.put(channel, new Handshake(client, nowMillis() + limits.headMillis()));
    channel.closeFuture().addListener(closed -> shaken(channel));
    if (proxies != null) {
      // Before the handshake, within whose time it has to come.
      proxies.read(channel, source -> isOf(source, channel));
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

  /** A handshake is of this client, who is behind a proxy; false when that one has too many. */
  private boolean isOf(String source, Channel channel) {
    Handshake handshake = handshakes.get(channel);
    if (handshake == null) {
      return false;
    }
    if (source.isEmpty()) {
      return true;
    }
    Occupancy.Client client = occupancy.enter(source);
    if (client == null) {
      occupancy.turnsAway();
      return false;
    }
    occupancy.leave(handshake.client());
    // In its place in the order of age.
    handshakes.put(channel, new Handshake(client, handshake.deadlineMillis()));
    return true;
  }

  /** The same of a connection that speaks plainly. */
  private boolean isOf(String source, OpenConnection connection) {
    if (connection.closing) {
      return false;
    }
    connection.isFrom(source);
    if (source.isEmpty()) {
      return true;
    }
    Occupancy.Client client = occupancy.enter(source);
    if (client == null) {
      occupancy.turnsAway();
      end(connection);
      return false;
    }
    occupancy.leave(connection.client);
    connection.client = client;
    return true;
  }

  /** A connection's handshake is done, for a server that counts nothing but handshakes. */
  public void shaken(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      shaken(base.channelHandlerContext().channel());
    }
  }

  /**
   * Its handshake is done, or will never be; may be called more than once.
   *
   * @return whether it was counted until now
   */
  private boolean shaken(Channel channel) {
    Handshake handshake = handshakes.remove(channel);
    if (handshake != null) {
      occupancy.leave(handshake.client());
    }
    return handshake != null;
  }

  /** Closes the oldest handshake when it is to end no later than then; false when there is none. */
  private boolean evictHandshake(long millis) {
    for (Map.Entry<Channel, Handshake> oldest : handshakes.entrySet()) {
      if (oldest.getValue().deadlineMillis() > millis) {
        return false;
      }
      Channel channel = oldest.getKey();
      if (!asking.contains(channel)) {
        occupancy.turnsAway();
        shaken(channel);
        channel.close();
        return true;
      }
    }
    return false;
  }

  /** Registers a new connection, or closes it at once when there is no room for it. */
  public void opened(HttpConnection http) {
    Channel channel = channel(http);
    // There was room for it before its handshake, and what came with the end of that is read.
    boolean hasRoom = shaken(channel);
    String peer = peer(channel);
    // Over TLS the header has come before.
    String source = proxies == null ? null : ProxyProtocol.source(channel);
    if (proxies != null && source == null && !proxies.admits(peer)) {
      abort(http);
      return;
    }
    Occupancy.Client client = occupancy.enter(source == null || source.isEmpty() ? peer : source);
    if (client == null) {
      occupancy.turnsAway();
      abort(http);
      return;
    }
    if (!hasRoom && !findRoom(channel)) {
      occupancy.turnsAway();
      occupancy.leave(client);
      abort(http);
      return;
    }
    OpenConnection connection = new OpenConnection(http, peer, client, limits, occupancy, nanos);
    if (source != null) {
      connection.isFrom(source);
    }
    open.put(http, connection);
    if (http instanceof ConnectionBase base) {
      ChannelHandlerContext last = base.channelHandlerContext();
      ChannelPipeline pipeline = last.pipeline();
      // Behind TLS, where there is one.
      pipeline.addBefore(
          pipeline.context(HttpRequestDecoder.class).name(),
          null,
          new UnreadBytesHandler(this, connection));
      pipeline.addBefore(last.name(), null, HttpVersionHandler.INSTANCE);
    }
    if (proxies != null && source == null) {
      // Within the time of the first request's head.
      proxies.read(channel, told -> isOf(told, connection));
    }
    http.closeHandler(gone -> gone(connection));
  }

  /** Forgets a connection and gives back what it held; may be called more than once. */
  private void gone(OpenConnection connection) {
    if (open.remove(connection.http) == null) {
      return;
    }
    connection.closing = true;
    occupancy.leave(connection.client);
    connection.giveBack();
    if (connection.pending != null) {
      connection.pending.abandon();
    }
  }

  /**
   * Whether a newcomer may stay. Where nobody waits here whom it could push out, it stays until the
   * other loops have looked. Nothing of what it sends is read meanwhile: whoever is turned away in
   * the end must not have been served.
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

  /** The others have looked. If in vain, somebody may have gone meanwhile, or wait here now. */
  private void admit(Channel newcomer, boolean hasRoom) {
    asking.remove(newcomer);
    if (hasRoom || makeRoom()) {
      newcomer.config().setAutoRead(true);
    } else if (newcomer.isOpen()) {
      occupancy.turnsAway();
      abort(newcomer);
    }
  }

  /**
   * Closes what was to end first of idle connections and handshakes, if there is no room; false
   * when there is none of them.
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

  /** The idle connection whose time is up first; null when none of them is idle. */
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
    occupancy.turnsAway();
    end(connection);
  }

  /** Closes a connection and counts it out at once, as closing itself takes a turn of the loop. */
  private void end(OpenConnection connection) {
    gone(connection);
    abort(connection.http);
  }

  /** Closes a connection at once, and drops whatever is still to be sent over it. */
  private static void abort(HttpConnection http) {
    if (http instanceof ConnectionBase base) {
      abort(base.channelHandlerContext().channel());
    } else {
      http.close();
    }
  }

  private static void abort(Channel channel) {
    UnreadBytesHandler.forget(channel.pipeline());
    // From the front: TLS would wait to say goodbye to a client that does not read.
    channel.pipeline().firstContext().close();
  }

  /**
   * Counts bytes that wait for the rest of their head, or for the answer to an earlier request.
   *
   * @param isPart whether the rest of a head is awaited, which has as long as any head
   */
  void waits(OpenConnection connection, long bytes, boolean isPart) {
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
      occupancy.turnsAway();
      end(connection);
    }
  }

  /** Counts bytes of a body that is kept in memory until it is complete. */
  public void gathers(OpenConnection connection, int bytes) {
    if (!take(connection, OpenConnection.weight(bytes, 0))) {
      occupancy.turnsAway();
      throw ApiError.retryLater(
          ErrorCode.OVERLOADED,
          "there is no room for more requests that are not complete",
          RETRY_ROOM_MILLIS);
    }
  }

  private boolean take(OpenConnection connection, long bytes) {
    Occupancy.Taking taking = occupancy.takeUnread(connection.client, bytes);
    for (int i = 0; taking == Occupancy.Taking.NONE_LEFT && i < MOST_EVICTED; i++) {
      OpenConnection other = firstToEnd(idle -> idle != connection && idle.unreadBytes > 0);
      if (other == null) {
        break;
      }
      evict(other);
      taking = occupancy.takeUnread(connection.client, bytes);
    }
    if (taking != Occupancy.Taking.TAKEN) {
      return false;
    }
    connection.unreadBytes += bytes;
    return true;
  }

  /** The connection a request came over; null when it is closing, and the request came too late. */
  public @Nullable OpenConnection find(HttpConnection http) {
    OpenConnection connection = open.get(http);
    return connection == null || connection.closing ? null : connection;
  }

  /**
   * Closes connections whose client is late; a client that sends its body too slowly is answered
   * 408 first. Closing waits until the client has read what is still to be sent; a connection that
   * is not closed after a while is aborted.
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
        connection.pending.bodyTooSlow();
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
