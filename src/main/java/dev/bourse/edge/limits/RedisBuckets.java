package dev.bourse.edge.limits;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.distributed.AsyncBucketProxy;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.AsyncProxyManager;
import io.github.bucket4j.distributed.proxy.optimization.Optimizations;
import io.github.bucket4j.redis.lettuce.Bucket4jLettuce;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Token buckets on a Redis server. Nothing here waits: a call sends and returns, and its future is
 * completed by the client's own threads.
 */
final class RedisBuckets {
  /** Making a connection, TLS and log-in included, and trying it. */
  static final long CONNECT_MILLIS = 1_000;

  /**
   * Commands sent over a connection and not answered. Requests give up long before; this bounds
   * what a server that fell silent leaves behind until the connection is given up.
   */
  private static final int MAX_UNANSWERED = 4_096;

  /**
   * Buckets a connection keeps the handle of, some 5 MB. Requests of a token that come at the same
   * time share a handle, and with it one exchange with the server; one that is forgotten is made
   * again.
   */
  private static final int MAX_HANDLES = 10_000;

  /**
   * How often a write is tried again because another process was first; each loser had a winner.
   */
  private static final int MAX_RETRIES = 16;

  /** Beyond the time a bucket takes to refill, when it is as good as none, for clocks apart. */
  private static final Duration KEPT_AFTER_REFILL = Duration.ofSeconds(10);

  /** No token id has a tilde, so this is nobody's bucket. */
  private static final String TRIAL = "~trial";

  private static final RedisCodec<String, byte[]> CODEC =
      RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

  private final SharedBudgetConfig config;
  private final String keyPrefix;
  private final Supplier<CompletableFuture<BucketConfiguration>> bucket;
  private final TimeMeter clock;
  private final ClientResources resources;
  private final RedisClient client;
  private final RedisURI address;

  /**
   * Loads the client, which takes its time: not for an event loop. Connects nothing.
   *
   * @param perMinute capacity of a bucket and its refill in a minute, over 0
   * @param clock the time of day: processes share no other
   */
  RedisBuckets(SharedBudgetConfig config, int perMinute, Clock clock) {
    this.config = config;
    // Processes with different limits, as while a new one is rolled out, count apart.
    this.keyPrefix = "bourse:requests:" + perMinute + ":";
    BucketConfiguration configuration =
        BucketConfiguration.builder()
            .addLimit(
                Bandwidth.builder()
                    .capacity(perMinute)
                    .refillGreedy(perMinute, Duration.ofMinutes(1))
                    .build())
            .build();
    this.bucket = () -> CompletableFuture.completedFuture(configuration);
    this.clock = wallClock(clock);
    this.resources =
        ClientResources.builder()
            // The least the client accepts; one connection needs one.
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            // The JVM's, as everywhere in this process; it runs on the client's threads.
            .addressResolverGroup(DefaultAddressResolverGroup.INSTANCE)
            .build();
    this.address = address(config);
    this.client = RedisClient.create(resources);
    client.setOptions(
        ClientOptions.builder()
            // A connection that broke, or is silent, is replaced by one that was tried first.
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .requestQueueSize(MAX_UNANSWERED)
            .maintNotificationsConfig(MaintNotificationsConfig.disabled())
            .socketOptions(
                SocketOptions.builder().connectTimeout(Duration.ofMillis(CONNECT_MILLIS)).build())
            .build());
  }

  private static RedisURI address(SharedBudgetConfig config) {
    RedisURI.Builder builder =
        RedisURI.builder()
            .withHost(config.host())
            .withPort(config.port())
            .withSsl(config.tls())
            .withDatabase(config.database())
            .withTimeout(Duration.ofMillis(CONNECT_MILLIS));
    if (!config.user().isEmpty()) {
      builder.withAuthentication(config.user(), config.password().toCharArray());
    } else if (!config.password().isEmpty()) {
      builder.withPassword(config.password().toCharArray());
    }
    return builder.build();
  }

  private static TimeMeter wallClock(Clock clock) {
    return new TimeMeter() {
      @Override
      public long currentTimeNanos() {
        return clock.millis() * 1_000_000;
      }

      @Override
      public boolean isWallClockBased() {
        return true;
      }
    };
  }

  /** Makes a connection and tries it; completes within {@link #CONNECT_MILLIS} either way. */
  CompletableFuture<Link> connect() {
    CompletableFuture<StatefulRedisConnection<String, byte[]>> opening;
    try {
      opening = client.connectAsync(CODEC, address).toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    CompletableFuture<Link> tried =
        opening
            .thenCompose(connection -> new Link(connection).tried())
            .orTimeout(CONNECT_MILLIS, TimeUnit.MILLISECONDS);
    tried.whenComplete(
        (link, failure) -> {
          if (failure != null) {
            opening.thenAccept(StatefulRedisConnection::closeAsync);
          }
        });
    return tried;
  }

  /** Whether a failure of the client's says less than its cause. */
  static boolean isWrapping(Throwable failure) {
    return failure instanceof RedisException;
  }

  /** Ends the client's threads; links are to be closed before. */
  CompletableFuture<Void> close() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    client
        .shutdownAsync(0, CONNECT_MILLIS, TimeUnit.MILLISECONDS)
        .whenComplete(
            (done, failure) ->
                resources
                    .shutdown(0, CONNECT_MILLIS, TimeUnit.MILLISECONDS)
                    .addListener(ended -> closed.complete(null)));
    return closed;
  }

  /** One connection and the buckets over it. It does not come back when it is lost. */
  final class Link {
    private final StatefulRedisConnection<String, byte[]> connection;
    private final AsyncProxyManager<String> proxies;
    private final Cache<String, AsyncBucketProxy> handles =
        Caffeine.newBuilder()
            .maximumSize(MAX_HANDLES)
            .expireAfterAccess(Duration.ofMinutes(2))
            // To wake another thread for the upkeep costs more than the upkeep.
            .executor(Runnable::run)
            .build();

    private Link(StatefulRedisConnection<String, byte[]> connection) {
      this.connection = connection;
      this.proxies =
          Bucket4jLettuce.casBasedBuilder(connection)
              .clientClock(clock)
              .requestTimeout(Duration.ofMillis(config.timeoutMillis()))
              .maxRetries(MAX_RETRIES)
              .expirationAfterWrite(
                  ExpirationAfterWriteStrategy.basedOnTimeForRefillingBucketUpToMax(
                      KEPT_AFTER_REFILL))
              .build()
              .asAsync();
    }

    /**
     * Writes a bucket that is nobody's: a server may take a log-in and refuse to write. It must be
     * done in a request's time, but for what goes before it, which loads the classes it takes.
     */
    private CompletableFuture<Link> tried() {
      AsyncBucketProxy trial = handle(TRIAL);
      return trial
          .tryConsumeAndReturnRemaining(1)
          .handle((probe, tooSlow) -> tooSlow == null)
          .thenCompose(warm -> trial.addTokens(1))
          .thenApply(done -> this);
    }

    /**
     * Spends one request of a key's budget. Fails when the server has not answered in the time set,
     * with what it refused, or with what became of the connection.
     */
    CompletableFuture<ConsumptionProbe> spend(String key) {
      try {
        return handles
            .get(key, this::handle)
            .tryConsumeAndReturnRemaining(1)
            // Over all: a request may first wait for those of its token before it.
            .orTimeout(config.timeoutMillis(), TimeUnit.MILLISECONDS);
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    /**
     * Without this the requests of one busy token would race each other for its bucket, each
     * reading what another is about to change.
     */
    private AsyncBucketProxy handle(String key) {
      return proxies
          .builder()
          .withOptimization(Optimizations.batching())
          .build(keyPrefix + key, bucket);
    }

    /** Calls once the connection is lost or closed. */
    void onLost(Runnable call) {
      connection.addListener(
          new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
              call.run();
            }
          });
      if (!connection.isOpen()) {
        call.run();
      }
    }

    /** Fails what is under way. */
    CompletableFuture<Void> close() {
      return connection.closeAsync();
    }
  }
}
