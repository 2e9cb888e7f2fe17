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
 * One connection of an event loop: its resources and the deadline of its client. {@link
 * Connections} manages all of them.
 */
public final class OpenConnection {
  /**
   * How long the connection of a throttled client stays open: somewhat longer than the second or so
   * after which the client may retry.
   */
  private static final long THROTTLED_MILLIS = 5_000;

  private static final long NEVER = Long.MAX_VALUE;

  /** A request without a complete response. */
  public interface PendingRequest {
    /** Returns whether a part of the body is unread. */
    boolean hasUnread();

    /** Reports that its body arrives too slowly. */
    void reportSlowBody();

    /** Reports that the client has disconnected. */
    void abandon();
  }

  /** The memory of a head's line as a header: a map entry, a name and a value, or a request. */
  private static final int LINE_BYTES = 256;

  /** Returns the memory of waiting bytes: a buffer that grows by doubling, and the parsed lines. */
  static long weight(int bytes, int lines) {
    return 2L * bytes + (long) LINE_BYTES * lines;
  }

  private final EdgeLimits limits;
  private final LongSupplier nanos;
  private final Occupancy occupancy;
  final HttpConnection http;

  /** The client whose resources it uses; replaced when a proxy reports the real one. */
  Occupancy.ClientShare client;

  /** The client's address, from the proxy if there is one. */
  private String peer;

  /** True if a proxy reports the connection as its own, without a client behind it. */
  private boolean isOfProxy;

  long deadlineMillis;

  /** The deadline of a download, given the bytes that its client has taken so far. */
  long paidMillis = NEVER;

  @Nullable PendingRequest pending;
  boolean readingBody;
  boolean closing;
  boolean closed;

  /** The reserved memory of unread bytes. */
  long unreadBytes;

  /** True if only a part of a head has arrived. */
  boolean inHead;

  /** True while the body is paused. */
  private boolean heldBack;

  private boolean throttled;
  private int entered;
  private boolean hadBody;

  /** Looked up once, at the first request that needs it, because a handshake is not repeated. */
  private @Nullable Boolean showsCertificate;

  /** True if requests arrived before the previous one was answered. */
  boolean isPipelined;

  OpenConnection(
      HttpConnection http,
      String peer,
      Occupancy.ClientShare client,
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
   * Sets the client that a proxy reported.
   *
   * @param source the client's address; empty if the connection is the proxy's own
   */
  void setSource(String source) {
    isOfProxy = source.isEmpty();
    if (!isOfProxy) {
      peer = source;
    }
  }

  /** Returns the client's address. */
  public String peer() {
    return peer;
  }

  /**
   * Returns whether {@code X-Forwarded-For} may be trusted if the address is a known proxy. It may
   * not if the PROXY header named no client, because then the proxy forwards the header of an
   * unknown sender.
   */
  public boolean mayForward() {
    return !isOfProxy;
  }

  /** Returns whether the client presented a certificate, which the handshake has verified. */
  public boolean showsCertificate() {
    Boolean known = showsCertificate;
    if (known == null) {
      known = hasPeerCertificate(http.sslSession());
      showsCertificate = known;
    }
    return known;
  }

  /** Returns whether the session has a client certificate. */
  public static boolean hasPeerCertificate(@Nullable SSLSession session) {
    try {
      return session != null && session.getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException none) {
      return false;
    }
  }

  /** Returns whether the next bytes belong to a head. */
  boolean isBetweenRequests() {
    return pending == null;
  }

  /** Returns the number of requests, for detecting changes. */
  int entered() {
    return entered;
  }

  /** Returns whether the last request had a body, after which lines may not belong to a head. */
  boolean hadBody() {
    return hadBody;
  }

  /** Returns whether the next bytes belong to a body. */
  boolean isInBody() {
    return pending != null && pending.hasUnread();
  }

  /** Returns whether a complete request is unanswered, so that new bytes wait behind it. */
  boolean isAnswering() {
    return pending != null && !pending.hasUnread();
  }

  /** Returns whether the service waits for the client. */
  boolean isAwaited() {
    return (pending == null || readingBody) && !closing;
  }

  /** Releases the memory if all received bytes were read. */
  public void settled() {
    if (unreadBytes > 0 && pending == null && !inHead) {
      releaseUnread();
    }
  }

  void releaseUnread() {
    if (unreadBytes > 0) {
      occupancy.releaseUnread(client, unreadBytes);
      unreadBytes = 0;
    }
    isPipelined = false;
  }

  /** Shortens the deadline of a client that sends too many requests. */
  public void throttles() {
    throttled = true;
  }

  /** Records a complete head; no data is awaited from the client. */
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

  /** Starts the deadline of a body, which grows with the arriving bytes. */
  public void bodyBegins() {
    readsOn();
    readingBody = true;
    deadlineMillis = nowMillis() + limits.bodyGraceMillis();
  }

  /**
   * Extends the deadline by arrived bytes, up to that of a silent connection; otherwise a gigabyte
   * would extend it by weeks.
   */
  public void bodyGrows(int bytes) {
    deadlineMillis =
        Math.min(
            deadlineMillis + bytes * 1_000L / limits.minBodyBytesPerSecond(),
            nowMillis() + limits.keepAliveMillis());
  }

  /**
   * Pauses the body because the service is not ready, which stops the deadline. Further data waits
   * in the network, except for one read: Vert.x alone would read some 200 KiB into direct memory,
   * which a few hundred waiting clients would exhaust.
   */
  public void bodyWaits() {
    heldBack = true;
    deadlineMillis = NEVER;
  }

  /** Returns whether the body's data has to wait in the network. */
  boolean isHeldBack() {
    return heldBack;
  }

  private void readsOn() {
    if (heldBack && http instanceof ConnectionBase base) {
      base.channelHandlerContext().channel().config().setAutoRead(true);
    }
    heldBack = false;
  }

  /** Records the end of the body. */
  public void bodyEnds() {
    readingBody = false;
    deadlineMillis = NEVER;
  }

  /** Starts the deadline of a piece of a long response. */
  public void sends() {
    deadlineMillis = nowMillis() + limits.keepAliveMillis();
  }

  /** Starts a download, which the client must take at the minimum pace. */
  public void downloadBegins() {
    sends();
    if (limits.pace().isBounded()) {
      paidMillis = nowMillis() + limits.pace().windowMillis();
    }
  }

  /** Extends the deadline by stored bytes that the client took. */
  public void downloadGoesOn(long bytes) {
    sends();
    if (paidMillis != NEVER) {
      paidMillis =
          Math.min(
              paidMillis + limits.pace().millisFor(bytes),
              nowMillis() + limits.pace().mostAheadMillis());
    }
  }

  /** Records that the client took the piece. */
  public void sent() {
    deadlineMillis = NEVER;
  }

  /** Starts the wait for the next request's head; called before the response is sent. */
  public void answered(HttpServerRequest request) {
    readsOn();
    pending = null;
    readingBody = false;
    paidMillis = NEVER;
    long waitMillis =
        inHead ? limits.headMillis() : throttled ? THROTTLED_MILLIS : limits.keepAliveMillis();
    deadlineMillis = nowMillis() + Math.min(waitMillis, limits.keepAliveMillis());
    if (isPipelined) {
      // Other requests wait behind it, perhaps at all times, so only its own memory is released.
      long own = Math.min(unreadBytes, weightOf(request.headers()));
      occupancy.releaseUnread(client, own);
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

  /**
   * Prepares to close the connection soon, because the response is sent before the whole request
   * was read.
   */
  public void lingers() {
    readsOn();
    closing = true;
    pending = null;
    readingBody = false;
    deadlineMillis = nowMillis() + limits.lingerMillis();
  }

  /** Closes a connection; further requests on it are not served. */
  public void close() {
    closing = true;
    closed = true;
    readingBody = false;
    paidMillis = NEVER;
    deadlineMillis = nowMillis() + limits.lingerMillis();
    http.close();
  }

  /**
   * Closes a connection and makes the system drop its send buffer: megabytes, which a slow client
   * would take hours to read.
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
