package dev.bourse.app;

import dev.bourse.access.Members;
import dev.bourse.edge.Operations;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.keyring.Keyring;
import dev.bourse.mail.MailConfig;
import dev.bourse.mail.MailSender;
import dev.bourse.mail.OutboxMail;
import dev.bourse.mail.SmtpMail;
import dev.bourse.mail.StoredMail;
import dev.bourse.org.Memberships;
import dev.bourse.pages.PageTemplates;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.SignIn;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.function.Supplier;

/** Assembles the members' sign-in. */
final class MemberSignIn {
  /** How often expired rows are deleted; they are refused from their expiry on. */
  private static final long SWEEP_INTERVAL_MILLIS = 600_000;

  private MemberSignIn() {}

  /**
   * Binds the operations.
   *
   * @param installs whether the service offers its command line
   */
  static Future<SignIn> start(
      ServiceContext context,
      Operations operations,
      Database database,
      Members members,
      ConnectedApplications applications,
      PageTemplates templates,
      MailSender mail,
      Supplier<String> baseUrl,
      boolean installs) {
    SignIn signIn =
        new SignIn(
            context.vertx(),
            context.config().signIn(),
            database,
            new Memberships(database, members, context.clock()),
            mail,
            baseUrl,
            context.clock(),
            context.random());
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-sign-ins",
            "deleting expired sessions and links",
            SWEEP_INTERVAL_MILLIS,
            signIn::sweep));
    return signIn.bind(operations, applications, templates, installs).map(signIn);
  }

  /** The sender of mail; closed when the service stops. */
  static MailSender mail(ServiceContext context, Database database) {
    MailSender mail = sender(context, database);
    mail.registerMetrics(context.signals());
    context.shutdown().pushLimited("mail", mail::close);
    return mail;
  }

  private static MailSender sender(ServiceContext context, Database database) {
    String from = context.config().mail().from();
    return context
        .config()
        .mail()
        .smtp()
        .map(smtp -> smtp(context, database, smtp, from))
        .orElseGet(
            () ->
                new OutboxMail(
                    context.vertx(),
                    context.config().data().resolve("outbox"),
                    from,
                    context.clock(),
                    context.random()));
  }

  /** Mail is stored only if it can be encrypted, because it contains links that sign people in. */
  private static MailSender smtp(
      ServiceContext context, Database database, MailConfig.Smtp smtp, String from) {
    Keyring keyring = context.config().secret().keyring();
    if (keyring.isEmpty()) {
      SmtpMail mail =
          new SmtpMail(
              context.vertx(), smtp, from, context.clock(), context.nanoTime(), context.random());
      mail.start(context.jobs());
      return mail;
    }
    StoredMail mail =
        new StoredMail(
            context.vertx(),
            database,
            keyring,
            smtp,
            from,
            context.clock(),
            context.nanoTime(),
            context.random());
    context.keepUp(
        BackgroundJob.onConfirmedTime(
            BackgroundJob.Place.ONE_PROCESS,
            "delete-mails",
            "deleting expired mails",
            SWEEP_INTERVAL_MILLIS,
            mail::sweep));
    mail.start(context.jobs());
    return mail;
  }
}
