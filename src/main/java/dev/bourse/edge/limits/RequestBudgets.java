package dev.bourse.edge.limits;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.bourse.core.ApiException;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.vertx.core.http.HttpHeaders;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests per minute for each key (a token, a client address): a token bucket with a steady
 * refill, so that a rejected caller waits for one request's share and not for a whole minute.
 * Shared by all event loops.
 */
public final class RequestBudgets {
  /**
   * Cached buckets. One takes some 400 bytes, so this is 8 MB: a client with a network of 65,536
   * addresses must not fill the heap. Beyond it the least used bucket is evicted, which only resets
   * that key's budget.
   */
  static final long MAX_BUCKETS = 20_000;

  private final int perMinute;
  private final int burst;
  private final CharSequence policy;
  private final String noun;
  private final String reason;
  private final @Nullable LoadingCache<String, Bucket> buckets;

  /**
   * @param perMinute requests a minute; 0 for no budget
   * @param burst the most requests at once
   * @param noun a noun for the owner of the budget, used in the error
   * @param reason the budget's name in the error
   * @param nanos a monotonic clock
   */
  public RequestBudgets(int perMinute, int burst, String noun, String reason, LongSupplier nanos) {
    this.perMinute = perMinute;
    this.burst = burst;
    this.policy = HttpHeaders.createOptimized("\"default\";q=" + quota() + ";w=60");
    this.noun = noun;
    this.reason = reason;
    this.buckets = perMinute == 0 ? null : buckets(perMinute, burst, meter(nanos));
  }

  private static LoadingCache<String, Bucket> buckets(int perMinute, int burst, TimeMeter clock) {
    Bandwidth bandwidth =
        Bandwidth.builder().capacity(burst).refillGreedy(perMinute, Duration.ofMinutes(1)).build();
    return Caffeine.newBuilder()
        .maximumSize(MAX_BUCKETS)
        // Two minutes refill any bucket, so an evicted one equals a new one.
        .expireAfterAccess(Duration.ofMinutes(2))
        // Runs the cache's maintenance on this thread, because waking another thread costs more.
        .executor(Runnable::run)
        .build(key -> Bucket.builder().addLimit(bandwidth).withCustomTimePrecision(clock).build());
  }

  private static TimeMeter meter(LongSupplier nanos) {
    return new TimeMeter() {
      @Override
      public long currentTimeNanos() {
        return nanos.getAsLong();
      }

      @Override
      public boolean isWallClockBased() {
        return false;
      }
    };
  }

  /** Returns the most requests at once; 0 without a budget. */
  public int quota() {
    return perMinute == 0 ? 0 : burst;
  }

  /** Returns the header that states the budget. */
  public CharSequence policy() {
    return policy;
  }

  /** Spends one request of a key's budget, if one is left; null without a budget. */
  public @Nullable ConsumptionProbe spend(String key) {
    if (buckets == null) {
      return null;
    }
    return buckets.get(key).tryConsumeAndReturnRemaining(1);
  }

  /** Returns how many keys have a bucket now. */
  long keys() {
    if (buckets == null) {
      return 0;
    }
    buckets.cleanUp();
    return buckets.estimatedSize();
  }

  /** Returns the error of a failed probe. */
  public ApiException refusal(ConsumptionProbe probe) {
    return ApiException.tooOften(
        reason, "over " + perMinute + " requests a minute for this " + noun, waitMillis(probe));
  }

  /** Returns the time until a rejected request would succeed. */
  public static long waitMillis(ConsumptionProbe probe) {
    return (probe.getNanosToWaitForRefill() + 999_999) / 1_000_000;
  }

  /**
   * Returns the header of draft-ietf-httpapi-ratelimit-headers: the remaining requests, and the
   * seconds until the budget is full; after a rejection, until one more request is available, as in
   * Retry-After.
   */
  public static String rateLimit(ConsumptionProbe probe) {
    long seconds =
        probe.isConsumed()
            ? (probe.getNanosToWaitForReset() + 999_999_999L) / 1_000_000_000L
            : ApiException.retryAfterSeconds(waitMillis(probe));
    return "\"default\";r=" + probe.getRemainingTokens() + ";t=" + seconds;
  }
}
