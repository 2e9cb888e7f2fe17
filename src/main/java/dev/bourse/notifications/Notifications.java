package dev.bourse.notifications;

import dev.bourse.access.Offboarding;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.capacity.Clusters;
import dev.bourse.edge.Operations;
import dev.bourse.mail.MailSender;
import dev.bourse.pages.PageTemplates;
import dev.bourse.store.Database;
import dev.bourse.webhooks.EventLink;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.List;
import java.util.function.Supplier;

/** Assembles the mails that members choose. */
public final class Notifications {
  /** The templates of its pages. */
  public static final List<String> TEMPLATES = NotificationRoutes.TEMPLATES;

  private final Database database;
  private final UnsubscribeToken tokens;
  private final NotificationMails mails;
  private final Clock clock;

  /**
   * @param secrets sign the links that end mails
   * @param baseUrl where members find the service
   */
  public Notifications(
      Database database,
      Clusters clusters,
      ServiceSecrets secrets,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock) {
    this.database = database;
    this.clock = clock;
    this.tokens = new UnsubscribeToken(secrets);
    this.mails =
        new NotificationMails(
            database,
            mail,
            new NotificationText(baseUrl, EventLink.of(baseUrl, clusters), tokens),
            clock);
  }

  /** Ends the mails of members who leave. */
  public static Offboarding offboarding() {
    return ChoiceStore.offboarding();
  }

  /** Binds the operations. */
  public void bind(Operations operations, PageTemplates templates) {
    new NotificationRoutes(new ChoiceService(database, clock), tokens, templates).bind(operations);
  }

  /** Sends some of the mails that are due. */
  public Future<Boolean> step() {
    return mails.step();
  }

  /** Deletes rows of members who left; returns whether there may be more. */
  public Future<Boolean> prune() {
    return new ChoiceStore(database).prune(NotificationMails.MAX_MEMBERS);
  }
}
