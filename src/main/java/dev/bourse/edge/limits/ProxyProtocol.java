package dev.bourse.edge.limits;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requires proxies to send the client's address before all other data of a connection. Only known
 * proxies may connect, because anybody else could send any address.
 *
 * <p>Rejected: Vert.x's support, which reads the header before the connection is counted or its
 * address is checked, and accepts 64 KiB of it; and Netty's decoder behind that (4.2.13), which
 * leaks the buffer of a header with truncated additions, and buffers without limit after version
 * 255, which it treats as incomplete.
 */
public final class ProxyProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(ProxyProtocol.class);

  /** One log line a minute at most, so that a flood does not fill the log. */
  private static final long REPORT_NANOS = 60_000_000_000L;

  /** The address from a connection's header; absent until it is read. */
  private static final AttributeKey<String> SOURCE = AttributeKey.valueOf("bourse.proxied-source");

  private final ClientAddress clients;
  private final LongAdder untrusted = new LongAdder();
  private final LongAdder malformed = new LongAdder();
  private volatile String lastUntrusted = "";
  private volatile String lastMalformed = "";
  private long reportedNanos;
  private long reported;

  /**
   * @param clients knows the proxies
   */
  public ProxyProtocol(ClientAddress clients) {
    this.clients = clients;
  }

  /** Returns whether this address may connect; counts rejections. */
  boolean admits(String peer) {
    if (clients.isProxy(peer)) {
      return true;
    }
    untrusted.increment();
    lastUntrusted = peer;
    return false;
  }

  /** Returns the client's address from the connection's header; null while it is awaited. */
  static @Nullable String source(Channel channel) {
    Attribute<String> known = channel.attr(SOURCE);
    return known.get();
  }

  /**
   * Reads the header of a connection before all other data.
   *
   * @param then receives the client's address, empty for a connection of the proxy's own, and
   *     returns whether the connection may continue
   */
  void read(Channel channel, Predicate<String> then) {
    channel.pipeline().addFirst(new HeaderHandler(then));
  }

  /** The first handler of the pipeline until the header is read. */
  private final class HeaderHandler extends ByteToMessageDecoder {
    private final Predicate<String> then;
    private boolean isRefused;

    HeaderHandler(Predicate<String> then) {
      this.then = then;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      if (isRefused) {
        in.skipBytes(in.readableBytes());
        return;
      }
      try {
        ProxyHeader header = ProxyHeader.read(in);
        if (header == null) {
          return;
        }
        context.channel().attr(SOURCE).set(header.source());
        if (then.test(header.source())) {
          context.pipeline().remove(this);
          return;
        }
      } catch (ProxyHeader.MalformedException fault) {
        malformed.increment();
        lastMalformed = String.valueOf(fault.getMessage());
      }
      isRefused = true;
      in.skipBytes(in.readableBytes());
      context.close();
    }

    /** A connection that ends within its header is dropped silently. */
    @Override
    protected void decodeLast(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      in.skipBytes(in.readableBytes());
    }
  }

  /** Logs the number of rejections since the last time, if any, at most once a minute. */
  public synchronized void report(long nowNanos) {
    long all = untrusted() + malformed();
    if (all == reported || (reported > 0 && nowNanos - reportedNanos < REPORT_NANOS)) {
      return;
    }
    reportedNanos = nowNanos;
    LOG.warn(
        """
        closed {} connections because of their PROXY header; in total {} from addresses that \
        proxies does not list{}, and {} without a valid header{}\
        """,
        all - reported,
        untrusted(),
        lastUntrusted.isEmpty() ? "" : ", the last " + lastUntrusted,
        malformed(),
        lastMalformed.isEmpty() ? "" : ", the last because " + lastMalformed);
    reported = all;
  }

  /**
   * Returns the number of connections that were closed because their address is not a known proxy.
   */
  public long untrusted() {
    return untrusted.sum();
  }

  /**
   * Returns the number of connections that were closed because they did not start with a valid
   * header.
   */
  public long malformed() {
    return malformed.sum();
  }
}
