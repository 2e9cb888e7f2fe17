package dev.bourse.mail;

import dev.bourse.signals.Signals;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.net.TrustOptions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends mail through an SMTP server from a queue in memory. */
public final class SmtpMail implements MailSender {
  private static final Logger LOG = LoggerFactory.getLogger(SmtpMail.class);

  /** Mails that wait or are being sent; a mail takes about 1 KB. */
  static final int MAX_WAITING = 1_000;

  /**
   * Delays before a mail is tried again: together less than the 15 minutes for which a link is
   * valid. Network jitter is enough to keep several processes apart.
   */
  static final List<Long> USUAL_PAUSES_MILLIS =
      List.of(1_000L, 5_000L, 30_000L, 120_000L, 300_000L);

  private record Waiting(Mail mail, int failures) {}

  private final Vertx vertx;
  private final Context context;
  private final SmtpServer server;
  private final List<Long> pausesMillis;
  private final Semaphore room = new Semaphore(MAX_WAITING);
  private final LongAdder undelivered = new LongAdder();

  // Confined to the context.
  private final Deque<Waiting> queue = new ArrayDeque<>();
  private int sending;
  private boolean closed;

  /** Completes once this is closed and no mail is being sent. */
  private final Promise<Void> idle = Promise.promise();

  public SmtpMail(Vertx vertx, MailConfig.Smtp smtp, String from) {
    this(
        vertx,
        smtp,
        from,
        USUAL_PAUSES_MILLIS,
        SmtpServer.ATTEMPT_MILLIS,
        SmtpServer.CLOSE_MILLIS,
        null);
  }

  /**
   * @param trusted the trusted certificates; null for the Java platform's own
   */
  SmtpMail(
      Vertx vertx,
      MailConfig.Smtp smtp,
      String from,
      List<Long> pausesMillis,
      long attemptMillis,
      long closeMillis,
      @Nullable TrustOptions trusted) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.server = new SmtpServer(vertx, smtp, from, attemptMillis, closeMillis, trusted);
    this.pausesMillis = List.copyOf(pausesMillis);
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

  @Override
  public void registerMetrics(Signals signals) {
    signals.counter(
        "bourse_mails_undelivered_total",
        "Mails given up: rejected, or out of attempts.",
        undelivered::sum);
    signals.gauge(
        "bourse_mails_waiting",
        "Mails of this process that wait for the mail server or are being sent, at most 1,000.",
        () -> MAX_WAITING - room.availablePermits());
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
    while (sending < SmtpServer.MAX_SENDING && !queue.isEmpty()) {
      Waiting waiting = queue.remove();
      sending++;
      server
          .deliver(waiting.mail())
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
                        completeIfIdle();
                      }));
    }
  }

  private void failed(Waiting waiting, Throwable cause) {
    if (closed) {
      room.release();
      LOG.info("a mail was dropped because the service is stopping: {}", SmtpServer.shown(cause));
      return;
    }
    boolean isFinal = waiting.failures() == pausesMillis.size() || SmtpServer.isFinal(cause);
    if (isFinal) {
      undelivered.increment();
      room.release();
      LOG.warn(
          "a mail could not be sent in {} attempts: {}",
          waiting.failures() + 1,
          SmtpServer.shown(cause));
      return;
    }
    LOG.info("a mail could not be sent and is tried again: {}", SmtpServer.shown(cause));
    vertx.setTimer(
        pausesMillis.get(waiting.failures()),
        timer ->
            context.runOnContext(
                turn -> enqueue(new Waiting(waiting.mail(), waiting.failures() + 1))));
  }

  private void completeIfIdle() {
    if (closed && sending == 0) {
      idle.tryComplete();
    }
  }

  /** Drops the mails that wait, and waits for the mails that are being sent. */
  @Override
  public Future<Void> close() {
    context.runOnContext(
        turn -> {
          closed = true;
          room.release(queue.size());
          queue.clear();
          completeIfIdle();
        });
    return server.close(idle.future());
  }
}
