package dev.bourse.signin;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.bourse.core.ApiException;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import java.time.Duration;

/** A rate limit for each of many callers: a number of attempts in 15 minutes. */
public final class AttemptLimiter {
  private static final Duration PERIOD = Duration.ofMinutes(15);

  /**
   * Callers that are tracked. An entry takes some 400 bytes, so this is 4 MB, and a dozen limiters
   * take at most a quarter of the heap: an attacker with a network of 65,536 client addresses must
   * not fill it. Beyond this, the least recently used caller is evicted, which only forgives its
   * attempts.
   */
  static final long MAX_CALLERS = 10_000;

  private final int perPeriod;
  private final String noun;
  private final LoadingCache<String, Bucket> buckets;

  /**
   * @param noun a noun for the attempts and their origin, used in the refusal
   */
  public AttemptLimiter(int perPeriod, String noun) {
    this.perPeriod = perPeriod;
    this.noun = noun;
    Bandwidth bandwidth =
        Bandwidth.builder().capacity(perPeriod).refillGreedy(perPeriod, PERIOD).build();
    this.buckets =
        Caffeine.newBuilder()
            .maximumSize(MAX_CALLERS)
            // A whole period refills any bucket, so an evicted one is equivalent to a new one.
            .expireAfterAccess(PERIOD.plusMinutes(1))
            .build(caller -> Bucket.builder().addLimit(bandwidth).build());
  }

  /**
   * Counts an attempt.
   *
   * @throws ApiException {@code rate-limited} when there were too many
   */
  public void count(String caller) {
    ConsumptionProbe probe = buckets.get(caller).tryConsumeAndReturnRemaining(1);
    if (!probe.isConsumed()) {
      throw ApiException.tooOften(
          "attempts",
          "more than %d %s in %d minutes".formatted(perPeriod, noun, PERIOD.toMinutes()),
          (probe.getNanosToWaitForRefill() + 999_999) / 1_000_000);
    }
  }

  /**
   * Counts an attempt; returns false if there were too many, for callers that must not disclose it.
   */
  boolean tryCount(String caller) {
    return buckets.get(caller).tryConsume(1);
  }

  /** The number of callers tracked now. */
  long callers() {
    buckets.cleanUp();
    return buckets.estimatedSize();
  }
}
