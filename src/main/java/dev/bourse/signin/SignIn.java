package dev.bourse.signin;

import dev.bourse.edge.Operations;
import dev.bourse.mail.MailSender;
import dev.bourse.org.Memberships;
import dev.bourse.pages.Assets;
import dev.bourse.pages.PageTemplates;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Assembles the sign-in of members. */
public final class SignIn {
  /** The templates of its pages. */
  public static final List<String> TEMPLATES =
      List.of(
          "account",
          "message",
          "sign-in",
          "sign-in-choose",
          "sign-in-link",
          "sign-in-sent",
          "sign-out-everywhere",
          "start");

  private final Vertx vertx;
  private final SignInConfig config;
  private final Database database;
  private final Memberships memberships;
  private final Supplier<String> baseUrl;
  private final Clock clock;
  private final RandomGenerator random;
  private final Sessions sessions;
  private final SignInLinks links;

  /**
   * @param baseUrl the service's address for clients; read when requests are served
   */
  public SignIn(
      Vertx vertx,
      SignInConfig config,
      Database database,
      Memberships memberships,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      RandomGenerator random) {
    this.vertx = vertx;
    this.config = config;
    this.database = database;
    this.memberships = memberships;
    this.baseUrl = baseUrl;
    this.clock = clock;
    this.random = random;
    this.sessions = new Sessions(database, baseUrl, clock, random);
    this.links = new SignInLinks(database, memberships, mail, baseUrl, clock, random);
  }

  /**
   * Loads the page's assets off the event loop, and binds the operations.
   *
   * @param templates with all of {@link #TEMPLATES}
   * @param installs whether the service offers its command line
   */
  public Future<Void> bind(
      Operations operations,
      ConnectedApplications applications,
      PageTemplates templates,
      boolean installs) {
    return vertx.executeBlocking(
        () -> {
          Assets assets = Assets.load();
          PageAnswers pages = new PageAnswers(templates);
          new SignInRoutes(
                  sessions,
                  links,
                  memberships,
                  pages,
                  config
                      .oidc()
                      .map(oidc -> new OidcSignIn(vertx, oidc, baseUrl, clock, random))
                      .orElse(null),
                  assets.keptBriefly("style.css"),
                  assets.keptBriefly("icon.svg"),
                  config)
              .bind(operations);
          new ShellRoutes(sessions, assets.shell()).bind(operations);
          new AccountRoutes(
                  sessions,
                  new OwnSessions(database, applications, clock),
                  applications,
                  pages,
                  baseUrl,
                  installs)
              .bind(operations);
          operations.showErrors(pages);
          return null;
        });
  }

  /** The sessions of browsers. */
  public Sessions sessions() {
    return sessions;
  }

  /** The mailed links. */
  public SignInLinks links() {
    return links;
  }

  /**
   * Deletes expired sessions and links.
   *
   * @param now confirmed time
   * @return false, because one run deletes all of them
   */
  public Future<Boolean> sweep(long now) {
    return sessions.sweep(now).compose(swept -> links.sweep(now)).map(false);
  }
}
