package dev.bourse.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.blob.ByteSource;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.edge.Call;
import dev.bourse.org.Member;
import dev.bourse.org.RosterStore;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lifetime of sessions. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
@Timeout(120)
class SessionsTest extends StoreFixture {
  private Sessions sessions;

  /** A request with these cookies. */
  private record Cookies(Map<String, String> cookies) implements Call {
    @Override
    public Optional<String> cookie(String name) {
      return Optional.ofNullable(cookies.get(name));
    }

    @Override
    public String target() {
      return "/";
    }

    @Override
    public String clientKey() {
      return "127.0.0.1";
    }

    @Override
    public Optional<String> header(String name) {
      return Optional.empty();
    }

    @Override
    public Principal principal() {
      throw new IllegalStateException();
    }

    @Override
    public Operator operator() {
      throw new IllegalStateException();
    }

    @Override
    public Future<byte[]> readJson(int maxBytes) {
      throw new IllegalStateException();
    }

    @Override
    public ByteSource bytes() {
      throw new IllegalStateException();
    }

    @Override
    public String mediaType() {
      return "text/html";
    }

    @Override
    public String text(String parameter) {
      throw new IllegalStateException();
    }

    @Override
    public Optional<String> findText(String parameter) {
      return Optional.empty();
    }

    @Override
    public Optional<Long> findInteger(String parameter) {
      return Optional.empty();
    }

    @Override
    public Optional<Double> findNumber(String parameter) {
      return Optional.empty();
    }

    @Override
    public JsonObject body() {
      return new JsonObject();
    }
  }

  @BeforeEach
  void makeSessions() throws Exception {
    await(
        database.commit(
            List.of(
                RosterStore.insert(
                    Member.joining("acme", "alice", "a@acme.example", "A", clock.millis())))));
    sessions = new Sessions(database, () -> "http://localhost:1", clock, new Random(7));
  }

  private Call signedIn() throws Exception {
    String cookie =
        await(sessions.start(new Cookies(Map.of()), "acme", "alice", List.of())).get(0).getValue();
    return new Cookies(Map.of("bourse", cookie.substring("bourse=".length(), cookie.indexOf(';'))));
  }

  private boolean isIn(Call call) throws Exception {
    return await(sessions.find(call)).isPresent();
  }

  /** Whether the session is valid and its use is stored, which no answer waits for. */
  private boolean isUsed(Call call) throws Exception {
    boolean isIn = isIn(call);
    long now = clock.millis();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (isIn && integers("SELECT seen_at FROM member_session").get(0) < now) {
      assertTrue(System.nanoTime() < deadline, "its use is stored");
    }
    return isIn;
  }

  @Test
  void aSessionEndsTwelveHoursAfterItsLastUse() throws Exception {
    Call alice = signedIn();
    clock.advance(Duration.ofHours(11).toMillis());
    assertTrue(isUsed(alice));
    clock.advance(Duration.ofHours(12).minusMillis(1).toMillis());
    assertTrue(isUsed(alice));
    clock.advance(Duration.ofHours(12).toMillis());
    assertFalse(isIn(alice));
  }

  @Test
  void aSessionEndsAfterSevenDaysHoweverMuchItIsUsed() throws Exception {
    Call alice = signedIn();
    for (int hour = 0; hour < 7 * 24 - 1; hour++) {
      clock.advance(Duration.ofHours(1).toMillis());
      assertTrue(isUsed(alice), String.valueOf(hour));
    }
    clock.advance(Duration.ofHours(1).toMillis());
    assertFalse(isIn(alice));
  }

  @Test
  void whatIsStoredIsNoCookie() throws Exception {
    Call alice = signedIn();
    String stored = texts("SELECT session_sha256 FROM member_session").get(0);
    assertEquals(64, stored.length());
    assertFalse(isIn(new Cookies(Map.of("bourse", stored))));
    assertTrue(isIn(alice));
    assertEquals(stored, await(sessions.find(alice)).orElseThrow().id());
  }

  @Test
  void sessionsPastTheirTimeAreDeleted() throws Exception {
    signedIn();
    await(sessions.sweep(clock.millis()));
    assertEquals(List.of(1L), integers("SELECT COUNT(*) FROM member_session"));
    clock.advance(Duration.ofHours(12).toMillis());
    await(sessions.sweep(clock.millis()));
    assertEquals(List.of(0L), integers("SELECT COUNT(*) FROM member_session"));
  }
}
