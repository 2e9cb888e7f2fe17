package dev.bourse.access;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Trails;
import dev.bourse.core.Secrets;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * The browser sessions of operators. A token is entered once and exchanged for a session, so that
 * no page has to store the platform's credential.
 */
public final class OperatorSessions implements SessionAuthenticator {
  /** A working day with breaks; an operator signs in again on the next one. */
  public static final Duration LONGEST = Duration.ofHours(12);

  private static final String CSRF = "csrf";

  private final OperatorSessionStore store;
  private final Operators operators;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param baseUrl returns the service's public address
   * @param random a cryptographic source in production
   */
  public OperatorSessions(
      Database database,
      Operators operators,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.store = new OperatorSessionStore(database);
    this.operators = operators;
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /**
   * A new session.
   *
   * @param secret the value of its cookie; stored nowhere else
   */
  public record Started(String secret, OperatorSession session) {}

  /**
   * Starts a session for the bearer of an operator token. Fails with {@code unauthorized} if the
   * token is not valid.
   *
   * @param replaced the cookie of the browser's present session, which ends
   */
  public Future<Started> start(String token, Optional<String> replaced) {
    TokenSecret presented =
        TokenSecret.parse(token)
            .filter(shown -> shown.kind() == TokenSecret.Kind.OPERATOR)
            .orElseThrow(
                () -> BearerAuthenticator.unauthorized("the token is none of an operator"));
    OperatorToken known = operators.find(presented);
    long now = clock.millis();
    long end = now + LONGEST.toMillis();
    Long tokenEnd = known.expiresAtMillis();
    String secret = Secrets.next(random);
    OperatorSessionStore.Stored row =
        new OperatorSessionStore.Stored(
            Secrets.stored(secret),
            known.tokenId(),
            now,
            tokenEnd == null ? end : Math.min(end, tokenEnd));
    OperatorSession session =
        session(new OperatorSessionStore.Live(row, known.name(), known.reach()), secret);
    return store
        .start(
            row,
            replaced.filter(Secrets::isOne).map(Secrets::stored),
            recorded(session, "operator_sign_in"))
        .map(started -> new Started(secret, session));
  }

  private Statement recorded(OperatorSession session, String action) {
    Operator operator = session.operator();
    return AuditStore.insert(
        new AuditRow(
            clock.millis(),
            Trails.PLATFORM,
            operator.actor(),
            action,
            "platform",
            "token_id=" + operator.tokenId()));
  }

  /** Returns the session of a cookie's value; empty if it is not valid. */
  public Future<Optional<OperatorSession>> find(String cookie) {
    return Secrets.isOne(cookie)
        ? store
            .find(Secrets.stored(cookie))
            .map(found -> found.filter(this::isInForce).map(live -> session(live, cookie)))
        : Future.succeededFuture(Optional.empty());
  }

  private boolean isInForce(OperatorSessionStore.Live live) {
    return clock.millis() < live.session().expiresAtMillis();
  }

  private static OperatorSession session(OperatorSessionStore.Live live, String secret) {
    OperatorSessionStore.Stored row = live.session();
    return new OperatorSession(
        row.id(),
        new Operator(row.tokenId(), live.name(), live.reach(), Operator.SESSION_SCHEME),
        Secrets.derived(secret, CSRF),
        row.createdAtMillis(),
        row.expiresAtMillis());
  }

  public Future<Void> end(OperatorSession session) {
    return store.end(session.id(), recorded(session, "operator_sign_out"));
  }

  /**
   * Deletes expired sessions. Returns false, because no work is left.
   *
   * @param now confirmed time
   */
  public Future<Boolean> sweep(long now) {
    return store.sweep(now).map(false);
  }

  @Override
  public String scheme() {
    return Operator.SESSION_SCHEME;
  }

  /** With this prefix browsers reject the cookie from other hosts and without TLS. */
  @Override
  public String cookieName() {
    return isSecure() ? "__Host-bourse-operator" : "bourse-operator";
  }

  /** Returns whether browsers reach the service over TLS. */
  public boolean isSecure() {
    return baseUrl.get().startsWith("https://");
  }

  @Override
  public Future<Optional<SignedIn>> authenticate(String cookie) {
    return find(cookie)
        .map(
            found ->
                found.map(
                    session ->
                        new SignedIn(session.id(), session.operator(), session.csrfToken())));
  }

  @Override
  public Future<Set<String>> listInForce(Set<String> ids) {
    return store
        .listLive(ids)
        .map(
            found ->
                found.stream()
                    .filter(this::isInForce)
                    .map(live -> live.session().id())
                    .collect(Collectors.toSet()));
  }
}
