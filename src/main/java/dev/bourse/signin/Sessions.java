package dev.bourse.signin;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.SessionAuthenticator;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Says who is signed in at a browser, by its cookie, and whether a form comes from a page of ours.
 *
 * <p>A browser that is not signed in has a cookie, too, once it was shown a form: the form's token
 * is derived from it. Signing in makes a new cookie, so that nobody can be given one in advance.
 */
public final class Sessions implements SessionAuthenticator {
  /** How long a session lives after it was last used. */
  static final Duration IDLE = Duration.ofHours(12);

  /** How long it lives at most. */
  static final Duration LONGEST = Duration.ofDays(7);

  /** How old a sign-in may be by which a member hands on the right to admit people. */
  static final Duration RECENT = Duration.ofMinutes(10);

  /** How exactly the last use is known: storing every page that is shown would cost too much. */
  private static final long SEEN_STEP_MILLIS = 60_000;

  private static final String CSRF = "csrf";

  private final SessionStore store;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param baseUrl what browsers call the service
   */
  public Sessions(
      Database database, Supplier<String> baseUrl, Clock clock, RandomGenerator random) {
    this.store = new SessionStore(database);
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /**
   * The session of the browser that calls; empty when it has none that is in force, or its member
   * may not act any more.
   */
  public Future<Optional<Session>> find(Call call) {
    return secret(call, cookieName())
        .map(
            secret ->
                find(secret)
                    .onSuccess(found -> found.ifPresent(live -> note(call, live.session())))
                    .map(found -> found.map(live -> session(live.session(), secret))))
        .orElseGet(() -> Future.succeededFuture(Optional.empty()));
  }

  /** By what its member tells this browser from their others; the answer does not wait for it. */
  private void note(Call call, SessionStore.StoredSession row) {
    SessionStore.Seen now = seen(call);
    if (!now.equals(row.browser())) {
      store.note(row.id(), now);
    }
  }

  private static SessionStore.Seen seen(Call call) {
    return new SessionStore.Seen(call.header("user-agent").orElse(""), call.clientKey());
  }

  /** Counts as a use of the session. */
  private Future<Optional<SessionStore.Live>> find(String secret) {
    return store
        .find(Secrets.stored(secret))
        .map(found -> found.filter(live -> isInForce(live.session())))
        .onSuccess(found -> found.ifPresent(live -> use(live.session())));
  }

  /** Who the member of a session is. */
  public Future<Profile> profile(Session session) {
    return store
        .findProfile(session.orgId(), session.username())
        // Removed just now: the next request finds no session any more.
        .map(found -> found.orElseGet(() -> new Profile(session.orgId(), "", "")));
  }

  private boolean isInForce(SessionStore.StoredSession row) {
    long now = clock.millis();
    return now < row.expiresAtMillis() && now < row.seenAtMillis() + IDLE.toMillis();
  }

  private void use(SessionStore.StoredSession row) {
    long seenAtMillis = seenAtMillis(row);
    if (seenAtMillis != row.seenAtMillis()) {
      // The answer does not wait for it; if it is lost, the session ends a minute early.
      store.seen(row.id(), seenAtMillis);
    }
  }

  /** When a session that is used now counts as last used. */
  private long seenAtMillis(SessionStore.StoredSession row) {
    long now = clock.millis();
    return now >= row.seenAtMillis() + SEEN_STEP_MILLIS ? now : row.seenAtMillis();
  }

  private Session session(SessionStore.StoredSession row, String secret) {
    return new Session(
        row.id(),
        row.orgId(),
        row.username(),
        csrfToken(secret),
        row.createdAtMillis(),
        row.expiresAtMillis(),
        Math.min(row.expiresAtMillis(), seenAtMillis(row) + IDLE.toMillis()));
  }

  private static String csrfToken(String secret) {
    return Secrets.derived(secret, CSRF);
  }

  @Override
  public String scheme() {
    return Principal.SESSION_SCHEME;
  }

  @Override
  public Future<Optional<SignedIn>> authenticate(String cookie) {
    return Secrets.isOne(cookie)
        ? find(cookie).map(found -> found.map(live -> signedIn(live, csrfToken(cookie))))
        : Future.succeededFuture(Optional.empty());
  }

  private static SignedIn signedIn(SessionStore.Live live, String csrfToken) {
    SessionStore.StoredSession row = live.session();
    return new SignedIn(
        row.id(),
        new Principal(
            live.org(),
            "member:" + row.username(),
            "",
            EnumSet.allOf(Scope.class),
            null,
            row.expiresAtMillis(),
            row.username(),
            live.memberId(),
            Principal.Credential.SESSION),
        csrfToken);
  }

  @Override
  public Future<Set<String>> listInForce(Set<String> ids) {
    return store
        .listLive(ids)
        .map(
            found ->
                found.stream()
                    .map(SessionStore.Live::session)
                    .filter(this::isInForce)
                    .map(SessionStore.StoredSession::id)
                    .collect(Collectors.toSet()));
  }

  /**
   * The way to sign in first.
   *
   * @param returnTo the path and query to come back to; one that is not ours leads to the account
   */
  public Answer.Page requireSignIn(Call call, String returnTo) {
    return redirect(signInPath(returnTo), List.of());
  }

  /**
   * The way to sign in again, for what takes a sign-in of the last {@link #RECENT}; empty when the
   * session's is.
   */
  public Optional<Answer> requireRecent(Session session, String returnTo) {
    return clock.millis() - session.createdAtMillis() < RECENT.toMillis()
        ? Optional.empty()
        : Optional.of(redirect(signInPath(returnTo) + "&again=1", List.of()));
  }

  private static String signInPath(String returnTo) {
    return "/sign-in?return_to="
        + URLEncoder.encode(ReturnTo.safe(returnTo), StandardCharsets.UTF_8);
  }

  /** An answer that sends the browser on, by GET, to a path of ours. */
  static Answer.Page redirect(String path, List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> headers = new ArrayList<>(further);
    headers.add(Map.entry("location", path));
    headers.add(Map.entry("cache-control", "no-store"));
    return new Answer.Page(303, "", Buffer.buffer(), headers);
  }

  /** What forms of a session's pages carry in the hidden field {@code csrf}. */
  public String csrf(Session session) {
    return session.csrfToken();
  }

  /**
   * Refuses a form that no page of this session sent.
   *
   * @throws ApiError {@code forbidden}
   */
  public void requireCsrf(Call call, Session session) {
    requireSameOrigin(call);
    requireToken(call, session.csrfToken());
  }

  /**
   * A browser that need not be signed in.
   *
   * @param secret what its cookie holds
   * @param csrfToken what forms shown to it carry
   * @param cookies headers that give it the cookie, when it has none yet
   */
  public record Visitor(String secret, String csrfToken, List<Map.Entry<String, String>> cookies) {
    /** Tells this browser from others, and nothing to whoever reads it in the store. */
    String mark() {
      return Secrets.derived(secret, "mark");
    }
  }

  /** The browser that calls, to be shown a form before it is signed in. */
  public Visitor visitor(Call call) {
    Optional<String> known = secret(call, visitorCookieName());
    String secret = known.orElseGet(() -> Secrets.next(random));
    return new Visitor(
        secret,
        csrfToken(secret),
        known.isPresent()
            ? List.of()
            : List.of(setCookie(visitorCookieName(), secret, Duration.ofDays(1))));
  }

  /**
   * Refuses a form that was not shown to this browser before it signed in.
   *
   * @throws ApiError {@code forbidden}
   */
  public Visitor requireVisitor(Call call) {
    requireSameOrigin(call);
    if (secret(call, visitorCookieName()).isEmpty()) {
      throw stale();
    }
    Visitor visitor = visitor(call);
    requireToken(call, visitor.csrfToken());
    return visitor;
  }

  private static void requireToken(Call call, String expected) {
    if (!Secrets.same(call.body().getString(CSRF, ""), expected)) {
      throw stale();
    }
  }

  private static ApiError stale() {
    return ApiError.of(
        ErrorCode.FORBIDDEN,
        "this form is out of date, or your browser does not keep cookies; open the page again");
  }

  /** Refuses a form that another site sent; browsers say where a form comes from. */
  private void requireSameOrigin(Call call) {
    Optional<String> origin = call.header("origin");
    Optional<String> site = call.header("sec-fetch-site");
    if (origin.isPresent() && !origin.get().equals(baseUrl.get())) {
      throw ApiError.of(
          ErrorCode.FORBIDDEN,
          "this form comes from %s, not from %s",
          Text.shown(origin.get()),
          baseUrl.get());
    }
    if (site.isPresent() && !site.get().equals("same-origin") && !site.get().equals("none")) {
      throw ApiError.of(ErrorCode.FORBIDDEN, "this form comes from another site");
    }
  }

  /**
   * Starts a session for a member, in the place of one the browser has.
   *
   * @param along stored in the same commit
   * @return headers that give the browser its cookies; fails with {@code forbidden} when the member
   *     may not sign in, or with the refusal of a demand of {@code along} that does not hold
   */
  Future<List<Map.Entry<String, String>>> start(
      Call call, String orgId, String username, List<Statement> along) {
    String secret = Secrets.next(random);
    long now = clock.millis();
    SessionStore.StoredSession row =
        new SessionStore.StoredSession(
            Secrets.stored(secret),
            orgId,
            username,
            now,
            now,
            now + LONGEST.toMillis(),
            seen(call));
    return store
        .start(row, secret(call, cookieName()).map(Secrets::stored), along)
        .map(
            started ->
                List.of(
                    setCookie(cookieName(), secret, LONGEST),
                    setCookie(visitorCookieName(), "", Duration.ZERO)));
  }

  /** Ends a session. */
  Future<List<Map.Entry<String, String>>> end(Session session) {
    return store.end(session.id()).map(ended -> forgetting());
  }

  /** Headers that have the browser forget its session. */
  List<Map.Entry<String, String>> forgetting() {
    return List.of(setCookie(cookieName(), "", Duration.ZERO));
  }

  /** Deletes what is past its time, by confirmed time. */
  Future<Void> sweep(long now) {
    return store.sweep(now, IDLE.toMillis());
  }

  SessionStore store() {
    return store;
  }

  private boolean isSecure() {
    return baseUrl.get().startsWith("https://");
  }

  /** With this prefix browsers refuse the cookie from other hosts and without TLS. */
  @Override
  public String cookieName() {
    return isSecure() ? "__Host-bourse" : "bourse";
  }

  private String visitorCookieName() {
    return cookieName() + "-visitor";
  }

  private static Optional<String> secret(Call call, String cookie) {
    return call.cookie(cookie).filter(Secrets::isOne);
  }

  private Map.Entry<String, String> setCookie(String name, String value, Duration age) {
    return Map.entry(
        "set-cookie",
        "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s"
            .formatted(name, value, age.toSeconds(), isSecure() ? "; Secure" : ""));
  }
}
