package dev.bourse.org;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A SCIM 2.0 (RFC 7644) identity provider that looks members up by user name, which is the member's
 * username. A person counts as the member only if the member's address is one of theirs too,
 * because two organizations may each have an alice.
 *
 * <p>A slow or unreachable directory costs one answer the time-out and the next ones nothing: after
 * a failure it is not called for a while. Answers are cached briefly, so that frequent reads of the
 * roster do not become as many reads of the directory.
 */
public final class ScimDirectory implements Directory {
  private static final Logger LOG = LoggerFactory.getLogger(ScimDirectory.class);

  /**
   * How long a cached answer is used: long enough to spare the directory pollers, short enough for
   * readers to see changes.
   */
  private static final Duration KEPT = Duration.ofSeconds(30);

  /** Entries of some 300 bytes: 3 MB. */
  private static final int MAX_KEPT = 10_000;

  /** Milliseconds without calls after a failure. */
  private static final long REST_MILLIS = 10_000;

  /**
   * Concurrent look-ups, each with at most {@link ScimLookup#LANES} requests. An organization may
   * start one only while it has fewer than are free; otherwise its roster is shown without
   * directory data.
   */
  private static final int MAX_LOOKUPS = 8;

  /**
   * Connections to the directory: few enough to be polite, and enough for its pages of 20 users.
   */
  private static final int MAX_CONNECTIONS = 16;

  private final Bulkhead lookups = Bulkhead.of("look-ups", MAX_LOOKUPS).sharingFairly();
  private final Vertx vertx;
  private final ScimConfig config;
  private final HttpClient client;
  private final CircuitBreaker circuit;

  /** Holds an empty value for people who are not in the directory. */
  private final Cache<ScimLookup.PersonKey, Optional<Person>> kept;

  private final Clock clock;
  private long latestMillis;

  public ScimDirectory(Vertx vertx, ScimConfig config, Clock clock) {
    this.vertx = vertx;
    this.config = config;
    this.clock = clock;
    this.client = client(vertx, config);
    this.circuit = new CircuitBreaker(clock, REST_MILLIS);
    this.kept =
        Caffeine.newBuilder()
            .maximumSize(MAX_KEPT)
            .expireAfterWrite(KEPT)
            .ticker(() -> clock.millis() * 1_000_000)
            .build();
  }

  static HttpClient client(Vertx vertx, ScimConfig config) {
    return vertx.createHttpClient(
        new HttpClientOptions().setConnectTimeout((int) config.timeoutMillis()),
        new PoolOptions()
            .setHttp1MaxSize(MAX_CONNECTIONS)
            .setMaxWaitQueueSize(MAX_LOOKUPS * ScimLookup.LANES));
  }

  /** Clears the cache after the clock was set back, so that its entries do not live too long. */
  private synchronized void forgetWhenSetBack() {
    long now = clock.millis();
    if (now < latestMillis - KEPT.toMillis()) {
      kept.invalidateAll();
    }
    latestMillis = now;
  }

  @Override
  public Future<Map<String, Person>> find(List<Member> members) {
    forgetWhenSetBack();
    Map<String, Person> people = new HashMap<>();
    List<Member> unknown = new ArrayList<>();
    for (Member member : members) {
      Optional<Person> known = kept.getIfPresent(ScimLookup.PersonKey.about(member));
      if (known == null) {
        unknown.add(member);
      } else {
        known.ifPresent(person -> people.put(member.username(), person));
      }
    }
    if (unknown.isEmpty()) {
      return Future.succeededFuture(people);
    }
    Optional<Bulkhead.Place> place = place(unknown.get(0).orgId());
    if (place.isEmpty() || !circuit.enter()) {
      place.ifPresent(Bulkhead.Place::close);
      return Future.succeededFuture(people);
    }
    Context context = vertx.getOrCreateContext();
    ScimLookup lookup = new ScimLookup(vertx, client, config, unknown);
    context.runOnContext(start -> lookup.start());
    return lookup
        .ended()
        .transform(
            outcome -> {
              place.get().close();
              settle(outcome.cause());
              lookup
                  .found()
                  .forEach(
                      (asked, found) -> {
                        kept.put(asked, found);
                        found.ifPresent(person -> people.put(asked.username(), person));
                      });
              return Future.succeededFuture(people);
            });
  }

  private Optional<Bulkhead.Place> place(String orgId) {
    try {
      return Optional.of(lookups.enter(orgId));
    } catch (ApiException tooMany) {
      return Optional.empty();
    }
  }

  /** Logs only changes of the state: a warning for each read of a roster would flood the log. */
  private void settle(@Nullable Throwable failure) {
    if (failure == null) {
      if (circuit.succeeded()) {
        LOG.info("the directory {} answers again", config.url());
      }
    } else if (circuit.failed()) {
      LOG.warn(
          "the directory {} does not answer; members are shown without e-mail and name: {}",
          config.url(),
          failure.toString());
    }
  }

  @Override
  public Future<Void> close() {
    return client.close();
  }
}
