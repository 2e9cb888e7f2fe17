package dev.bourse.notifications;

import dev.bourse.audit.TrailStore;
import dev.bourse.core.ApiException;
import dev.bourse.events.ActivityStore;
import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.notifications.NewsStore.Due;
import dev.bourse.notifications.NewsStore.News;
import dev.bourse.notifications.NewsStore.NewsConflictException;
import dev.bourse.notifications.NewsStore.Scan;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes new events as lines for the members who chose their kinds, and mails the due lines. */
final class NotificationMails {
  private static final Logger LOG = LoggerFactory.getLogger(NotificationMails.class);

  /** Mails of one pace in one step, so that a step takes about a second. */
  static final int MAX_MEMBERS = 100;

  /** Members whose lines are read at once, 50 each; the store has others to serve. */
  private static final int AT_ONCE = 4;

  /** New entries of the activity, and of the trails, in one commit: each takes four statements. */
  static final int MAX_ENTRIES = 100;

  /** Lines in one commit, unless one entry has more: they hold the writer for some 100 ms. */
  private static final long MAX_LINES = 5_000;

  /** How long a commit may take until the ids after its own count as read; most take far less. */
  static final long OPEN_MILLIS = Duration.ofMinutes(2).toMillis();

  /**
   * Mails leave older events out. After an outage of the service or a suspension, members would get
   * mails about losses that nobody can avert any more.
   */
  static final long MAX_AGE_MILLIS = Duration.ofDays(2).toMillis();

  /** The longest time without mails while there is more to read: two rounds of the job. */
  private static final long MAX_SCAN_MILLIS = 20_000;

  private final NewsStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final MailSender mails;
  private final NotificationText text;
  private volatile long toldMillis;

  NotificationMails(Database database, MailSender mails, NotificationText text) {
    this.store = new NewsStore(database);
    this.activity = new ActivityStore(database);
    this.trails = new TrailStore(database);
    this.mails = mails;
    this.text = text;
  }

  /**
   * Reads some news and sends some mails; returns whether there may be more.
   *
   * @param isConfirmed false if the clock may be ahead: then nothing is left out because of its age
   */
  Future<Boolean> step(long nowMillis, boolean isConfirmed) {
    return scan(nowMillis, isConfirmed)
        .compose(
            more ->
                // All events of a tick belong in one mail, so all are read first, for some seconds.
                more && nowMillis - toldMillis < MAX_SCAN_MILLIS
                    ? Future.succeededFuture(true)
                    : tellAll(more, nowMillis, isConfirmed));
  }

  private Future<Boolean> tellAll(boolean more, long nowMillis, boolean isConfirmed) {
    toldMillis = nowMillis;
    return tell(Pace.AT_ONCE, nowMillis, isConfirmed)
        .compose(
            many -> {
              if (many) {
                return Future.succeededFuture(true);
              }
              return isConfirmed
                  ? tell(Pace.DIGEST, nowMillis, true).map(full -> full || more)
                  : Future.succeededFuture(more);
            });
  }

  /** Writes lines for some of the news; returns whether there may be more. */
  private Future<Boolean> scan(long now, boolean isConfirmed) {
    return Future.all(store.findScan(), activity.newestId(), trails.newestSettled())
        .compose(
            read -> {
              Scan scan = read.resultAt(0);
              long newest = read.resultAt(1);
              long settled = Math.max(scan.trail(), read.<Long>resultAt(2));
              return Future.all(
                      store.listActivity(scan, MAX_ENTRIES),
                      store.listTrail(scan, settled, MAX_ENTRIES))
                  .compose(
                      found ->
                          write(
                              scan,
                              newest,
                              settled,
                              found.resultAt(0),
                              found.resultAt(1),
                              now,
                              isConfirmed));
            })
        .recover(
            failure ->
                failure instanceof NewsConflictException
                    ? Future.succeededFuture(true)
                    : Future.failedFuture(failure));
  }

  private Future<Boolean> write(
      Scan scan,
      long newest,
      long settled,
      List<News> happened,
      List<News> recorded,
      long now,
      boolean isConfirmed) {
    List<News> read = new ArrayList<>();
    long trail = scan.trail();
    long lines = 0;
    int left = happened.size() + recorded.size();
    boolean isAll = happened.size() < MAX_ENTRIES && recorded.size() < MAX_ENTRIES;
    List<News> all = new ArrayList<>(happened);
    all.addAll(recorded);
    for (News entry : all) {
      if (!read.isEmpty() && lines + entry.choices() > MAX_LINES) {
        break;
      }
      read.add(entry);
      left--;
      lines += entry.choices();
      trail = entry.cluster() == null ? entry.id() : trail;
    }
    boolean isWhole = isAll && left == 0;
    boolean turns =
        isWhole
            && (now >= scan.markedMillis() + OPEN_MILLIS || now < scan.markedMillis())
            && (scan.activity() != newest || scan.trail() != settled);
    if (read.isEmpty() && !turns) {
      return Future.succeededFuture(false);
    }
    Scan after =
        new Scan(
            turns ? scan.next() : scan.activity(),
            turns ? newest : scan.next(),
            turns ? now : scan.markedMillis(),
            recorded.size() < MAX_ENTRIES && left == 0 ? settled : trail,
            scan.revision());
    List<News> told =
        read.stream().filter(entry -> entry.atMillis() > now - MAX_AGE_MILLIS).toList();
    return isConfirmed || told.size() == read.size()
        ? store.write(scan, after, read, told, now).map(!isWhole)
        : Future.succeededFuture(false);
  }

  /** Sends mails to some members; returns whether there may be more. */
  private Future<Boolean> tell(Pace pace, long now, boolean isConfirmed) {
    // A member whose mail cannot be stored must not keep the mails of others.
    return store
        .listDue(pace, now, MAX_MEMBERS)
        .compose(
            due ->
                BoundedWork.each(due.iterator(), AT_ONCE, member -> tell(member, now, isConfirmed))
                    .map(done -> due.size() == MAX_MEMBERS));
  }

  private Future<Void> tell(Due due, long now, boolean isConfirmed) {
    return store
        .listLines(due, now - MAX_AGE_MILLIS)
        .compose(
            lines ->
                lines.isEmpty() && !isConfirmed
                    ? Future.<Void>succeededFuture()
                    : send(due, lines, now))
        .recover(
            failure -> {
              if (failure instanceof NewsConflictException || failure instanceof ApiException) {
                // Another process sent the mail, a new line is there, or the member left.
                LOG.debug("no mail to a member: {}", failure.toString());
                return Future.succeededFuture();
              }
              if (failure instanceof StoreUnavailableException) {
                return Future.failedFuture(failure);
              }
              LOG.warn("a mail to a member of {} failed", due.member().orgId(), failure);
              return store.delay(due, now + Pace.PAUSE_MILLIS);
            });
  }

  private Future<Void> send(Due due, List<JsonObject> lines, long now) {
    if (lines.isEmpty() || !Mail.isAddress(due.address())) {
      return store.end(due, due.spreadMillis(), List.of());
    }
    long spread = due.pace().spreadAfterMail(due.spreadMillis(), now);
    return text.of(due, lines)
        .compose(mail -> mails.send(mail, stored -> store.end(due, spread, stored)));
  }
}
