package dev.bourse.app;

import dev.bourse.access.Members;
import dev.bourse.edge.Operations;
import dev.bourse.mail.MailSender;
import dev.bourse.mail.OutboxMail;
import dev.bourse.mail.SmtpMail;
import dev.bourse.org.Memberships;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.SignIn;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.function.Supplier;

/** The parts by which members sign in, put together. */
final class MemberSignIn {
  /** How long rows past their time are kept at most; they are refused all the same. */
  private static final long SWEEP_INTERVAL_MILLIS = 600_000;

  private MemberSignIn() {}

  /** Binds the operations. */
  static Future<SignIn> start(
      ServiceContext context,
      Operations operations,
      Database database,
      Members members,
      ConnectedApplications applications,
      Supplier<String> baseUrl) {
    MailSender mail = mail(context);
    context.shutdown().push(mail::close);
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
        "deleting sessions and links past their time",
        SWEEP_INTERVAL_MILLIS,
        context.asFarAsConfirmed(signIn::sweep));
    return signIn.bind(operations, applications).map(templates -> signIn);
  }

  private static MailSender mail(ServiceContext context) {
    String from = context.config().mail().from();
    return context
        .config()
        .mail()
        .smtp()
        .<MailSender>map(smtp -> new SmtpMail(context.vertx(), smtp, from))
        .orElseGet(
            () ->
                new OutboxMail(
                    context.vertx(),
                    context.config().data().resolve("outbox"),
                    from,
                    context.clock(),
                    context.random()));
  }
}
