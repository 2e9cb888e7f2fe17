package dev.bourse.signin;

import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The pages of a signed-in member. */
public final class AccountRoutes {
  private static final String ACCOUNT = ReturnTo.ACCOUNT;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("d MMMM uuuu, HH:mm", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  private final Sessions sessions;
  private final OwnSessions own;
  private final ConnectedApplications applications;
  private final PageAnswers pages;
  private final Supplier<String> baseUrl;
  private final boolean installs;

  /**
   * @param baseUrl the service's address for clients
   * @param installs whether the service offers its command line
   */
  AccountRoutes(
      Sessions sessions,
      OwnSessions own,
      ConnectedApplications applications,
      PageAnswers pages,
      Supplier<String> baseUrl,
      boolean installs) {
    this.baseUrl = baseUrl;
    this.installs = installs;
    this.sessions = sessions;
    this.own = own;
    this.applications = applications;
    this.pages = pages;
  }

  /** Binds the operations of the console contract that need a session. */
  public void bind(Operations operations) {
    operations
        .bind("showAccount", call -> signedIn(call, session -> show(session)))
        .bind("showStart", this::start)
        .bind("confirmSignOutEverywhere", call -> signedIn(call, this::confirmEverywhere))
        .bind("signOut", call -> fromForm(call, this::signOut))
        .bind("signOutEverywhere", call -> fromForm(call, this::signOutEverywhere))
        .bind("disconnectApplication", call -> fromForm(call, session -> disconnect(call, session)))
        .bind("narrowApplication", call -> fromForm(call, session -> narrow(call, session)))
        .bind("showSignedOut", call -> Future.succeededFuture(signedOut()));
  }

  private Future<Answer> signedIn(Call call, Function<Session, Future<Answer>> then) {
    return sessions
        .find(call)
        .compose(
            session ->
                session.isPresent()
                    ? then.apply(session.get())
                    : Future.succeededFuture(sessions.requireSignIn(call, ACCOUNT)));
  }

  private Future<Answer> fromForm(Call call, Function<Session, Future<Answer>> then) {
    return signedIn(
        call,
        session -> {
          sessions.requireCsrf(call, session);
          return then.apply(session);
        });
  }

  private Future<Answer> show(Session session) {
    Future<List<OwnSessions.OwnSession>> rows = own.list(session.orgId(), session.username());
    Future<List<ConnectedApplications.Application>> connected =
        applications.list(session.orgId(), session.username());
    Future<Profile> who = sessions.profile(session);
    return Future.all(rows, connected, who)
        .map(
            read ->
                pages.page(
                    200,
                    "account",
                    Map.of(
                        "csrf", session.csrfToken(),
                        "name", who.result().name(),
                        "email", who.result().email(),
                        "username", session.username(),
                        "org_id", session.orgId(),
                        "org_display", who.result().orgDisplay(),
                        "sessions", rows.result().stream().map(row -> shown(row, session)).toList(),
                        "applications",
                            connected.result().stream().map(AccountRoutes::shown).toList()),
                    List.of()));
  }

  private static Map<String, Object> shown(OwnSessions.OwnSession row, Session current) {
    return Map.of(
        "browser", row.browser(),
        "address", row.address(),
        "since", time(row.createdAtMillis()),
        "used", time(row.usedAtMillis()),
        "current", row.id().equals(current.id()));
  }

  private static Map<String, Object> shown(ConnectedApplications.Application application) {
    Long usedAt = application.usedAtMillis();
    return Map.of(
        "id", application.id(),
        "name", application.name(),
        "scopes", application.scopes(),
        "since", time(application.sinceMillis()),
        "used", usedAt == null ? "" : time(usedAt),
        "until", time(application.expiresAtMillis()),
        "limits", application.limits().words(),
        "spends", spends(application));
  }

  private static boolean spends(ConnectedApplications.Application application) {
    return application.scopeLabels().stream()
        .flatMap(label -> Scope.find(label).stream())
        .anyMatch(Scope::writesCapacity);
  }

  private static String time(long millis) {
    return TIME.format(Instant.ofEpochMilli(millis));
  }

  /** The front page: leads members to the console, and describes the service to others. */
  private Future<Answer> start(Call call) {
    return sessions
        .find(call)
        .map(
            session ->
                session.isPresent()
                    ? onward(ReturnTo.CONSOLE)
                    : pages.page(
                        200,
                        "start",
                        Map.of("base_url", baseUrl.get(), "installs", installs),
                        List.of()));
  }

  private static Answer.RenderedPage onward(String path) {
    return new Answer.RenderedPage(
        302,
        "",
        Buffer.buffer(),
        List.of(
            Map.entry("location", path),
            // The redirect depends on the visitor's session.
            Map.entry("cache-control", "no-store")));
  }

  /** Asks for confirmation before signing out every browser, and shows their number. */
  private Future<Answer> confirmEverywhere(Session session) {
    Future<List<OwnSessions.OwnSession>> rows = own.list(session.orgId(), session.username());
    Future<List<ConnectedApplications.Application>> connected =
        applications.list(session.orgId(), session.username());
    Future<List<String>> credentials =
        applications.listCredentials(session.orgId(), session.username());
    return Future.all(rows, connected, credentials)
        .map(
            read ->
                pages.page(
                    200,
                    "sign-out-everywhere",
                    Map.of(
                        "csrf",
                        session.csrfToken(),
                        "sessions",
                        rows.result().size(),
                        "applications",
                        connected.result().stream()
                            .map(ConnectedApplications.Application::name)
                            .toList(),
                        "credentials",
                        credentials.result()),
                    List.of()));
  }

  private Future<Answer> signOut(Session session) {
    return sessions.end(session).map(cookies -> Sessions.redirect("/sign-out", cookies));
  }

  private Future<Answer> signOutEverywhere(Session session) {
    return own.endEverywhere(session.orgId(), session.username())
        .map(ended -> Sessions.redirect("/sign-out", sessions.clearedCookies()));
  }

  private Future<Answer> disconnect(Call call, Session session) {
    return applications
        .revoke(session.orgId(), session.username(), call.body().getString("application"))
        .map(revoked -> Sessions.redirect(ACCOUNT, List.of()));
  }

  private Future<Answer> narrow(Call call, Session session) {
    return applications
        .narrow(
            session.orgId(),
            session.username(),
            call.body().getString("application"),
            TokenLimits.of(call.body()))
        .map(narrowed -> Sessions.redirect(ACCOUNT, List.of()));
  }

  private Answer.RenderedPage signedOut() {
    return pages.message(
        200,
        "You are signed out",
        "This browser is no longer signed in to your account.",
        "/sign-in",
        "Sign in");
  }
}
