package dev.bourse.notifications;

import dev.bourse.access.Offboarding;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.edge.Operations;
import dev.bourse.mail.MailSender;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.pages.PageTemplates;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.TableCorrection;
import dev.bourse.webhooks.EventLink;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** Assembles the mails that members choose. */
public final class Notifications {
  /** The templates of its pages. */
  public static final List<String> TEMPLATES = NotificationRoutes.TEMPLATES;

  private final Database database;
  private final UnsubscribeToken tokens;
  private final NotificationMails mails;
  private final Clock clock;
  private final ConfirmedTime time;

  /**
   * @param secrets sign the links that end mails
   * @param baseUrl where members find the service
   * @param time tells when mails are due
   */
  public Notifications(
      Database database,
      Clusters clusters,
      ServiceSecrets secrets,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      ConfirmedTime time) {
    this.database = database;
    this.clock = clock;
    this.time = time;
    this.tokens = new UnsubscribeToken(secrets);
    this.mails =
        new NotificationMails(
            database, mail, new NotificationText(baseUrl, EventLink.of(baseUrl, clusters), tokens));
  }

  /** Ends the mails of members who leave. */
  public static Offboarding offboarding() {
    return ChoiceStore.offboarding();
  }

  /** Binds the operations. */
  public void bind(Operations operations, PageTemplates templates) {
    new NotificationRoutes(new ChoiceService(database, clock), tokens, templates).bind(operations);
  }

  /** Makes the secret that signs the links, so that no request that only reads stores it. */
  public Future<Void> start() {
    return tokens.of(new Recipient("", "")).mapEmpty();
  }

  /**
   * Reads some news and sends some of the mails that are due; returns whether there may be more.
   * Does nothing while there is a doubt about the clock. It does not wait for a confirmed clock,
   * because a notice is over by then; only digests and old news wait for one, because a clock that
   * is ahead would discard them.
   */
  public Future<Boolean> step() {
    OptionalLong now = time.undoubtedMillis();
    return now.isPresent()
        ? mails.step(now.getAsLong(), time.confirmedMillis().isPresent())
        : Future.succeededFuture(false);
  }

  /** Deletes old lines, and rows of members who left; returns whether there may be more. */
  public Future<Boolean> prune(long nowMillis) {
    return new NewsStore(database)
        .forget(nowMillis - NotificationMails.MAX_AGE_MILLIS)
        .compose(done -> new ChoiceStore(database).prune(NotificationMails.MAX_MEMBERS));
  }

  /** Returns the corrections of its tables after a clock was ahead: what waits is due at once. */
  public static List<Correction> corrections(Database database) {
    return List.of(
        TableCorrection.moved(database, "mail_line", "at"),
        brought(
            database,
            "due_at",
            "CASE WHEN pace = 'digest' THEN %s ELSE %s END"
                .formatted(Duration.ofDays(1).toMillis(), Pace.URGENT_MILLIS)),
        brought(database, "spread_until", Long.toString(Pace.URGENT_MILLIS + Pace.PAUSE_MILLIS)));
  }

  private static Correction brought(Database database, String column, String longest) {
    return new TableCorrection(
        database,
        "mail_due",
        "%s > (SELECT latest FROM clock) + %s".formatted(column, longest),
        column + " = (SELECT now FROM clock)");
  }
}
