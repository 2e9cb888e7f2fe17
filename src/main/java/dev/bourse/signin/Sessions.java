package dev.bourse.signin;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.SessionAuthenticator;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.SessionStanding;
import dev.bourse.logs.RequestContext;
import dev.bourse.mail.Mail;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Authenticates browsers by their session cookie, and checks that forms come from this service's
 * pages.
 *
 * <p>A visitor without a session gets a cookie with the first form; the form's token is derived
 * from the cookie. Signing in creates a new cookie, so that nobody can plant one in advance
 * (session fixation).
 */
public final class Sessions implements SessionAuthenticator {
  /** The longest time between two uses of a session. */
  static final Duration IDLE = Duration.ofHours(12);

  /** The longest lifetime of a session. */
  static final Duration LONGEST = Duration.ofDays(7);

  /** The longest age of a sign-in that may grant authority to others. */
  static final Duration RECENT = Duration.ofMinutes(10);

  /** The precision of the last use, because storing it for every page would cost too much. */
  private static final long SEEN_STEP_MILLIS = 60_000;

  private static final String CSRF = "csrf";

  private final SessionStore store;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param baseUrl the service's address for browsers
   */
  public Sessions(
      Database database, Supplier<String> baseUrl, Clock clock, RandomGenerator random) {
    this.store = new SessionStore(database);
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
  }

  /**
   * The session of the calling browser; empty if it has none in force, or its member may not act
   * any more.
   */
  public Future<Optional<Session>> find(Call call) {
    return secret(call, cookieName())
        .map(
            secret ->
                find(secret)
                    .onSuccess(found -> found.ifPresent(live -> note(call, live.session())))
                    .onSuccess(found -> found.ifPresent(live -> admit(live.session())))
                    .map(found -> found.map(live -> session(live.session(), secret))))
        .orElseGet(() -> Future.succeededFuture(Optional.empty()));
  }

  /** Identifies the caller, because a page takes no credential by its contract. */
  private void admit(SessionStore.StoredSession row) {
    RequestContext request = RequestContext.current();
    if (request != null) {
      request.setStanding(
          new SessionStanding(
              row.id(), "member:" + row.username(), this::listInForce, request::nanos));
    }
  }

  /** Stores the data by which members recognize a browser; the answer does not wait for it. */
  private void note(Call call, SessionStore.StoredSession row) {
    SessionStore.BrowserInfo now = seen(call);
    if (!now.equals(row.browser())) {
      store.note(row.id(), now);
    }
  }

  private static SessionStore.BrowserInfo seen(Call call) {
    return new SessionStore.BrowserInfo(call.header("user-agent").orElse(""), call.clientKey());
  }

  /** Finds a session and records the use. */
  private Future<Optional<SessionStore.LiveSession>> find(String secret) {
    return store
        .find(Secrets.stored(secret))
        .map(found -> found.filter(live -> isInForce(live.session())))
        .onSuccess(found -> found.ifPresent(live -> use(live.session())));
  }

  /** The profile of a session's member. */
  public Future<Profile> profile(Session session) {
    return store
        .findProfile(session.orgId(), session.username())
        // The member was removed just now; the next request finds no session.
        .map(found -> found.orElseGet(() -> new Profile(session.orgId(), "", "")));
  }

  private boolean isInForce(SessionStore.StoredSession row) {
    long now = clock.millis();
    return now < row.expiresAtMillis() && now < row.seenAtMillis() + IDLE.toMillis();
  }

  private void use(SessionStore.StoredSession row) {
    long seenAtMillis = seenAtMillis(row);
    if (seenAtMillis != row.seenAtMillis()) {
      // The answer does not wait for this write; if it is lost, the session ends a minute early.
      store.seen(row.id(), seenAtMillis);
    }
  }

  /** The stored time of last use for a use now. */
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

  private static SignedIn signedIn(SessionStore.LiveSession live, String csrfToken) {
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
            Principal.CredentialKind.SESSION),
        csrfToken);
  }

  @Override
  public Future<Set<String>> listInForce(Set<String> ids) {
    return store
        .listLive(ids)
        .map(
            found ->
                found.stream()
                    .map(SessionStore.LiveSession::session)
                    .filter(this::isInForce)
                    .map(SessionStore.StoredSession::id)
                    .collect(Collectors.toSet()));
  }

  /**
   * A redirect to the sign-in page.
   *
   * @param returnTo the path and query to return to; one outside of this service leads to the
   *     account page
   */
  public Answer.RenderedPage requireSignIn(Call call, String returnTo) {
    return redirect(signInPath(returnTo), List.of());
  }

  /**
   * A redirect to sign in again, for operations that need a sign-in within {@link #RECENT}; empty
   * if the session's is recent enough.
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

  /** A redirect by GET to a path of this service. */
  static Answer.RenderedPage redirect(String path, List<Map.Entry<String, String>> further) {
    List<Map.Entry<String, String>> headers = new ArrayList<>(further);
    headers.add(Map.entry("location", path));
    headers.add(Map.entry("cache-control", "no-store"));
    return new Answer.RenderedPage(303, "", Buffer.buffer(), headers);
  }

  /** The value of the hidden field {@code csrf} in forms on a session's pages. */
  public String csrf(Session session) {
    return session.csrfToken();
  }

  /**
   * Rejects a form that no page of this session sent.
   *
   * @throws ApiException {@code forbidden}
   */
  public void requireCsrf(Call call, Session session) {
    requireSameOrigin(call);
    requireToken(call, session.csrfToken());
  }

  /**
   * A browser that need not be signed in.
   *
   * @param secret the value of its cookie
   * @param csrfToken the token of forms shown to it
   * @param cookies headers that set the cookie if it has none yet
   */
  public record Visitor(String secret, String csrfToken, List<Map.Entry<String, String>> cookies) {
    /** Identifies this browser in the store without revealing the secret. */
    String mark() {
      return Secrets.derived(secret, "mark");
    }
  }

  /** Returns the calling browser; used by forms before sign-in. */
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
   * Rejects a form that was not shown to this browser before it signed in.
   *
   * @throws ApiException {@code forbidden}
   */
  public Visitor requireVisitor(Call call) {
    requireSameOrigin(call);
    if (secret(call, visitorCookieName()).isEmpty()) {
      throw staleForm();
    }
    Visitor visitor = visitor(call);
    requireToken(call, visitor.csrfToken());
    return visitor;
  }

  private static void requireToken(Call call, String expected) {
    if (!Secrets.same(call.body().getString(CSRF, ""), expected)) {
      throw staleForm();
    }
  }

  private static ApiException staleForm() {
    return ApiException.of(
        ErrorCode.FORBIDDEN,
        "this form is out of date, or your browser does not keep cookies; open the page again");
  }

  /** Rejects a form that another site sent; browsers name a form's origin. */
  private void requireSameOrigin(Call call) {
    Optional<String> origin = call.header("origin");
    Optional<String> site = call.header("sec-fetch-site");
    if (origin.isPresent() && !origin.get().equals(baseUrl.get())) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          "this form comes from %s, not from %s",
          Text.shown(origin.get()),
          baseUrl.get());
    }
    if (site.isPresent() && !site.get().equals("same-origin") && !site.get().equals("none")) {
      throw ApiException.of(ErrorCode.FORBIDDEN, "this form comes from another site");
    }
  }

  /**
   * Starts a session for a member, replacing the browser's present one.
   *
   * @param along stored in the same commit
   * @return headers that set the browser's cookies; fails with {@code forbidden} when the member
   *     may not sign in, or with the refusal of a condition of {@code along} that does not hold
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
                    setCookie(visitorCookieName(), "", Duration.ZERO),
                    setCookie(addressCookieName(), "", Duration.ZERO)));
  }

  /** Ends a session. */
  Future<List<Map.Entry<String, String>>> end(Session session) {
    return store.end(session.id()).map(ended -> clearedCookies());
  }

  /** Headers that delete the session's cookie. */
  List<Map.Entry<String, String>> clearedCookies() {
    return List.of(setCookie(cookieName(), "", Duration.ZERO));
  }

  /** Deletes expired rows, by confirmed time. */
  Future<Void> sweep(long now) {
    return store.sweep(now, IDLE.toMillis());
  }

  SessionStore store() {
    return store;
  }

  private boolean isSecure() {
    return baseUrl.get().startsWith("https://");
  }

  /** With this prefix, browsers reject the cookie from other hosts and without TLS. */
  @Override
  public String cookieName() {
    return isSecure() ? "__Host-bourse" : "bourse";
  }

  private String visitorCookieName() {
    return cookieName() + "-visitor";
  }

  /**
   * A header that keeps the address to which this browser requested a link, because the next page
   * shows it. Only this browser reads it, so it reveals nothing to others.
   */
  Map.Entry<String, String> rememberAddress(String email) {
    String value =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(email.getBytes(StandardCharsets.US_ASCII));
    return setCookie(addressCookieName(), value, SignInLinks.VALIDITY);
  }

  /** The address of {@link #rememberAddress}; empty without the cookie or if it holds none. */
  Optional<String> rememberedAddress(Call call) {
    try {
      return call.cookie(addressCookieName())
          .map(value -> new String(Base64.getUrlDecoder().decode(value), StandardCharsets.US_ASCII))
          .filter(Mail::isAddress);
    } catch (IllegalArgumentException e) {
      // Not Base64, so not written by this service.
      return Optional.empty();
    }
  }

  private String addressCookieName() {
    return cookieName() + "-address";
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
