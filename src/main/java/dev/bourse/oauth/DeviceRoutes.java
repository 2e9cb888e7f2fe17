package dev.bourse.oauth;

import dev.bourse.access.TokenLimits;
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
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;

/** The pages on which a member types the code of a program, and allows or denies it. */
final class DeviceRoutes {
  private static final String CODE = "user_code";

  /** Codes a member may try in 15 minutes; allowing one program takes two tries. */
  private static final int TRIES = 30;

  /** Codes tried from one address, which can be shared by all members of an office. */
  private static final int TRIES_OF_ADDRESS = 300;

  private final DeviceFlow devices;
  private final Sessions sessions;
  private final PageTemplates templates;
  private final AttemptLimiter byMember = new AttemptLimiter(TRIES, "codes tried by one member");
  private final AttemptLimiter byAddress =
      new AttemptLimiter(TRIES_OF_ADDRESS, "codes tried from one address");

  DeviceRoutes(DeviceFlow devices, Sessions sessions, PageTemplates templates) {
    this.devices = devices;
    this.sessions = sessions;
    this.templates = templates;
  }

  void bind(Operations operations) {
    operations.bind("showDevice", this::show).bind("decideDevice", this::decide);
  }

  private Future<Answer> show(Call call) {
    String code = DeviceFlow.userCode(call.text(CODE));
    return sessions
        .find(call)
        .map(
            session ->
                session.isPresent()
                    ? entry(200, session.get(), code, "")
                    : sessions.requireSignIn(call, returnTo(code)));
  }

  private static String returnTo(String code) {
    return code.isEmpty() ? "/device" : "/device?" + CODE + '=' + code;
  }

  private Future<Answer> decide(Call call) {
    JsonObject form = call.body();
    String typed = form.getString(CODE);
    return sessions
        .find(call)
        .compose(
            session -> {
              if (session.isEmpty()) {
                return Future.succeededFuture(
                    sessions.requireSignIn(call, returnTo(DeviceFlow.userCode(typed))));
              }
              sessions.requireCsrf(call, session.get());
              byAddress.count(call.clientKey());
              byMember.count(session.get().orgId() + '/' + session.get().username());
              return devices
                  .find(typed, call.clientKey())
                  .compose(found -> decide(session.get(), found, typed, form));
            });
  }

  private Future<Answer> decide(
      Session session, Optional<DeviceFlow.PendingDevice> found, String typed, JsonObject form) {
    if (found.isEmpty()) {
      return Future.succeededFuture(
          entry(
              422,
              session,
              typed,
              """
              This code does not work. A code can be used once, within 10 minutes. Check it, or \
              start again in the program.\
              """));
    }
    DeviceFlow.PendingDevice waiting = found.get();
    String decision = form.getString("decision");
    Optional<Answer> again =
        Scopes.createAuthority(waiting.scopes()) && !"deny".equals(decision)
            ? sessions.requireRecent(session, returnTo(waiting.userCode()))
            : Optional.empty();
    if (again.isPresent()) {
      return Future.succeededFuture(again.get());
    }
    if (decision == null) {
      return sessions.profile(session).map(who -> confirm(session, who, waiting));
    }
    boolean allowed = decision.equals("allow");
    return devices
        .decide(session, waiting, allowed, allowed ? TokenLimits.of(form) : TokenLimits.NONE)
        .map(
            decided ->
                decided
                    ? done(waiting, allowed)
                    : entry(422, session, typed, "This code was already used or has expired."));
  }

  private Answer entry(int status, Session session, String code, String fault) {
    return page(
        status, "device", Map.of("csrf", session.csrfToken(), "code", code, "fault", fault));
  }

  private Answer confirm(Session session, Profile who, DeviceFlow.PendingDevice waiting) {
    Map<String, Object> model = Consent.model(session, who, waiting.client(), waiting.scopes());
    model.put("code", waiting.userCode());
    return page(200, "device-confirm", model);
  }

  private Answer done(DeviceFlow.PendingDevice waiting, boolean allowed) {
    String name = waiting.client().name();
    return page(
        200,
        "message",
        Map.of(
            "title", allowed ? "The program is connected" : "The program is not connected",
            "text",
                allowed
                    ? name + " may act for you now. You can close this page and return to it."
                    : "You did not allow " + name + " to act for you.",
            "note", "",
            "link", "/account",
            "link_text", "Your account"));
  }

  private Answer page(int status, String template, Map<String, Object> model) {
    return new Answer.RenderedPage(
        status, PageTemplates.HTML, templates.render(template, model), PageHeaders.strict());
  }
}
