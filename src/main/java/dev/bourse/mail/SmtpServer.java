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

/** A server that takes mail for others; one attempt at a time, by whoever keeps what waits. */
final class SmtpServer {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpServer.class);

  /** Mails under way at a time; servers refuse clients that open many connections. */
  static final int MAX_SENDING = 4;

  /**
   * The longest one attempt may take, from connecting to the server's last word. An attempt in
   * which STARTTLS fails, at a certificate that is not trusted say, takes all of it: the mail
   * client does not tell.
   */
  static final long ATTEMPT_MILLIS = 30_000;

  /** How long a stop waits for mails under way: the server's last word is usually there at once. */
  static final long CLOSE_MILLIS = 3_000;

  private final MailClient client;
  private final String from;
  private final long attemptMillis;
  private final long closeMillis;

  /**
   * @param attemptMillis the longest one attempt may take
   * @param closeMillis the longest a stop waits for mails under way
   * @param trusted whose certificates are trusted; null for those the Java platform trusts
   */
  SmtpServer(
      Vertx vertx,
      MailConfig.Smtp smtp,
      String from,
      long attemptMillis,
      long closeMillis,
      @Nullable TrustOptions trusted) {
    io.vertx.ext.mail.MailConfig options = options(smtp);
    if (trusted != null) {
      options.setTrustOptions(trusted);
    }
    this.client = MailClient.create(vertx, options);
    this.from = from;
    this.attemptMillis = attemptMillis;
    this.closeMillis = closeMillis;
  }

  private static io.vertx.ext.mail.MailConfig options(MailConfig.Smtp smtp) {
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
    // The mail client compares the certificate's name with the host's by itself, but does not when
    // setHostnameVerificationAlgorithm asks for it.
    options.setConnectTimeout(10_000);
    return smtp.user().isEmpty()
        ? options.setLogin(LoginOption.DISABLED)
        : options
            .setLogin(LoginOption.REQUIRED)
            .setUsername(smtp.user())
            .setPassword(smtp.password());
  }

  /** Succeeds once the server has taken the mail; it may have taken it too when this fails. */
  Future<Void> deliver(Mail mail) {
    return deliver(message(mail));
  }

  /**
   * As {@link #deliver(Mail)}, for a mail that may be sent twice.
   *
   * @param id the same at each attempt: readers show mails of one id once
   */
  Future<Void> deliver(Mail mail, String id) {
    String host = from.substring(from.lastIndexOf('@') + 1);
    return deliver(message(mail).addHeader("Message-ID", "<%s@%s>".formatted(id, host)));
  }

  private Future<Void> deliver(MailMessage message) {
    return client.sendMail(message).timeout(attemptMillis, TimeUnit.MILLISECONDS).mapEmpty();
  }

  /** Whether the server will never take the mail. */
  static boolean isFinal(Throwable cause) {
    return cause instanceof SMTPException refusal && refusal.isPermanent();
  }

  /** The first line, which names the fault: servers repeat what they were sent after it. */
  static String shown(Throwable cause) {
    return cause.toString().lines().findFirst().orElse("");
  }

  private MailMessage message(Mail mail) {
    return new MailMessage()
        .setFrom(from)
        .setTo(mail.to())
        .setSubject(mail.subject())
        .setText(mail.text());
  }

  /**
   * Ends the connections once nothing is under way.
   *
   * <p>The mail client's own close ends in a NullPointerException when it meets a connection that
   * was asked for and is not there: one that is being made, or could not be. Hence it is asked only
   * when nothing is under way, and its failure is not one of the stop: what it has left open then
   * ends with the process.
   *
   * @param idle completes when nothing is under way
   */
  Future<Void> close(Future<Void> idle) {
    return idle.timeout(closeMillis, TimeUnit.MILLISECONDS)
        .compose(nothingUnderWay -> client.close())
        .onFailure(e -> LOG.debug("the mail client was not closed: {}", shown(e)))
        .otherwiseEmpty();
  }
}
