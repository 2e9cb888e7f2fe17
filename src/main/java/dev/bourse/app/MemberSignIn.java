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
      Ground ground,
      Operations operations,
      Database database,
      Members members,
      ConnectedApplications applications,
      Supplier<String> baseUrl) {
    MailSender mail = mail(ground);
    ground.stops().push(mail::close);
    SignIn signIn =
        new SignIn(
            ground.vertx(),
            ground.config().signIn(),
            database,
            new Memberships(database, members, ground.clock()),
            mail,
            baseUrl,
            ground.clock(),
            ground.random());
    ground.keepUp(
        "deleting sessions and links past their time",
        SWEEP_INTERVAL_MILLIS,
        ground.asFarAsConfirmed(signIn::sweep));
    return signIn.bind(operations, applications).map(templates -> signIn);
  }

  private static MailSender mail(Ground ground) {
    String from = ground.config().mail().from();
    return ground
        .config()
        .mail()
        .smtp()
        .<MailSender>map(smtp -> new SmtpMail(ground.vertx(), smtp, from))
        .orElseGet(
            () ->
                new OutboxMail(
                    ground.vertx(),
                    ground.config().data().resolve("outbox"),
                    from,
                    ground.clock(),
                    ground.random()));
  }
}
