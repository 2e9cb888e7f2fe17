package dev.bourse.webhooks;

import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Switches an endpoint off that cannot be delivered to, and tells members so by mail. */
final class SwitchOff {
  /** Members who are told: a mail to each of thousands would help none of them. */
  private static final int MAX_TOLD = 20;

  private final WebhookStore store;
  private final MailSender mail;
  private final Supplier<String> baseUrl;

  /**
   * @param baseUrl where members find the console
   */
  SwitchOff(WebhookStore store, MailSender mail, Supplier<String> baseUrl) {
    this.store = store;
    this.mail = mail;
    this.baseUrl = baseUrl;
  }

  /**
   * Stores it together with the mails. Fails with {@link OutboxStore.Moved} when the endpoint was
   * changed meanwhile.
   */
  Future<Void> store(
      WebhookEndpoint endpoint,
      WebhookEndpoint.Reason reason,
      List<Statement> more,
      long nowMillis) {
    List<Statement> statements =
        new ArrayList<>(WebhookStore.switchOff(endpoint, reason, nowMillis));
    statements.addAll(more);
    return store
        .listRecipients(endpoint, MAX_TOLD)
        .compose(
            members ->
                commit(
                    members.stream()
                        .map(WebhookStore.Recipient::email)
                        .filter(Mail::isAddress)
                        .map(to -> told(to, endpoint, reason))
                        .toList(),
                    mails -> {
                      statements.addAll(mails);
                      return store.commit(statements);
                    }));
  }

  private Future<Void> commit(List<Mail> mails, Function<List<Statement>, Future<Void>> commit) {
    return mails.isEmpty()
        ? commit.apply(List.of())
        : mail.send(
            mails.get(0),
            first ->
                commit(
                    mails.subList(1, mails.size()),
                    others -> {
                      List<Statement> all = new ArrayList<>(first);
                      all.addAll(others);
                      return commit.apply(all);
                    }));
  }

  private Mail told(String to, WebhookEndpoint endpoint, WebhookEndpoint.Reason reason) {
    return new Mail(
        to,
        "A webhook endpoint was switched off",
        """
        The webhook endpoint %s of your organization

        %s

        was switched off: %s. Events that were waiting for it were given up; they are listed
        on the console for seven days and can be sent again once it works:

        %s/console/webhooks
        """
            .formatted(endpoint.endpointId(), endpoint.url(), why(reason), baseUrl.get()));
  }

  private static String why(WebhookEndpoint.Reason reason) {
    return switch (reason) {
      case SWITCHED_OFF -> "a member did so";
      case GONE -> "it answered 410 Gone";
      case FAILING -> "an event could not be delivered for as long as it is tried";
      case BACKLOG -> "more events waited for it than may";
    };
  }
}
