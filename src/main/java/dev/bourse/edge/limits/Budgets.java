package dev.bourse.edge.limits;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
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
public final class Budgets {
  /**
   * Buckets kept. One takes about 300 bytes, so this is some 30 MB; beyond it the least used is
   * forgotten, which only forgives what that key has spent.
   */
  private static final long MAX_BUCKETS = 100_000;

  private final int perMinute;
  private final int burst;
  private final String noun;
  private final String reason;
  private final TimeMeter clock;
  private final @Nullable Cache<String, Bucket> buckets;

  /**
   * @param perMinute requests a minute; 0 for no budget
   * @param burst most that can be spent at once
   * @param noun whose budget it is, for the error
   * @param reason how the error names this budget
   * @param nanos a monotonic clock
   */
  public Budgets(int perMinute, int burst, String noun, String reason, LongSupplier nanos) {
    this.perMinute = perMinute;
    this.burst = burst;
    this.noun = noun;
    this.reason = reason;
    this.clock =
        new TimeMeter() {
          @Override
          public long currentTimeNanos() {
            return nanos.getAsLong();
          }

          @Override
          public boolean isWallClockBased() {
            return false;
          }
        };
    this.buckets =
        perMinute == 0
            ? null
            : Caffeine.newBuilder()
                .maximumSize(MAX_BUCKETS)
                // Two minutes refill any bucket, so what goes is as good as new.
                .expireAfterAccess(Duration.ofMinutes(2))
                // To wake another thread for the upkeep costs more than the upkeep.
                .executor(Runnable::run)
                .build();
  }

  /** Most that can be spent at once; 0 when there is no budget. */
  public int quota() {
    return perMinute == 0 ? 0 : burst;
  }

  /**
   * Spends one request of a key's budget; null when there is no budget to spend.
   *
   * @throws ApiError {@code rate-limited} when none is left
   */
  public @Nullable ConsumptionProbe spend(String key) {
    if (buckets == null) {
      return null;
    }
    ConsumptionProbe probe = buckets.get(key, this::bucket).tryConsumeAndReturnRemaining(1);
    return probe;
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

  private Bucket bucket(String key) {
    return Bucket.builder()
        .addLimit(
            Bandwidth.builder()
                .capacity(burst)
                .refillGreedy(perMinute, Duration.ofMinutes(1))
                .build())
        .withCustomTimePrecision(clock)
        .build();
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
