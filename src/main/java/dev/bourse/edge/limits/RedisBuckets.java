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
 * Token buckets on a Redis server. Calls do not block; their futures complete on the client's own
 * threads.
 */
final class RedisBuckets {
  /** The time limit of a connection attempt, including TLS, log-in and a test. */
  static final long CONNECT_MILLIS = 1_000;

  /**
   * Commands without an answer on a connection. Requests time out long before; this bounds the
   * commands to a silent server until the connection is dropped.
   */
  private static final int MAX_UNANSWERED = 4_096;

  /**
   * Cached bucket handles of a connection, some 5 MB. Concurrent requests of a token share a
   * handle, and so one exchange with the server; an evicted handle is created again.
   */
  private static final int MAX_HANDLES = 10_000;

  /** Retries of a write that another process won; each lost race has a winner. */
  private static final int MAX_RETRIES = 16;

  /**
   * Added to the refill time of a bucket, after which it equals a new one, to allow for clock
   * differences.
   */
  private static final Duration KEPT_AFTER_REFILL = Duration.ofSeconds(10);

  /** Not a valid token id, so this bucket belongs to nobody. */
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
   * Loads the client, which is slow, so do not call it on an event loop. Does not connect.
   *
   * @param perMinute the capacity of a bucket and its refill per minute, over 0
   * @param clock the time of day, which is the only clock that processes share
   */
  RedisBuckets(SharedBudgetConfig config, int perMinute, Clock clock) {
    this.config = config;
    // Processes with different limits, for example during a rollout, count separately.
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
            // The minimum that the client accepts; one connection needs one thread.
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            // The JVM's resolver, as everywhere in this process; it runs on the client's threads.
            .addressResolverGroup(DefaultAddressResolverGroup.INSTANCE)
            .build();
    this.address = address(config);
    this.client = RedisClient.create(resources);
    client.setOptions(
        ClientOptions.builder()
            // A broken or silent connection is replaced by a new one that was tested first.
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

  /**
   * Connects and tests the connection; completes within {@link #CONNECT_MILLIS}, with success or
   * failure.
   */
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

  /** Returns whether a failure of the client only wraps its cause. */
  static boolean isWrapping(Throwable failure) {
    return failure instanceof RedisException;
  }

  /** Ends the client's threads; close the links first. */
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

  /** One connection and its buckets. It does not reconnect after a loss. */
  final class Link {
    private final StatefulRedisConnection<String, byte[]> connection;
    private final AsyncProxyManager<String> proxies;
    private final Cache<String, AsyncBucketProxy> handles =
        Caffeine.newBuilder()
            .maximumSize(MAX_HANDLES)
            .expireAfterAccess(Duration.ofMinutes(2))
            // Runs the cache's maintenance on this thread, because waking another thread costs
            // more.
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
     * Writes a test bucket, because a server may accept the log-in and reject writes. Only the
     * write has the deadline of a request; the step before it loads the client's classes.
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
     * Spends one request of a key's budget. Fails if the server does not answer within the time
     * limit or rejects the command, or if the connection is lost.
     */
    CompletableFuture<ConsumptionProbe> spend(String key) {
      try {
        return handles
            .get(key, this::handle)
            .tryConsumeAndReturnRemaining(1)
            // The time limit of the whole call, because a request may first wait for earlier ones
            // of its token.
            .orTimeout(config.timeoutMillis(), TimeUnit.MILLISECONDS);
      } catch (RuntimeException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    /**
     * Returns the shared handle of a key. Without it, concurrent requests of one busy token would
     * race for its bucket.
     */
    private AsyncBucketProxy handle(String key) {
      return proxies
          .builder()
          .withOptimization(Optimizations.batching())
          .build(keyPrefix + key, bucket);
    }

    /** Runs a callback when the connection is lost or closed. */
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

    /** Closes the connection and fails pending commands. */
    CompletableFuture<Void> close() {
      return connection.closeAsync();
    }
  }
}
