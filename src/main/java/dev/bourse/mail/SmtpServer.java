package dev.bourse.mail;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.TrustOptions;
import io.vertx.ext.mail.LoginOption;
import io.vertx.ext.mail.MailClient;
import io.vertx.ext.mail.MailMessage;
import io.vertx.ext.mail.SMTPException;
import io.vertx.ext.mail.StartTLSOptions;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mail relay. It makes single attempts; the callers keep the queues. */
final class SmtpServer {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpServer.class);

  /** Concurrent attempts; servers reject clients that open many connections. */
  static final int MAX_SENDING = 4;

  /**
   * Time-out of one attempt, from connecting to the server's last reply. An attempt in which
   * STARTTLS fails, for example at an untrusted certificate, always takes this long, because the
   * mail client does not report it.
   */
  static final long ATTEMPT_MILLIS = 30_000;

  /**
   * Longest wait at shutdown for attempts in progress; the server's last reply usually arrives at
   * once.
   */
  static final long CLOSE_MILLIS = 3_000;

  private final MailClient client;
  private final String from;
  private final long attemptMillis;
  private final long closeMillis;

  /**
   * @param attemptMillis time-out of one attempt
   * @param closeMillis longest wait at shutdown for attempts in progress
   * @param trusted the trusted certificates; null for the Java platform's own
   */
  SmtpServer(
      Vertx vertx,
      MailConfig.Smtp smtp,
      String from,
      long attemptMillis,
      long closeMillis,
      @Nullable TrustOptions trusted) {
    io.vertx.ext.mail.MailConfig options = options(smtp, attemptMillis);
    if (trusted != null) {
      options.setTrustOptions(trusted);
    }
    this.client = MailClient.create(vertx, options);
    this.from = from;
    this.attemptMillis = attemptMillis;
    this.closeMillis = closeMillis;
  }

  private static io.vertx.ext.mail.MailConfig options(MailConfig.Smtp smtp, long attemptMillis) {
    io.vertx.ext.mail.MailConfig options =
        new io.vertx.ext.mail.MailConfig()
            .setHostname(smtp.host())
            .setPort(smtp.port())
            .setMaxPoolSize(MAX_SENDING)
            .setSsl(smtp.security() == MailConfig.Security.IMPLICIT)
            .setStarttls(
                smtp.security() == MailConfig.Security.STARTTLS
                    ? StartTLSOptions.REQUIRED
                    : StartTLSOptions.DISABLED);
    // The mail client compares the certificate's name with the host's by default, and stops doing
    // so when setHostnameVerificationAlgorithm is called.
    options.setConnectTimeout(10_000);
    // Ends an attempt at a server that does not answer any more. Without it the attempt would keep
    // its connection, and the mail client neither opens more than its number nor closes used ones.
    options.setIdleTimeoutUnit(TimeUnit.MILLISECONDS).setIdleTimeout((int) attemptMillis);
    return smtp.user().isEmpty()
        ? options.setLogin(LoginOption.DISABLED)
        : options
            .setLogin(LoginOption.REQUIRED)
            .setUsername(smtp.user())
            .setPassword(smtp.password());
  }

  /**
   * Succeeds once the server has accepted the mail; a failure does not prove that it has not.
   *
   * @param id the same at each attempt: mail readers show mails with the same id once
   */
  Future<Void> deliver(Mail mail, String id) {
    String host = from.substring(from.lastIndexOf('@') + 1);
    MailMessage message =
        new MailMessage()
            .setFrom(from)
            .setTo(mail.to())
            .setSubject(mail.subject())
            .setText(mail.text())
            .addHeader("Message-ID", "<%s@%s>".formatted(id, host));
    mail.headers().forEach(message::addHeader);
    return client.sendMail(message).timeout(attemptMillis, TimeUnit.MILLISECONDS).mapEmpty();
  }

  /** Returns true if the server will never accept the mail. */
  static boolean isFinal(Throwable cause) {
    return cause instanceof SMTPException refusal && refusal.isPermanent();
  }

  /** Returns the first line, which names the fault; servers echo the input after it. */
  static String shown(Throwable cause) {
    return cause.toString().lines().findFirst().orElse("");
  }

  /**
   * Closes the connections once no attempt is in progress.
   *
   * <p>The mail client's own close throws a NullPointerException if a connection was requested and
   * does not exist: one that is being opened, or could not be. So close waits until no attempt is
   * in progress, and ignores a failure: connections left open end with the process.
   *
   * @param idle succeeds when no attempt is in progress
   */
  Future<Void> close(Future<Void> idle) {
    return idle.timeout(closeMillis, TimeUnit.MILLISECONDS)
        .compose(nothingUnderWay -> client.close())
        .timeout(closeMillis + closeMillis / 2, TimeUnit.MILLISECONDS)
        .onFailure(e -> LOG.debug("the mail client was not closed: {}", shown(e)))
        .otherwiseEmpty();
  }
}
