package dev.bourse.edge.limits;

import io.netty.channel.ChannelOption;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.Map;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * One connection of an event loop: how much is held for it, and until when it may wait for its
 * client. {@link Connections} looks after all of them.
 */
public final class OpenConnection {
  /**
   * How long the connection of a throttled client stays open: somewhat longer than the second or so
   * after which it may come back.
   */
  private static final long THROTTLED_MILLIS = 5_000;

  private static final long NEVER = Long.MAX_VALUE;

  /** A request of a connection whose answer is not given yet. */
  public interface PendingRequest {
    /** Whether there is a body of which some was not read. */
    boolean hasUnread();

    /** Its body comes too slowly. */
    void bodyTooSlow();

    /** The client is gone. */
    void abandon();
  }

  /** A line of a head becomes a header: an entry of a map, a name and a value, or a request. */
  private static final int LINE_BYTES = 256;

  /** What bytes that wait take: a buffer that grows by doubling, and what their lines become. */
  static long weight(int bytes, int lines) {
    return 2L * bytes + (long) LINE_BYTES * lines;
  }

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Occupancy occupancy;
  final HttpConnection http;

  /** Who holds what it holds; another as soon as a proxy tells whose it is. */
  Occupancy.Client client;

  /** The address it comes from, of the client itself where a proxy tells that. */
  private String peer;

  /** A proxy says that the connection is its own, so that nobody is behind it. */
  private boolean isOfProxy;

  long deadlineMillis;

  /** Until when a download may go on with the bytes that its client has taken so far. */
  long paidMillis = NEVER;

  @Nullable PendingRequest pending;
  boolean readingBody;
  boolean closing;
  boolean closed;

  /** What is held for it and not yet read to its end. */
  long unreadBytes;

  /** Of a head, only a part has come. */
  boolean inHead;

  /** Nothing of the body is taken for now. */
  private boolean heldBack;

  private boolean throttled;
  private int entered;
  private boolean hadBody;

  /** Looked up once, at the first request it matters to: a handshake is not repeated. */
  private @Nullable Boolean showsCertificate;

  /** Requests came before the one ahead of them was answered. */
  boolean isPipelined;

  OpenConnection(
      HttpConnection http,
      String peer,
      Occupancy.Client client,
      EdgeLimits limits,
      Occupancy occupancy,
      LongSupplier nanos) {
    this.http = http;
    this.peer = peer;
    this.client = client;
    this.limits = limits;
    this.occupancy = occupancy;
    this.nanos = nanos;
    this.deadlineMillis = nowMillis() + limits.headMillis();
  }

  /**
   * A proxy has told whose connection it is.
   *
   * @param source the client's address; empty when it is the proxy's own
   */
  void isFrom(String source) {
    isOfProxy = source.isEmpty();
    if (!isOfProxy) {
      peer = source;
    }
  }

  /** The address it comes from. */
  public String peer() {
    return peer;
  }

  /**
   * Whether {@code X-Forwarded-For} may be believed if the address is a known proxy's. Not where a
   * proxy that would have told of a client told of none: it passes on what whoever it is sends.
   */
  public boolean mayForward() {
    return !isOfProxy;
  }

  /** Whether its client showed a certificate, which the handshake has verified then. */
  public boolean showsCertificate() {
    Boolean known = showsCertificate;
    if (known == null) {
      known = hasPeerCertificate(http.sslSession());
      showsCertificate = known;
    }
    return known;
  }

  /** Whether a client showed a certificate in the handshake of a session, if there was one. */
  public static boolean hasPeerCertificate(@Nullable SSLSession session) {
    try {
      return session != null && session.getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException none) {
      return false;
    }
  }

  /** Whether the next bytes belong to a head. */
  boolean isBetweenRequests() {
    return pending == null;
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
    return pending != null && pending.hasUnread();
  }

  /** Whether a request has arrived in full and is not answered: what comes now waits behind it. */
  boolean isAnswering() {
    return pending != null && !pending.hasUnread();
  }

  /** Whether we wait for its client, rather than the client for us. */
  boolean isAwaited() {
    return (pending == null || readingBody) && !closing;
  }

  /** Gives back what was held, if everything that came was read to its end. */
  public void settled() {
    if (unreadBytes > 0 && pending == null && !inHead) {
      giveBack();
    }
  }

  void giveBack() {
    if (unreadBytes > 0) {
      occupancy.giveUnread(client, unreadBytes);
      unreadBytes = 0;
    }
    isPipelined = false;
  }

  /** The client sends too many requests: its connection is not kept open as long as others. */
  public void throttles() {
    throttled = true;
  }

  /** A request's head is complete: nothing is awaited of the client for now. */
  public void entered(PendingRequest entering) {
    pending = entering;
    paidMillis = NEVER;
    entered++;
    hadBody = entering.hasUnread();
    inHead = false;
    readingBody = false;
    throttled = false;
    deadlineMillis = NEVER;
  }

  /** The request's body is awaited; the time it has grows with what arrives. */
  public void bodyBegins() {
    readsOn();
    readingBody = true;
    deadlineMillis = nowMillis() + limits.bodyGraceMillis();
  }

  /**
   * So many bytes of the body arrived; they buy the rest more time, but never more than a silent
   * connection has, or a gigabyte would buy weeks.
   */
  public void bodyGrows(int bytes) {
    deadlineMillis =
        Math.min(
            deadlineMillis + bytes * 1_000L / limits.minBodyBytesPerSecond(),
            nowMillis() + limits.keepAliveMillis());
  }

  /**
   * The service takes no more of the body for now, so the client is not late. What it sends
   * meanwhile waits in the network, but for what one read brings: Vert.x alone would go on to some
   * 200 KiB of direct memory, and a few hundred clients that wait their turn would take all of it.
   */
  public void bodyWaits() {
    heldBack = true;
    deadlineMillis = NEVER;
  }

  /** Whether what comes of the body is to wait in the network. */
  boolean isHeldBack() {
    return heldBack;
  }

  private void readsOn() {
    if (heldBack && http instanceof ConnectionBase base) {
      base.channelHandlerContext().channel().config().setAutoRead(true);
    }
    heldBack = false;
  }

  /** The whole body is here. */
  public void bodyEnds() {
    readingBody = false;
    deadlineMillis = NEVER;
  }

  /** A piece of a long answer is being sent; the client must take it in time. */
  public void sends() {
    deadlineMillis = nowMillis() + limits.keepAliveMillis();
  }

  /** Stored bytes are about to be sent; the client must take them at the least pace from now on. */
  public void downloadBegins() {
    sends();
    if (limits.pace().isBounded()) {
      paidMillis = nowMillis() + limits.pace().windowMillis();
    }
  }

  /** The client took so many stored bytes. */
  public void downloadGoesOn(long bytes) {
    sends();
    if (paidMillis != NEVER) {
      paidMillis =
          Math.min(
              paidMillis + limits.pace().millisFor(bytes),
              nowMillis() + limits.pace().mostAheadMillis());
    }
  }

  /** The client took the piece. */
  public void sent() {
    deadlineMillis = NEVER;
  }

  /** The answer is about to be sent and the next request's head is awaited. */
  public void answered(HttpServerRequest request) {
    readsOn();
    pending = null;
    readingBody = false;
    paidMillis = NEVER;
    long waitMillis =
        inHead ? limits.headMillis() : throttled ? THROTTLED_MILLIS : limits.keepAliveMillis();
    deadlineMillis = nowMillis() + Math.min(waitMillis, limits.keepAliveMillis());
    if (isPipelined) {
      // Others wait behind it, and may always do: what it took itself goes back alone.
      long own = Math.min(unreadBytes, weightOf(request.headers()));
      occupancy.giveUnread(client, own);
      unreadBytes -= own;
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
  public void lingers() {
    readsOn();
    closing = true;
    pending = null;
    readingBody = false;
    deadlineMillis = nowMillis() + limits.lingerMillis();
  }

  /** Closes a connection; requests that it still brings are not served. */
  public void close() {
    closing = true;
    closed = true;
    readingBody = false;
    paidMillis = NEVER;
    deadlineMillis = nowMillis() + limits.lingerMillis();
    http.close();
  }

  /**
   * Closes a connection and has the system forget what it holds for it: megabytes, which a client
   * that takes them slowly would be sent for hours.
   */
  void reset() {
    if (http instanceof ConnectionBase base) {
      base.channelHandlerContext().channel().config().setOption(ChannelOption.SO_LINGER, 0);
    }
    close();
  }

  long nowMillis() {
    return nanos.getAsLong() / 1_000_000;
  }
}
