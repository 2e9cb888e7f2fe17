package dev.bourse.notifications;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.TrailStore;
import dev.bourse.events.ActivityStore;
import dev.bourse.notifications.ChoiceStore.Start;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.Map;
import java.util.TreeMap;

/** Operations of members on their own mails. */
final class ChoiceService {
  /** The actor of a request without a session, which anybody with the mail can send. */
  private static final String LINK = "system:mail-link";

  private final ChoiceStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final Clock clock;

  ChoiceService(Database database, Clock clock) {
    this.store = new ChoiceStore(database);
    this.activity = new ActivityStore(database);
    this.trails = new TrailStore(database);
    this.clock = clock;
  }

  private static Recipient member(Principal caller) {
    return new Recipient(caller.org().orgId(), caller.requireMember());
  }

  /** Returns the caller's pace of each kind. */
  Future<JsonObject> readMailChoices(Principal caller) {
    return store
        .findChoices(member(caller))
        .map(
            choices -> {
              JsonObject json = new JsonObject();
              for (MailKind kind : MailKind.values()) {
                json.put(kind.label(), choices.getOrDefault(kind.label(), Pace.OFF));
              }
              return json;
            });
  }

  /** Changes the pace of the given kinds, for events from now on. */
  Future<JsonObject> changeMailChoices(Principal caller, JsonObject change) {
    Map<String, String> choices = new TreeMap<>();
    change.forEach(choice -> choices.put(choice.getKey(), String.valueOf(choice.getValue())));
    Recipient member = member(caller);
    long now = clock.millis();
    return Future.all(activity.newestId(), trails.newestSettled())
        .compose(
            from ->
                store.change(
                    member,
                    choices,
                    new Start(from.resultAt(0), from.resultAt(1)),
                    new AuditRow(
                        now,
                        member.orgId(),
                        caller.actor(),
                        "mail_choices_set",
                        member.orgId(),
                        shown(choices))))
        .compose(stored -> readMailChoices(caller));
  }

  private static String shown(Map<String, String> choices) {
    return choices.entrySet().stream()
        .map(choice -> choice.getKey() + '=' + choice.getValue())
        .reduce((some, next) -> some + ' ' + next)
        .orElse("");
  }

  /** Ends all mails of a member. To repeat it changes nothing. */
  Future<Void> unsubscribe(Recipient member) {
    return store.end(
        member,
        new AuditRow(
            clock.millis(),
            member.orgId(),
            LINK,
            "mail_unsubscribe",
            member.orgId(),
            "username=" + member.username()));
  }
}
