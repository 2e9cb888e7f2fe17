package dev.bourse.edge.limits;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.bourse.core.ApiError;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A budget of requests per minute for each key (a token, a client address): a token bucket that
 * refills evenly, so that a refused caller waits for one request's share and not for a whole
 * minute. Shared by all event loops.
 */
public final class RequestBudgets {
  /**
   * Buckets kept. One takes some 400 bytes, so this is 8 MB: whoever has a network of 65,536 client
   * addresses must not fill the heap with them. Beyond it the least used is forgotten, which only
   * forgives what that key has spent.
   */
  static final long MAX_BUCKETS = 20_000;

  private final int perMinute;
  private final int burst;
  private final String noun;
  private final String reason;
  private final @Nullable LoadingCache<String, Bucket> buckets;

  /**
   * @param perMinute requests a minute; 0 for no budget
   * @param burst most that can be spent at once
   * @param noun whose budget it is, for the error
   * @param reason how the error names this budget
   * @param nanos a monotonic clock
   */
  public RequestBudgets(int perMinute, int burst, String noun, String reason, LongSupplier nanos) {
    this.perMinute = perMinute;
    this.burst = burst;
    this.noun = noun;
    this.reason = reason;
    this.buckets = perMinute == 0 ? null : buckets(perMinute, burst, meter(nanos));
  }

  private static LoadingCache<String, Bucket> buckets(int perMinute, int burst, TimeMeter clock) {
    Bandwidth bandwidth =
        Bandwidth.builder().capacity(burst).refillGreedy(perMinute, Duration.ofMinutes(1)).build();
    return Caffeine.newBuilder()
        .maximumSize(MAX_BUCKETS)
        // Two minutes refill any bucket, so what goes is as good as new.
        .expireAfterAccess(Duration.ofMinutes(2))
        // To wake another thread for the upkeep costs more than the upkeep.
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

  /** Most that can be spent at once; 0 when there is no budget. */
  public int quota() {
    return perMinute == 0 ? 0 : burst;
  }

  /** Spends one request of a key's budget, if one is left; null when there is no budget at all. */
  public @Nullable ConsumptionProbe spend(String key) {
    if (buckets == null) {
      return null;
    }
    return buckets.get(key).tryConsumeAndReturnRemaining(1);
  }

  /** How many keys have a bucket now. */
  long keys() {
    if (buckets == null) {
      return 0;
    }
    buckets.cleanUp();
    return buckets.estimatedSize();
  }

  /** The refusal a failed probe stands for. */
  public ApiError refusal(ConsumptionProbe probe) {
    return ApiError.tooOften(
        reason, "over " + perMinute + " requests a minute for this " + noun, waitMillis(probe));
  }

  /** How long until a refused request will do. */
  public static long waitMillis(ConsumptionProbe probe) {
    return (probe.getNanosToWaitForRefill() + 999_999) / 1_000_000;
  }

  /**
   * The header of draft-ietf-httpapi-ratelimit-headers: what is left, and seconds until all is; of
   * a refused request, until there is one more, as in Retry-After.
   */
  public static String rateLimit(ConsumptionProbe probe) {
    long seconds =
        probe.isConsumed()
            ? (probe.getNanosToWaitForReset() + 999_999_999L) / 1_000_000_000L
            : ApiError.retryAfterSeconds(waitMillis(probe));
    return "\"default\";r=" + probe.getRemainingTokens() + ";t=" + seconds;
  }
}
