package dev.bourse.oauth;

import dev.bourse.access.TokenLimits;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageHeaders;
import dev.bourse.pages.PageTemplates;
import dev.bourse.signin.AttemptLimiter;
import dev.bourse.signin.Profile;
import dev.bourse.signin.Session;
import dev.bourse.signin.Sessions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The page that asks a member to grant access to an application. */
final class AuthorizeRoutes {
  private static final String PATH = "/oauth/authorize";

  /** Consents of one member in 15 minutes: each is stored for a day at least. */
  private static final int CONSENTS = 100;

  private final ClientRegistry clients;
  private final Grants grants;
  private final Sessions sessions;
  private final PageTemplates templates;
  private final Supplier<String> baseUrl;
  private final AttemptLimiter consents =
      new AttemptLimiter(CONSENTS, "permissions given by one member");

  AuthorizeRoutes(
      ClientRegistry clients,
      Grants grants,
      Sessions sessions,
      PageTemplates templates,
      Supplier<String> baseUrl) {
    this.clients = clients;
    this.grants = grants;
    this.sessions = sessions;
    this.templates = templates;
    this.baseUrl = baseUrl;
  }

  void bind(Operations operations) {
    operations.bind("showConsent", this::show).bind("decideConsent", this::decide);
  }

  /** The validated destination of an answer, even if the rest of the request is faulty. */
  private record Addressee(Client client, String redirectUri) {}

  private Future<Answer> show(Call call) {
    Map<String, String> asked = new LinkedHashMap<>();
    for (String name : AuthorizationRequest.PARAMETERS) {
      call.findText(name).ifPresent(value -> asked.put(name, value));
    }
    return addressee(call, asked)
        .compose(
            // Only a signed-in member is redirected to an application's address, even for a faulty
            // request, because anybody can register an address (RFC 9700, section 4.11.2).
            to ->
                sessions
                    .find(call)
                    .compose(
                        session ->
                            session.isPresent()
                                ? shown(to, asked, session.get())
                                : Future.succeededFuture(
                                    sessions.requireSignIn(call, returnTo(asked)))));
  }

  private Future<Answer> shown(Addressee to, Map<String, String> asked, Session session) {
    AuthorizationRequest request;
    try {
      request = read(to, asked);
    } catch (OAuthException e) {
      return Future.succeededFuture(redirect(address(to, asked, refusal(e))));
    }
    Optional<Answer> again = requireRecent(request, asked, session);
    return again.isPresent()
        ? Future.succeededFuture(again.get())
        : sessions.profile(session).map(who -> page(request, asked, session, who));
  }

  private Future<Answer> decide(Call call) {
    JsonObject form = call.body();
    Map<String, String> asked = new LinkedHashMap<>();
    for (String name : AuthorizationRequest.PARAMETERS) {
      if (form.containsKey(name)) {
        asked.put(name, form.getString(name));
      }
    }
    return sessions
        .find(call)
        .compose(
            session -> {
              if (session.isEmpty()) {
                return Future.succeededFuture(sessions.requireSignIn(call, returnTo(asked)));
              }
              sessions.requireCsrf(call, session.get());
              return addressee(call, asked).compose(to -> decide(to, asked, form, session.get()));
            });
  }

  private Future<Answer> decide(
      Addressee to, Map<String, String> asked, JsonObject form, Session session) {
    AuthorizationRequest request;
    try {
      request = read(to, asked);
      if (!form.getString("decision").equals("allow")) {
        throw new OAuthException(OAuthException.ACCESS_DENIED, "the member denied the request");
      }
    } catch (OAuthException e) {
      return Future.succeededFuture(back(to, address(to, asked, refusal(e))));
    }
    Optional<Answer> again = requireRecent(request, asked, session);
    if (again.isPresent()) {
      return Future.succeededFuture(again.get());
    }
    consents.count(session.orgId() + '/' + session.username());
    return grants
        .consent(session, request, TokenLimits.of(form))
        .map(code -> back(to, address(to, asked, List.of("code", code))));
  }

  /** The redirect to sign in again, if the request needs a recent sign-in; otherwise empty. */
  private Optional<Answer> requireRecent(
      AuthorizationRequest request, Map<String, String> asked, Session session) {
    return Scopes.createAuthority(request.scopes())
        ? sessions.requireRecent(session, returnTo(asked))
        : Optional.empty();
  }

  /**
   * Fails with {@code bad-request}, which is shown here, because the redirect address may not be
   * the client's.
   */
  private Future<Addressee> addressee(Call call, Map<String, String> asked) {
    String clientId = asked.getOrDefault("client_id", "");
    String redirectUri = asked.getOrDefault("redirect_uri", "");
    if (clientId.isEmpty()) {
      return Future.failedFuture(
          refused("client_id: missing; expected the id of the application that asks"));
    }
    return clients
        .find(clientId, call.clientKey())
        .recover(
            fault ->
                Future.failedFuture(
                    fault instanceof OAuthException unknown
                        ? refused(unknown.description())
                        : fault))
        .map(
            client -> {
              if (!RedirectUris.isRegistered(client.redirectUris(), redirectUri)) {
                throw refused(
                    "redirect_uri: %s is not an address that the application registered"
                        .formatted(Text.shown(redirectUri)));
              }
              return new Addressee(client, redirectUri);
            });
  }

  private static ApiException refused(String detail) {
    return ApiException.of(ErrorCode.BAD_REQUEST, detail);
  }

  private AuthorizationRequest read(Addressee to, Map<String, String> asked) {
    return AuthorizationRequest.read(to.client(), to.redirectUri(), asked, baseUrl.get());
  }

  private static String returnTo(Map<String, String> asked) {
    List<String> parameters = new ArrayList<>();
    AuthorizationRequest.carried(asked)
        .forEach(
            (name, value) -> {
              parameters.add(name);
              parameters.add(value);
            });
    return RedirectUris.with(PATH, parameters);
  }

  private Answer page(
      AuthorizationRequest request, Map<String, String> asked, Session session, Profile who) {
    Map<String, Object> model = Consent.model(session, who, request.client(), request.scopes());
    model.put("place", place(request));
    model.put(
        "fields",
        AuthorizationRequest.carried(asked).entrySet().stream()
            .map(field -> Map.of("name", field.getKey(), "value", field.getValue()))
            .toList());
    return new Answer.RenderedPage(
        200, PageTemplates.HTML, templates.render("consent", model), PageHeaders.strict());
  }

  /**
   * The destination of the answer, which is better evidence of an application than its own name.
   */
  private static String place(AuthorizationRequest request) {
    URI uri = URI.create(request.redirectUri());
    return switch (uri.getScheme()) {
      case "http" -> "a program on this computer";
      case "https" -> uri.getHost();
      default -> "the program that opens " + uri.getScheme() + ": links";
    };
  }

  private static List<String> refusal(OAuthException e) {
    return List.of("error", e.code(), "error_description", e.description());
  }

  /** The redirect address with an answer's parameters. */
  private String address(Addressee to, Map<String, String> asked, List<String> parameters) {
    List<String> all = new ArrayList<>(parameters);
    String state = asked.get("state");
    if (state != null) {
      all.add("state");
      all.add(state);
    }
    all.add("iss");
    all.add(baseUrl.get());
    return RedirectUris.with(to.redirectUri(), all);
  }

  private static Answer redirect(String address) {
    return new Answer.RenderedPage(
        303,
        "",
        Buffer.buffer(),
        List.of(
            Map.entry("location", address),
            Map.entry("cache-control", "no-store"),
            // The address contains the code, which must not reach sites linked from the client's
            // page.
            Map.entry("referrer-policy", "no-referrer")));
  }

  /**
   * A page that forwards the browser to the application. It is not a redirect, because browsers
   * apply {@code form-action} to all redirects after a form: the policy would have to list every
   * address the application redirects to, and it cannot name {@code [::1]}.
   */
  private Answer back(Addressee to, String address) {
    return new Answer.RenderedPage(
        200,
        PageTemplates.HTML,
        templates.render(
            "message",
            Map.of(
                "title", "Back to the application",
                "text", "Your answer is being sent to " + to.client().name() + ".",
                // Some browsers open a program only when somebody presses a button.
                "note", "If nothing opens, press the button.",
                "link", address,
                "link_text", "Continue")),
        PageHeaders.strict(List.of(Map.entry("refresh", "0; url=" + address))));
  }
}
