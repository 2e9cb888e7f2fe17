package dev.bourse.notifications;

import dev.bourse.audit.TrailEntry;
import dev.bourse.audit.TrailStore;
import dev.bourse.core.ApiException;
import dev.bourse.events.ActivityStore;
import dev.bourse.events.ActivityStore.StoredActivity;
import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.notifications.ChoiceStore.Position;
import dev.bourse.notifications.ChoiceStore.Progress;
import dev.bourse.notifications.ChoiceStore.ProgressConflictException;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.webhooks.EventKind;
import dev.bourse.webhooks.WebhookEvent;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mails members the events that they chose, from where their last mail ended. */
final class NotificationMails {
  private static final Logger LOG = LoggerFactory.getLogger(NotificationMails.class);

  /**
   * Members of one run. With a run every ten seconds 36,000 mails an hour, which is more than the
   * queue of mails passes on.
   */
  static final int MAX_MEMBERS = 100;

  /** Members whose events are read at once, a few MB; the store has others to serve. */
  private static final int AT_ONCE = 4;

  /** Entries of one cluster, and of the trail, that one mail reads; the next mail continues. */
  private static final int MAX_ENTRIES = 200;

  /**
   * Older events are left out. A service that was down, or a member who was suspended, would get
   * mails about losses that nobody can avert any more.
   */
  private static final long MAX_AGE_MILLIS = Duration.ofDays(2).toMillis();

  private final ChoiceStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final MailSender mails;
  private final NotificationText text;
  private final Clock clock;

  NotificationMails(Database database, MailSender mails, NotificationText text, Clock clock) {
    this.store = new ChoiceStore(database);
    this.activity = new ActivityStore(database);
    this.trails = new TrailStore(database);
    this.mails = mails;
    this.text = text;
    this.clock = clock;
  }

  /** Mails what is due to some members, those who wait longest; the next run continues. */
  Future<Boolean> step() {
    // A member whose mail cannot be stored must not keep the mails of others.
    return store
        .listDue(clock.millis(), MAX_MEMBERS)
        .compose(due -> BoundedWork.each(due.iterator(), AT_ONCE, this::advance))
        .map(false);
  }

  /** The entries that a member has not been told of, and the positions after them. */
  private static final class News {
    private final List<WebhookEvent> events = new ArrayList<>();
    private final List<Position> positions = new ArrayList<>();
    private long trail;

    private News(long trail) {
      this.trail = trail;
    }

    private boolean isEmpty(Progress progress) {
      return positions.isEmpty() && trail == progress.trail();
    }

    private void take(Position before, List<StoredActivity> entries, long nowMillis) {
      if (entries.isEmpty()) {
        return;
      }
      entries.forEach(entry -> WebhookEvent.of(entry).ifPresent(events::add));
      StoredActivity last = entries.get(entries.size() - 1);
      // A clock that ran ahead must not hide the entries after it.
      long at = Math.min(nowMillis, Math.max(before.atMillis(), last.atMillis()));
      positions.add(new Position(before.cluster(), last.id(), at));
    }

    private void take(List<TrailEntry> entries) {
      for (TrailEntry entry : entries) {
        WebhookEvent.of(entry).ifPresent(events::add);
        trail = entry.id();
      }
    }
  }

  private Future<Void> advance(Progress progress) {
    long now = clock.millis();
    News news = new News(progress.trail());
    return store
        .listKinds(progress)
        .compose(
            kinds ->
                store
                    .listAhead(progress)
                    .compose(
                        ahead ->
                            BoundedWork.inTurn(
                                ahead,
                                position ->
                                    activity
                                        .listEventsAfter(
                                            position.cluster(),
                                            position.id(),
                                            position.atMillis(),
                                            now,
                                            MAX_ENTRIES)
                                        .onSuccess(found -> news.take(position, found, now))))
                    .compose(
                        read ->
                            trails
                                .listWritesAfter(
                                    progress.member().orgId(), progress.trail(), MAX_ENTRIES)
                                .onSuccess(news::take))
                    .compose(read -> commit(progress, news, MailKind.events(kinds), now)))
        .recover(
            failure -> {
              if (failure instanceof ProgressConflictException || failure instanceof ApiException) {
                // Another process sent the mail, or the member left.
                LOG.debug("no mail to a member: {}", failure.toString());
                return Future.succeededFuture();
              }
              return Future.failedFuture(failure);
            });
  }

  private Future<Void> commit(Progress progress, News news, Set<EventKind> kinds, long now) {
    List<WebhookEvent> told =
        news.events.stream()
            .filter(event -> kinds.contains(event.kind()))
            .filter(event -> event.atMillis() > now - MAX_AGE_MILLIS)
            .sorted(Comparator.comparingLong(WebhookEvent::atMillis))
            .toList();
    if (told.isEmpty() || !Mail.isAddress(progress.address())) {
      long due = progress.pace().firstDue(now);
      return news.isEmpty(progress) && progress.pace() == Pace.AT_ONCE
          ? Future.succeededFuture()
          : store.advance(progress, news.positions, news.trail, due, List.of());
    }
    return text.of(progress, told)
        .compose(
            mail ->
                mails.send(
                    mail,
                    stored ->
                        store.advance(
                            progress,
                            news.positions,
                            news.trail,
                            progress.pace().dueAfterMail(now),
                            stored)));
  }
}
