package dev.bourse.simulation;

import dev.bourse.logs.RequestContexts;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.impl.VertxBootstrapImpl;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.ExecutorServiceFactory;
import io.vertx.core.spi.file.FileResolver;
import io.vertx.core.spi.transport.Transport;
import java.io.File;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * A Vert.x without threads: its timers and contexts run on one loop, its workers on a given
 * executor.
 */
public final class ManualVertx {
  private ManualVertx() {}

  /**
   * Creates an instance.
   *
   * @param loop runs everything
   * @param workers runs blocking work
   */
  public static Vertx make(ManualLoop loop, Executor workers) {
    VertxBootstrapImpl bootstrap = new VertxBootstrapImpl(new VertxOptions());
    bootstrap.transport(new OneLoop(loop));
    bootstrap.executorServiceFactory(new GivenWorkers(workers));
    bootstrap.serviceProviders(List.of(new RequestContexts()));
    bootstrap.fileResolver(new NoResources());
    Vertx vertx = bootstrap.init().vertx();
    // It watches threads by real time, and is a thread itself.
    ((VertxInternal) vertx).blockedThreadChecker().close();
    return vertx;
  }

  /** The default resolver creates a folder, and a thread that deletes it when the JVM ends. */
  private static final class NoResources implements FileResolver {
    @Override
    public File resolve(String fileName) {
      return new File(fileName);
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  private record OneLoop(ManualLoop loop) implements Transport {
    @Override
    public EventLoopGroup eventLoopGroup(
        int type, int threads, ThreadFactory factory, int ioRatio) {
      return loop;
    }

    @Override
    public IoHandlerFactory ioHandlerFactory() {
      throw noNetwork();
    }

    @Override
    public DatagramChannel datagramChannel() {
      throw noNetwork();
    }

    @Override
    @SuppressWarnings("deprecation") // Vert.x asks for it so.
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
      throw noNetwork();
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean isDomainSocket) {
      throw noNetwork();
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean isDomainSocket) {
      throw noNetwork();
    }

    private static UnsupportedOperationException noNetwork() {
      return new UnsupportedOperationException("there is no network in a simulation");
    }
  }

  private record GivenWorkers(Executor workers) implements ExecutorServiceFactory {
    @Override
    public ExecutorService createExecutor(
        ThreadFactory threadFactory, Integer concurrency, Integer maxConcurrency) {
      return new AbstractExecutorService() {
        private boolean isShutdown;

        @Override
        public void execute(Runnable command) {
          workers.execute(command);
        }

        @Override
        public void shutdown() {
          isShutdown = true;
        }

        @Override
        public List<Runnable> shutdownNow() {
          isShutdown = true;
          return List.of();
        }

        @Override
        public boolean isShutdown() {
          return isShutdown;
        }

        @Override
        public boolean isTerminated() {
          return isShutdown;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
          return isShutdown;
        }
      };
    }
  }
}
