package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a request's session is looked up again. */
class SessionStandingTest {
  private final AtomicLong now = new AtomicLong(100);
  private final Set<String> stored = new HashSet<>(Set.of("s1"));
  private final AtomicInteger asked = new AtomicInteger();
  private final SessionStanding standing =
      new SessionStanding("s1", "member:bob", this::inForce, now::get);

  private Future<Set<String>> inForce(Set<String> ids) {
    asked.incrementAndGet();
    Set<String> found = new HashSet<>(ids);
    found.retainAll(stored);
    return Future.succeededFuture(found);
  }

  @Test
  void aRecentLookUpIsEnough() {
    assertTrue(standing.confirm(100).succeeded());
    assertEquals(0, asked.get());
  }

  @Test
  void anEndedSessionIsFoundOnceTheLookUpIsOlderThanAllowed() {
    now.set(200);
    assertTrue(standing.confirm(150).succeeded());
    assertTrue(standing.confirm(200).succeeded());
    assertEquals(1, asked.get());
    stored.clear();
    ApiException refusal = assertInstanceOf(ApiException.class, standing.confirm(201).cause());
    assertEquals(ErrorCode.UNAUTHORIZED, refusal.code());
  }
}
