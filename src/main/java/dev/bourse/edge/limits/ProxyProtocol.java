package dev.bourse.edge.limits;

import dev.bourse.core.FailureText;
import dev.bourse.core.Text;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has proxies tell, before anything else on a connection, whose it is. Only the proxies that are
 * known may connect: anybody else's header would be an address of their choice.
 *
 * <p>Netty reads the header (haproxy.org, "The PROXY protocol", versions 1 and 2); of all that it
 * may tell, only the client's address is looked at. Rejected: to leave it to Vert.x, which reads it
 * before anybody counts the connection or sees where it is from, and takes 64 KiB of it.
 */
public final class ProxyProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(ProxyProtocol.class);

  /**
   * Most bytes behind the addresses: what proxies add of their own, some tens of bytes a piece, and
   * is passed over. The protocol would allow 65,319.
   */
  private static final int MOST_ADDED_BYTES = 2_048;

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
    channel
        .pipeline()
        .addFirst(new HAProxyMessageDecoder(MOST_ADDED_BYTES), new HeaderHandler(then));
  }

  /** Stands behind what reads the header, and before everything else, until there is one. */
  private final class HeaderHandler extends ChannelInboundHandlerAdapter {
    private final Predicate<String> then;
    private boolean isRefused;

    HeaderHandler(Predicate<String> then) {
      this.then = then;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HAProxyMessage header) {
        try {
          take(context, header);
        } finally {
          header.release();
        }
      } else if (isRefused) {
        // What came with the header.
        ReferenceCountUtil.release(message);
      } else {
        context.fireChannelRead(message);
      }
    }

    private void take(ChannelHandlerContext context, HAProxyMessage header) {
      String source = told(header);
      if (source == null) {
        refuse(context, "it tells of no stream of this machine's");
        return;
      }
      context.channel().attr(SOURCE).set(source);
      if (then.test(source)) {
        context.pipeline().remove(this);
      } else {
        isRefused = true;
        context.close();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (!(cause instanceof DecoderException)) {
        context.fireExceptionCaught(cause);
      } else if (!isRefused) {
        refuse(context, Text.shown(FailureText.of(cause)));
      }
    }

    private void refuse(ChannelHandlerContext context, String why) {
      isRefused = true;
      malformed.increment();
      lastMalformed = why;
      context.close();
    }
  }

  /**
   * The client's address as sockets spell it; empty when the connection is the proxy's own, such as
   * one that checks health, or the proxy does not know; null when it cannot be.
   */
  private static @Nullable String told(HAProxyMessage header) {
    if (header.command() == HAProxyCommand.LOCAL) {
      return "";
    }
    HAProxyProxiedProtocol protocol = header.proxiedProtocol();
    return switch (protocol.addressFamily()) {
      case AF_UNSPEC, AF_UNIX -> "";
      case AF_IPv4, AF_IPv6 ->
          protocol.transportProtocol() == HAProxyProxiedProtocol.TransportProtocol.STREAM
              ? spelled(header.sourceAddress())
              : null;
    };
  }

  /** Null for one with the name of a network interface, which means nothing on another machine. */
  private static @Nullable String spelled(String address) {
    InetAddress read =
        address.indexOf('%') < 0 ? NetUtil.createInetAddressFromIpAddressString(address) : null;
    return read == null ? null : read.getHostAddress();
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
