package dev.bourse.signin;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Secrets;
import dev.bourse.core.Text;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.mail.Mail;
import dev.bourse.org.Memberships;
import dev.bourse.org.Memberships.Membership;
import dev.bourse.pages.ServedPage;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The pages of signing in. */
public final class SignInRoutes {
  /**
   * The number of networks that can use up their links for one e-mail address before no more are
   * mailed. The address's owner can still sign in: any link mailed within the last 15 minutes
   * works.
   */
  static final int NETWORKS = 4;

  private final Sessions sessions;
  private final SignInLinks links;
  private final Memberships memberships;
  private final PageAnswers pages;
  private final @Nullable OidcSignIn oidc;
  private final ServedPage style;
  private final ServedPage icon;
  private final AttemptLimiter byAddress;
  private final AttemptLimiter byAsking;
  private final AttemptLimiter byEmail;

  SignInRoutes(
      Sessions sessions,
      SignInLinks links,
      Memberships memberships,
      PageAnswers pages,
      @Nullable OidcSignIn oidc,
      ServedPage style,
      ServedPage icon,
      SignInConfig config) {
    this.sessions = sessions;
    this.links = links;
    this.memberships = memberships;
    this.pages = pages;
    this.oidc = oidc;
    this.style = style;
    this.icon = icon;
    this.byAddress =
        new AttemptLimiter(config.triesPerAddress(), "attempts to sign in from your network");
    this.byAsking =
        new AttemptLimiter(
            config.mailsPerEmail(),
            "links for this e-mail address from your network (those mailed before still work)");
    this.byEmail =
        new AttemptLimiter(config.mailsPerEmail() * NETWORKS, "links for this e-mail address");
  }

  /** Binds the operations of the console contract that need no session. */
  public void bind(Operations operations) {
    operations
        .bind("readStyle", call -> done(new Answer.Served(style)))
        .bind("readIcon", call -> done(new Answer.Served(icon)))
        .bind("showSignIn", this::show)
        .bind("requestSignInLink", this::request)
        .bind("showSignInSent", call -> done(sent(call)))
        .bind("showSignInLink", this::showLink)
        .bind("useSignInLink", this::useLink)
        .bind("beginProviderSignIn", this::beginProvider)
        .bind("endProviderSignIn", this::endProvider);
  }

  private static Future<Answer> done(Answer answer) {
    return Future.succeededFuture(answer);
  }

  private Answer.RenderedPage page(
      int status,
      String template,
      Map<String, Object> model,
      List<Map.Entry<String, String>> further) {
    return pages.page(status, template, model, further);
  }

  private Future<Answer> show(Call call) {
    String returnTo = ReturnTo.safe(call.text("return_to"));
    boolean isAgain = call.findText("again").isPresent();
    return sessions
        .find(call)
        .map(
            session ->
                session.isPresent() && !isAgain
                    ? Sessions.redirect(returnTo, List.of())
                    : form(200, sessions.visitor(call), returnTo, "", "", isAgain));
  }

  private Answer.RenderedPage form(
      int status, Sessions.Visitor visitor, String returnTo, String email, String fault) {
    return form(status, visitor, returnTo, email, fault, false);
  }

  /**
   * @param isAgain whether the browser is signed in, but not recently enough for its next operation
   */
  private Answer.RenderedPage form(
      int status,
      Sessions.Visitor visitor,
      String returnTo,
      String email,
      String fault,
      boolean isAgain) {
    return page(
        status,
        "sign-in",
        Map.of(
            "again",
            isAgain,
            "csrf",
            visitor.csrfToken(),
            "return_to",
            returnTo,
            "email",
            email,
            "fault",
            fault,
            "oidc",
            oidc != null,
            "oidc_name",
            oidc == null ? "" : oidc.name()),
        visitor.cookies());
  }

  private Future<Answer> request(Call call) {
    byAddress.count(call.clientKey());
    Sessions.Visitor visitor = sessions.requireVisitor(call);
    String returnTo = ReturnTo.safe(call.body().getString("return_to"));
    String email = call.body().getString("email").trim();
    if (!Mail.isAddress(email)) {
      return done(
          form(
              422,
              visitor,
              returnTo,
              email,
              "Enter an e-mail address such as alice@acme.example."));
    }
    String address = Text.folded(email);
    byAsking.count(call.clientKey() + ' ' + address);
    // An address whose links were used up by strangers gets the same answer, so that its owner can
    // use an earlier link.
    if (byEmail.tryCount(address)) {
      links.request(email, new SignInLinks.LinkRequest(call.clientKey(), visitor.mark(), returnTo));
    }
    String onward = returnTo.equals(ReturnTo.ACCOUNT) ? "" : "?return_to=" + encoded(returnTo);
    return done(
        Sessions.redirect("/sign-in/sent" + onward, List.of(sessions.rememberAddress(email))));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /**
   * Names the address that this browser entered, whether or not an organization admits it, and
   * offers another link for it.
   */
  private Answer.RenderedPage sent(Call call) {
    Sessions.Visitor visitor = sessions.visitor(call);
    return page(
        200,
        "sign-in-sent",
        Map.of(
            "csrf", visitor.csrfToken(),
            "email", sessions.rememberedAddress(call).orElse(""),
            "return_to", ReturnTo.safe(call.text("return_to"))),
        visitor.cookies());
  }

  /** Shows a page with a button, because mail scanners open links too and must not use them up. */
  private Future<Answer> showLink(Call call) {
    byAddress.count(call.clientKey());
    String token = call.text("token");
    return links
        .find(token)
        .compose(found -> found.isEmpty() ? done(expired()) : shown(call, token, found.get()));
  }

  private Future<Answer> shown(Call call, String token, LinkStore.Link link) {
    Future<String> joins = joined(link);
    Future<String> inviter = inviter(link);
    return Future.all(joins, inviter)
        .map(
            read -> {
              Sessions.Visitor visitor = sessions.visitor(call);
              return page(
                  200,
                  "sign-in-link",
                  Map.of(
                      "csrf",
                      visitor.csrfToken(),
                      "token",
                      token,
                      "email",
                      link.email(),
                      "joins",
                      joins.result(),
                      "inviter",
                      inviter.result()),
                  visitor.cookies());
            });
  }

  /** The organization that an invitation's link adds its reader to; empty for none. */
  private Future<String> joined(LinkStore.Link link) {
    String orgId = link.orgId();
    if (orgId == null) {
      return Future.succeededFuture("");
    }
    return memberships
        .find(link.email())
        .map(
            places ->
                places.stream()
                    .filter(place -> place.orgId().equals(orgId) && place.username() == null)
                    .map(Membership::display)
                    .findFirst()
                    .orElse(""));
  }

  /**
   * The address that the mail of an invitation names; empty if there is none. Each renewal has a
   * link of its own, and another member may have asked for it.
   */
  private Future<String> inviter(LinkStore.Link link) {
    String mailed = link.inviter();
    if (mailed != null) {
      return Future.succeededFuture(mailed);
    }
    String orgId = link.orgId();
    return orgId == null
        ? Future.succeededFuture("")
        : memberships.findInviter(orgId, link.email()).map(found -> found.orElse(""));
  }

  private Answer.RenderedPage expired() {
    return pages.message(
        410,
        "This link does not work any more",
        "A link can be used once and only for a short time. Ask for another one.",
        "/sign-in",
        "Mail me another link");
  }

  private Future<Answer> useLink(Call call) {
    byAddress.count(call.clientKey());
    Sessions.Visitor visitor = sessions.requireVisitor(call);
    String chosen = call.body().getString("org");
    String token = call.body().getString("token");
    return links
        .find(token)
        .compose(
            found -> {
              if (found.isEmpty()) {
                return done(expired());
              }
              LinkStore.Link link = found.get();
              String orgId = link.orgId() == null ? chosen : link.orgId();
              return enter(call, visitor, link, Optional.of(token), orgId);
            });
  }

  /**
   * Signs in a person with a proven address.
   *
   * @param token the link that proves it; empty if a provider did
   * @param chosen the chosen organization; empty if none was chosen yet
   */
  private Future<Answer> enter(
      Call call,
      Sessions.Visitor visitor,
      LinkStore.Link person,
      Optional<String> token,
      String chosen) {
    return memberships
        .find(person.email())
        .compose(
            places -> {
              Optional<Membership> place = place(places, chosen);
              if (place.isPresent()) {
                return start(call, visitor, person, token, place.get());
              }
              return places.isEmpty() || (places.size() == 1 && !chosen.isEmpty())
                  ? done(refused())
                  : choose(visitor, person, token, places);
            });
  }

  /**
   * Picks the only membership if none is chosen. An organization is never joined without an
   * explicit choice.
   */
  private static Optional<Membership> place(List<Membership> places, String chosen) {
    return places.stream()
        .filter(
            place ->
                chosen.isEmpty()
                    ? places.size() == 1 && place.username() != null
                    : place.orgId().equals(chosen))
        .findFirst();
  }

  private Answer.RenderedPage refused() {
    return pages.message(
        403,
        "No organization admits this address",
        "Ask an administrator of your organization to invite you.",
        "/sign-in",
        "Use another address");
  }

  private Future<Answer> choose(
      Sessions.Visitor visitor,
      LinkStore.Link person,
      Optional<String> known,
      List<Membership> places) {
    return known
        .map(Future::succeededFuture)
        .orElseGet(() -> links.choice(person))
        .map(
            token ->
                page(
                    200,
                    "sign-in-choose",
                    Map.of(
                        "csrf", visitor.csrfToken(),
                        "token", token,
                        "email", person.email(),
                        "places", places.stream().map(SignInRoutes::shown).toList()),
                    visitor.cookies()));
  }

  private static Map<String, Object> shown(Membership place) {
    return Map.of(
        "org_id", place.orgId(), "display", place.display(), "joins", place.username() == null);
  }

  /**
   * Marks the link used in the commit that starts the session, so that a failure leaves it usable.
   */
  private Future<Answer> start(
      Call call,
      Sessions.Visitor visitor,
      LinkStore.Link person,
      Optional<String> token,
      Membership place) {
    String asked = person.askedBy();
    String wanted =
        asked != null && Secrets.same(asked, visitor.mark()) ? person.returnTo() : ReturnTo.ACCOUNT;
    boolean isNewMember = place.username() == null;
    String there = isNewMember && wanted.equals(ReturnTo.ACCOUNT) ? ReturnTo.WELCOME : wanted;
    String orgId = place.orgId();
    List<Statement> spent = token.map(links::markUsed).stream().toList();
    return memberships
        .admit(orgId, person.email(), person.name())
        .compose(username -> sessions.start(call, orgId, username, spent))
        .<Answer>map(cookies -> Sessions.redirect(there, cookies))
        .recover(
            e ->
                e instanceof LinkStore.LinkSpentException
                    ? done(expired())
                    : Future.failedFuture(e));
  }

  private OidcSignIn provider() {
    if (oidc == null) {
      throw ApiException.of(ErrorCode.NOT_FOUND, "this service has no identity provider");
    }
    return oidc;
  }

  private Future<Answer> beginProvider(Call call) {
    byAddress.count(call.clientKey());
    Sessions.Visitor visitor = sessions.visitor(call);
    return provider()
        .begin(visitor, call.text("return_to"))
        .map(url -> Sessions.redirect(url, visitor.cookies()));
  }

  private Future<Answer> endProvider(Call call) {
    byAddress.count(call.clientKey());
    Optional<String> code = call.findText("code");
    Optional<String> state = call.findText("state");
    if (call.findText("error").isPresent() || code.isEmpty() || state.isEmpty()) {
      return done(
          pages.message(
              403,
              "You are not signed in",
              "The identity provider did not sign you in, or you cancelled.",
              "/sign-in",
              "Go to sign-in"));
    }
    Sessions.Visitor visitor = sessions.visitor(call);
    return provider()
        .end(visitor, state.get(), code.get())
        .compose(
            person ->
                enter(
                    call,
                    visitor,
                    new LinkStore.Link(
                        Text.folded(person.email()),
                        null,
                        person.name(),
                        person.returnTo(),
                        visitor.mark(),
                        null),
                    Optional.empty(),
                    ""));
  }
}
