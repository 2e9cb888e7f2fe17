package dev.bourse.org;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.bourse.core.ApiError;
import dev.bourse.core.Limit;
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
 * An identity provider that speaks SCIM 2.0 (RFC 7644), asked for the members by user name, which
 * is the member's username. Who it names so is taken for the member when the member's address is
 * one of theirs, too, and is nobody otherwise: two organizations may each have an alice.
 *
 * <p>Slow or away, it costs one answer of ours the time-out and the next ones nothing: after a
 * failure it is left alone for a while. What it told is kept a moment, so that a reader of the
 * roster does not become a reader of the directory.
 */
public final class ScimDirectory implements Directory {
  private static final Logger LOG = LoggerFactory.getLogger(ScimDirectory.class);

  /** How long an answer counts: who looks twice sees no stale roster, who polls asks rarely. */
  private static final Duration KEPT = Duration.ofSeconds(30);

  /** Some 300 bytes each: 3 MB. */
  private static final int MAX_KEPT = 10_000;

  /** How long it is left alone after a failure. */
  private static final long REST_MILLIS = 10_000;

  /**
   * Look-ups at a time, each with {@link ScimLookup#LANES} requests at most. An organization may
   * have as many as are free; beyond that its roster is shown without what the directory knows.
   */
  private static final int MAX_LOOKUPS = 8;

  /** Connections to the directory: polite to it, and enough for its pages of 20 users. */
  private static final int MAX_CONNECTIONS = 16;

  private final Limit lookups = Limit.of("look-ups", MAX_LOOKUPS).sharingFairly();
  private final Vertx vertx;
  private final ScimConfig config;
  private final HttpClient client;
  private final CircuitBreaker circuit;

  /** Empty for who is not in the directory. */
  private final Cache<ScimLookup.Asked, Optional<Person>> kept;

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

  /** A clock set back must not keep answers for as long as it was ahead. */
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
      Optional<Person> known = kept.getIfPresent(ScimLookup.Asked.about(member));
      if (known == null) {
        unknown.add(member);
      } else {
        known.ifPresent(person -> people.put(member.username(), person));
      }
    }
    if (unknown.isEmpty()) {
      return Future.succeededFuture(people);
    }
    Optional<Limit.Place> place = place(unknown.get(0).orgId());
    if (place.isEmpty() || !circuit.enter()) {
      place.ifPresent(Limit.Place::close);
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

  private Optional<Limit.Place> place(String orgId) {
    try {
      return Optional.of(lookups.enter(orgId));
    } catch (ApiError tooMany) {
      return Optional.empty();
    }
  }

  /** A warning for each roster that is read would drown the log; only a change is news. */
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
