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
 * Has proxies tell, before anything else on a connection, whose it is. Only the proxies that are
 * known may connect: anybody else's header would be an address of their choice.
 *
 * <p>Rejected: what Vert.x has for it, which reads the header before anybody counts the connection
 * or sees where it is from, and takes 64 KiB of it; and Netty's decoder behind that (4.2.13). It
 * does not give back the buffer of a header whose additions end too early, and collects without
 * bound behind a version of 255, which it takes for none yet.
 */
public final class ProxyProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(ProxyProtocol.class);

  /** One line a minute at most, so that a flood does not fill the log too. */
  private static final long REPORT_NANOS = 60_000_000_000L;

  /** What the header of a connection said; absent until it is read. */
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

  /** Whether this address may connect; counts one that may not. */
  boolean admits(String peer) {
    if (clients.isProxy(peer)) {
      return true;
    }
    untrusted.increment();
    lastUntrusted = peer;
    return false;
  }

  /** What a connection's header said of its client's address; null while it is awaited. */
  static @Nullable String source(Channel channel) {
    Attribute<String> known = channel.attr(SOURCE);
    return known.get();
  }

  /**
   * Reads the header of a connection before all else.
   *
   * @param then told of the client's address, empty for a connection of the proxy's own; whether
   *     the connection may go on, for which it is not closed
   */
  void read(Channel channel, Predicate<String> then) {
    channel.pipeline().addFirst(new HeaderHandler(then));
  }

  /** Stands before everything else until the header is read. */
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
      } catch (ProxyHeader.Malformed fault) {
        malformed.increment();
        lastMalformed = String.valueOf(fault.getMessage());
      }
      isRefused = true;
      in.skipBytes(in.readableBytes());
      context.close();
    }

    /** A connection that ends within its header ends: nobody is behind whom that would concern. */
    @Override
    protected void decodeLast(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      in.skipBytes(in.readableBytes());
    }
  }

  /** Logs what was refused since the last time, if anything, once a minute at most. */
  public synchronized void report(long nowNanos) {
    long all = untrusted() + malformed();
    if (all == reported || (reported > 0 && nowNanos - reportedNanos < REPORT_NANOS)) {
      return;
    }
    reportedNanos = nowNanos;
    LOG.warn(
        """
        {} connections were closed for their PROXY header: {} in all of addresses that proxies \
        does not list{}, and {} without a header that can be read{}\
        """,
        all - reported,
        untrusted(),
        lastUntrusted.isEmpty() ? "" : ", the last " + lastUntrusted,
        malformed(),
        lastMalformed.isEmpty() ? "" : ", the last because " + lastMalformed);
    reported = all;
  }

  /** Connections that were closed because their address is none of a known proxy. */
  public long untrusted() {
    return untrusted.sum();
  }

  /** Connections that were closed because they began with something else than a header. */
  public long malformed() {
    return malformed.sum();
  }
}
