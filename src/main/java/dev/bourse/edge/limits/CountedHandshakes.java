package dev.bourse.edge.limits;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.DelegatingSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.spi.tls.DefaultSslContextFactory;
import io.vertx.core.spi.tls.SslContextFactory;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * The JDK's TLS, with each connection counted from the moment it is accepted. Vert.x reports a
 * connection only after its handshake, so connections that never finish one would not be counted.
 */
public final class CountedHandshakes extends JdkSSLEngineOptions {
  /**
   * The most bytes of one read: a record with its frame, which waits in memory until it is
   * complete. Netty would read up to 64 KiB, and one waiting byte keeps the whole buffer.
   */
  private static final int MOST_READ_BYTES = 16_384 + 512;

  private static final int FIRST_READ_BYTES = 2_048;
  private static final int LEAST_READ_BYTES = 256;

  /**
   * Sessions kept for clients without tickets, at some 4 KiB each, which allow a shorter handshake;
   * the JDK's default of 20,480 would take half of a small heap.
   */
  private static final int MOST_SESSIONS = 1_024;

  private static final int SESSION_SECONDS = 3_600;

  private final Map<EventLoop, Connections> byLoop;

  public CountedHandshakes() {
    this(new ConcurrentHashMap<>());
  }

  private CountedHandshakes(Map<EventLoop, Connections> byLoop) {
    this.byLoop = byLoop;
  }

  /** Counts the handshakes of an event loop there. */
  public void countAt(EventLoop loop, Connections connections) {
    byLoop.put(loop, connections);
  }

  /** Shares the counts, because Vert.x copies its options. */
  @Override
  public CountedHandshakes copy() {
    return new CountedHandshakes(byLoop);
  }

  @Override
  public SslContextFactory sslContextFactory() {
    return new Factory(byLoop);
  }

  private static final class Factory extends DefaultSslContextFactory {
    private final Map<EventLoop, Connections> byLoop;

    Factory(Map<EventLoop, Connections> byLoop) {
      super(SslProvider.JDK, false);
      this.byLoop = byLoop;
    }

    @Override
    public SslContext create() throws SSLException {
      SslContext context = super.create();
      context.sessionContext().setSessionCacheSize(MOST_SESSIONS);
      context.sessionContext().setSessionTimeout(SESSION_SECONDS);
      return new Context(context, byLoop);
    }
  }

  private static final class Context extends DelegatingSslContext {
    private final Map<EventLoop, Connections> byLoop;

    Context(SslContext context, Map<EventLoop, Connections> byLoop) {
      super(context);
      this.byLoop = byLoop;
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, boolean startTls, Executor executor) {
      return new Handler(newEngine(allocator), startTls, executor, byLoop);
    }

    @Override
    protected SslHandler newHandler(
        ByteBufAllocator allocator, String host, int port, boolean startTls, Executor executor) {
      return new Handler(newEngine(allocator, host, port), startTls, executor, byLoop);
    }

    @Override
    protected void initEngine(SSLEngine engine) {
      // Keeps the engine unchanged.
    }
  }

  private static final class Handler extends SslHandler {
    private final Map<EventLoop, Connections> byLoop;

    Handler(
        SSLEngine engine, boolean startTls, Executor executor, Map<EventLoop, Connections> byLoop) {
      super(engine, startTls, executor);
      this.byLoop = byLoop;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) throws Exception {
      super.handlerAdded(context);
      Channel channel = context.channel();
      channel
          .config()
          .setRecvByteBufAllocator(
              new AdaptiveRecvByteBufAllocator(
                  LEAST_READ_BYTES, FIRST_READ_BYTES, MOST_READ_BYTES));
      Connections connections = byLoop.get(channel.eventLoop());
      if (connections == null) {
        channel.close();
      } else {
        connections.accepted(channel);
      }
    }
  }
}
