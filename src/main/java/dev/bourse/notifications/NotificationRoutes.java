package dev.bourse.notifications;

import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageTemplates;
import dev.bourse.signin.AttemptLimiter;
import dev.bourse.signin.PageAnswers;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Operations of the console contract on members' mails, and the page that ends them. */
final class NotificationRoutes {
  static final List<String> TEMPLATES = List.of("unsubscribe");

  /** Mail providers post from few addresses for many members; a guess would need 2^255 tries. */
  private static final int TRIES = 300;

  private final ChoiceService choices;
  private final UnsubscribeToken tokens;
  private final PageAnswers pages;
  private final AttemptLimiter byAddress =
      new AttemptLimiter(TRIES, "attempts to unsubscribe from your network");

  NotificationRoutes(ChoiceService choices, UnsubscribeToken tokens, PageTemplates templates) {
    this.choices = choices;
    this.tokens = tokens;
    this.pages = new PageAnswers(templates);
  }

  void bind(Operations operations) {
    operations
        .ok(
            "readMailChoices",
            call -> choices.readMailChoices(call.principal()),
            Function.identity())
        .ok(
            "changeMailChoices",
            call -> choices.changeMailChoices(call.principal(), call.body()),
            Function.identity())
        .bind("showUnsubscribe", this::show)
        .bind("unsubscribe", this::unsubscribe);
  }

  /** Shows a page with a button, because mail scanners open links too. Reads no row. */
  private Future<Answer> show(Call call) {
    byAddress.count(call.clientKey());
    String token = call.text("token");
    return tokens
        .verify(token)
        .map(
            member ->
                member
                    .<Answer>map(
                        of ->
                            pages.page(
                                200,
                                "unsubscribe",
                                Map.of("token", token, "org", of.orgId()),
                                List.of()))
                    .orElseGet(this::unknown));
  }

  /**
   * Ends the mails. A mail provider sends the request without cookies, so the token alone
   * authorizes it. The body is ignored: RFC 8058 allows two encodings of its one field.
   */
  private Future<Answer> unsubscribe(Call call) {
    byAddress.count(call.clientKey());
    return tokens
        .verify(call.text("token"))
        .compose(
            member ->
                member
                    .map(
                        of ->
                            choices
                                .unsubscribe(of)
                                .<Answer>map(
                                    done ->
                                        pages.message(
                                            200,
                                            "You receive no more mails",
                                            "Mails about the clusters of %s have ended for you."
                                                .formatted(of.orgId()),
                                            "/console/account",
                                            "Change it on your account page")))
                    .orElseGet(() -> Future.succeededFuture(unknown())));
  }

  private Answer unknown() {
    return pages.message(
        410,
        "This link does not work",
        "Copy the whole link from the mail, or change your mails on your account page.",
        "/console/account",
        "Go to your account page");
  }
}
