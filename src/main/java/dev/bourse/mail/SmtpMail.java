package dev.bourse.mail;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.TrustOptions;
import io.vertx.ext.mail.LoginOption;
import io.vertx.ext.mail.MailClient;
import io.vertx.ext.mail.MailMessage;
import io.vertx.ext.mail.SMTPException;
import io.vertx.ext.mail.StartTLSOptions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mail by way of an SMTP server. */
public final class SmtpMail implements MailSender {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpMail.class);

  /** Mails that wait or are under way; a mail takes about 1 KB. */
  static final int MAX_WAITING = 1_000;

  /** Mails under way at a time; servers refuse clients that open many connections. */
  private static final int MAX_SENDING = 4;

  /**
   * Pauses before a mail is tried again: together less than the 15 minutes a link works. The jitter
   * of the network keeps several processes apart.
   */
  private static final List<Long> USUAL_PAUSES_MILLIS =
      List.of(1_000L, 5_000L, 30_000L, 120_000L, 300_000L);

  /**
   * The longest one attempt may take, from connecting to the server's last word. An attempt in
   * which STARTTLS fails, at a certificate that is not trusted say, takes all of it: the mail
   * client does not tell.
   */
  private static final long ATTEMPT_MILLIS = 30_000;

  /** How long a stop waits for mails under way: the server's last word is usually there at once. */
  private static final long CLOSE_MILLIS = 3_000;

  private record Waiting(Mail mail, int failures) {}

  private final Vertx vertx;
  private final Context context;
  private final MailClient client;
  private final String from;
  private final List<Long> pausesMillis;
  private final long attemptMillis;
  private final Semaphore room = new Semaphore(MAX_WAITING);

  // On the context alone.
  private final Deque<Waiting> queue = new ArrayDeque<>();
  private int sending;
  private boolean closed;

  /** Completes once this is closed and no mail is under way. */
  private final Promise<Void> idle = Promise.promise();

  public SmtpMail(Vertx vertx, MailConfig.Smtp smtp, String from) {
    this(vertx, smtp, from, USUAL_PAUSES_MILLIS, ATTEMPT_MILLIS, null);
  }

  /**
   * @param trusted whose certificates are trusted; null for those the Java platform trusts
   */
  SmtpMail(
      Vertx vertx,
      MailConfig.Smtp smtp,
      String from,
      List<Long> pausesMillis,
      long attemptMillis,
      @Nullable TrustOptions trusted) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    io.vertx.ext.mail.MailConfig options = options(smtp);
    if (trusted != null) {
      options.setTrustOptions(trusted);
    }
    this.client = MailClient.create(vertx, options);
    this.from = from;
    this.pausesMillis = List.copyOf(pausesMillis);
    this.attemptMillis = attemptMillis;
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

  @Override
  public boolean send(Mail mail) {
    if (!room.tryAcquire()) {
      LOG.warn("a mail was dropped: {} others wait for the mail server", MAX_WAITING);
      return false;
    }
    context.runOnContext(turn -> enqueue(new Waiting(mail, 0)));
    return true;
  }

  private void enqueue(Waiting waiting) {
    if (closed) {
      room.release();
      return;
    }
    queue.add(waiting);
    next();
  }

  private void next() {
    while (sending < MAX_SENDING && !queue.isEmpty()) {
      Waiting waiting = queue.remove();
      sending++;
      client
          .sendMail(message(waiting.mail()))
          .timeout(attemptMillis, TimeUnit.MILLISECONDS)
          .onComplete(
              done ->
                  context.runOnContext(
                      turn -> {
                        sending--;
                        if (done.succeeded()) {
                          room.release();
                        } else {
                          failed(waiting, done.cause());
                        }
                        next();
                        noteIdle();
                      }));
    }
  }

  private void failed(Waiting waiting, Throwable cause) {
    if (closed) {
      room.release();
      LOG.info("a mail was dropped because the service stops: {}", shown(cause));
      return;
    }
    boolean isFinal =
        waiting.failures() == pausesMillis.size()
            || (cause instanceof SMTPException refusal && refusal.isPermanent());
    if (isFinal) {
      room.release();
      LOG.warn("a mail could not be sent in {} attempts: {}", waiting.failures() + 1, shown(cause));
      return;
    }
    LOG.info("a mail could not be sent and is tried again: {}", shown(cause));
    vertx.setTimer(
        pausesMillis.get(waiting.failures()),
        timer ->
            context.runOnContext(
                turn -> enqueue(new Waiting(waiting.mail(), waiting.failures() + 1))));
  }

  /** The first line, which names the fault: servers repeat what they were sent after it. */
  private static String shown(Throwable cause) {
    return cause.toString().lines().findFirst().orElse("");
  }

  private MailMessage message(Mail mail) {
    return new MailMessage()
        .setFrom(from)
        .setTo(mail.to())
        .setSubject(mail.subject())
        .setText(mail.text());
  }

  private void noteIdle() {
    if (closed && sending == 0) {
      idle.tryComplete();
    }
  }

  /**
   * Drops mails that wait, and waits for those that are being sent.
   *
   * <p>The mail client's own close ends in a NullPointerException when it meets a connection that
   * was asked for and is not there: one that is being made, or could not be. Hence it is asked only
   * when nothing is under way, and its failure is not one of the stop: what it has left open then
   * ends with the process.
   */
  @Override
  public Future<Void> close() {
    context.runOnContext(
        turn -> {
          closed = true;
          room.release(queue.size());
          queue.clear();
          noteIdle();
        });
    return idle.future()
        .timeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS)
        .compose(nothingUnderWay -> client.close())
        .onFailure(e -> LOG.debug("the mail client was not closed: {}", shown(e)))
        .otherwiseEmpty();
  }
}
