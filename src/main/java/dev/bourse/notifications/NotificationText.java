package dev.bourse.notifications;

import dev.bourse.mail.Mail;
import dev.bourse.notifications.NewsStore.Due;
import dev.bourse.webhooks.EventLink;
import dev.bourse.webhooks.EventWords;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Writes mails about events.
 *
 * @param baseUrl where members find the service
 * @param link the pages about events
 */
record NotificationText(Supplier<String> baseUrl, EventLink link, UnsubscribeToken tokens) {
  /** Mail readers show fewer characters of a subject than this. */
  private static final int MAX_SUBJECT = 150;

  /**
   * Returns the mail about events.
   *
   * @param bodies of at least one event, the oldest first; there may have been more before them
   */
  Future<Mail> of(Due due, List<JsonObject> bodies) {
    long events = due.replaced() + bodies.size();
    return tokens
        .of(due.member())
        .map(
            token -> {
              String unsubscribe =
                  baseUrl.get()
                      + "/unsubscribe?token="
                      + URLEncoder.encode(token, StandardCharsets.UTF_8);
              return new Mail(
                  due.address(),
                  subject(due, bodies, events),
                  text(bodies, events, unsubscribe),
                  unsubscribe,
                  Mail.LASTING);
            });
  }

  /** A single event is the subject, so that a phone shows it without the mail. */
  private static String subject(Due due, List<JsonObject> bodies, long events) {
    if (events > 1) {
      return "%s: %d events of your clusters".formatted(due.member().orgId(), events);
    }
    String sentence = EventWords.sentence(bodies.get(0));
    return sentence.length() <= MAX_SUBJECT ? sentence : sentence.substring(0, MAX_SUBJECT) + "…";
  }

  private String text(List<JsonObject> bodies, long events, String unsubscribe) {
    List<String> lines = new ArrayList<>();
    Set<String> links = new LinkedHashSet<>();
    if (events > bodies.size()) {
      lines.add(
          "%d earlier events are in the activity of the clusters and in the trail."
              .formatted(events - bodies.size()));
      lines.add("");
    }
    for (JsonObject body : bodies) {
      lines.add(
          "%s UTC  %s"
              .formatted(
                  body.getString("timestamp").substring(0, 16).replace('T', ' '),
                  EventWords.sentence(body)));
      links.add(link.of(body));
    }
    lines.add("");
    lines.add("Nothing changes when you open these pages:");
    lines.add("");
    lines.addAll(links);
    lines.add("");
    lines.add("You chose these mails on your account page, where you can change them:");
    lines.add("");
    lines.add(baseUrl.get() + "/console/account");
    lines.add("");
    lines.add("To end all of them without signing in, open this page and press the button:");
    lines.add("");
    lines.add(unsubscribe);
    return String.join("\n", lines) + "\n";
  }
}
