package dev.bourse.billing;

import dev.bourse.billing.HealthCredits.Credit;
import dev.bourse.billing.Usage.Line;
import dev.bourse.core.ConfirmedTime;
import dev.bourse.core.Times;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Posts the usage of each hour that is over to the ledger, once, hour after hour. A step of a
 * background job; one at a time.
 *
 * <p>A change point is committed some time after the moment it describes, so an hour is left to
 * settle before it is posted; then it is final. Each organization's hour is a commit of its own
 * with an idempotency key: after a crash, a restart or a take-over by another process, completed
 * hours are found and skipped.
 *
 * <p>Organizations are independent. One whose hour cannot be posted gets a watermark of its own and
 * stays there while the others continue; each round retries it, in order, and its usage counts as
 * unposted until then.
 *
 * <p>Only confirmed time ends an hour. Transactions posted at a time that turns out to be in the
 * future are reversed first, see {@link Reversals}.
 */
public final class UsagePosting {
  private static final Logger LOG = LoggerFactory.getLogger(UsagePosting.class);

  /** Organizations of one step: some queries and as many small commits. */
  static final int ORGS_PER_STEP = 50;

  /** Hours of one organization that catches up in one step: as many small commits. */
  private static final int HOURS_PER_STEP = 24;

  /**
   * How far back hours are checked again after a clock ran ahead: longer than an operator would
   * leave it wrong.
   */
  private static final long AGAIN_MILLIS = 7 * 24 * Usage.HOUR_MILLIS;

  /**
   * Organizations whose failure is remembered, so that it is logged once; more are only counted.
   */
  private static final int MAX_LOGGED = 100;

  private final Database database;
  private final WatermarkStore watermarks;
  private final UsageStore usage;
  private final TimelineStore timelines;
  private final HealthCredits health;
  private final long settleMillis;
  private final ConfirmedTime time;
  private final Reversals reversals;
  private final LongAdder failures = new LongAdder();

  // Used by one step at a time: the position in the hour being posted, the position in the retries,
  // and the organizations whose failure was logged.
  private long hour = -1;
  private String after = "";
  private String triedAfter = "";
  private final Set<String> logged = new HashSet<>();

  /**
   * @param settleMillis delay from the end of an hour to its posting: longer than any commit takes
   */
  public UsagePosting(Database database, long settleMillis, ConfirmedTime time) {
    this.database = database;
    this.watermarks = new WatermarkStore(database);
    this.usage = new UsageStore(database);
    this.timelines = new TimelineStore(database);
    this.health = new HealthCredits(database);
    this.settleMillis = settleMillis;
    this.time = time;
    this.reversals = new Reversals(database);
  }

  /**
   * Returns the number of failed attempts to post an organization's hour since the start of this
   * process.
   */
  public long failures() {
    return failures.sum();
  }

  /** Returns the number of hours reversed since the start of this process. */
  public long reversals() {
    return reversals.count();
  }

  /** Posts some organizations' next hour; returns whether there is more to post. */
  public Future<Boolean> step() {
    OptionalLong now = time.confirmedMillis();
    return now.isEmpty() ? Future.succeededFuture(false) : step(now.getAsLong());
  }

  private Future<Boolean> step(long now) {
    return reversals
        .step(now)
        .compose(
            isMore -> {
              if (!isMore) {
                return post(now);
              }
              // The posted part of a partly posted hour may be among the reversed ones.
              hour = -1;
              return Future.succeededFuture(true);
            });
  }

  private Future<Boolean> post(long now) {
    return watermarks
        .find()
        .compose(
            through ->
                through
                    .map(
                        watermark ->
                            isAhead(watermark, now)
                                ? recheckPastHours(now)
                                : postIfSettled(watermark.throughMillis(), now))
                    .orElseGet(() -> begin(now)))
        .recover(
            e ->
                e instanceof ConcurrentUpdateException
                    ? Future.succeededFuture(true)
                    : Future.failedFuture(e));
  }

  private static boolean isAhead(WatermarkStore.Common watermark, long now) {
    return watermark.throughMillis() > now || watermark.advancedAtMillis() > now;
  }

  /**
   * Checks past hours again: a clock that ran ahead has skipped hours that had not happened, and
   * hours without usage have left no transaction to reverse. Posted hours are found and skipped.
   */
  private Future<Boolean> recheckPastHours(long now) {
    hour = -1;
    return database
        .commit(
            List.of(
                WatermarkStore.setBack(Usage.hourOf(now) - AGAIN_MILLIS),
                WatermarkStore.recordAdvanced(now)))
        .map(true);
  }

  /** Billing begins with the hour in which the first node became active. */
  private Future<Boolean> begin(long now) {
    return timelines
        .findFirstActive()
        .compose(
            first ->
                // A clock that ran ahead may have written the time; a watermark there would skip
                // all earlier hours.
                first.isEmpty() || first.get() > now
                    ? Future.succeededFuture(false)
                    : watermarks.begin(Usage.hourOf(first.get())).map(true));
  }

  private Future<Boolean> postIfSettled(long through, long now) {
    if (now < through + Usage.HOUR_MILLIS + settleMillis) {
      return catchUp(through, now);
    }
    if (hour != through) {
      hour = through;
      after = "";
    }
    return usage
        .listBilled(after, ORGS_PER_STEP)
        .compose(
            orgs ->
                watermarks
                    .list(orgs)
                    .compose(
                        watermarks ->
                            postEach(due(orgs, watermarks, through), watermarks, through, now))
                    .compose(posted -> continueHour(orgs, through, now)));
  }

  /** An organization that is behind must have its earlier hours posted first. */
  private static List<String> due(List<String> orgs, Map<String, Long> own, long through) {
    return orgs.stream().filter(org -> own.getOrDefault(org, through) == through).toList();
  }

  private Future<Boolean> continueHour(List<String> orgs, long through, long now) {
    if (orgs.size() < ORGS_PER_STEP) {
      return watermarks.advance(through, through + Usage.HOUR_MILLIS, now).map(true);
    }
    after = orgs.get(orgs.size() - 1);
    return Future.succeededFuture(true);
  }

  /**
   * Posts an hour of each organization, or sets it aside.
   *
   * @param own the watermarks of organizations that have their own
   */
  private Future<Void> postEach(List<String> orgs, Map<String, Long> own, long from, long now) {
    return lines(orgs, from)
        .transform(
            read -> {
              Map<String, Hour> lines = read.result();
              // An unreadable row of one organization must not block the others.
              return BoundedWork.each(
                  orgs.iterator(),
                  lines == null ? TimelineStore.ALONE_AT_ONCE : BoundedWork.AT_ONCE,
                  org ->
                      (lines == null ? lines(List.of(org), from) : Future.succeededFuture(lines))
                          .compose(of -> post(org, of, from, own.containsKey(org), now))
                          .recover(e -> setAside(org, from, e)));
            });
  }

  /** An organization's usage lines and credits of an hour. */
  private record Hour(List<Line> lines, List<Credit> credits) {
    static Hour empty() {
      return new Hour(new ArrayList<>(), new ArrayList<>());
    }
  }

  /** Returns each organization's usage lines and credits of an hour. */
  private Future<Map<String, Hour>> lines(List<String> orgs, long hourMillis) {
    long end = hourMillis + Usage.HOUR_MILLIS;
    Map<String, Hour> byOrg = new HashMap<>();
    return orgs.isEmpty()
        ? Future.succeededFuture(byOrg)
        : health
            .list(orgs, hourMillis, end)
            .compose(
                failed ->
                    timelines.read(
                        TimelineStore.Clusters.ofOrgs(orgs),
                        hourMillis,
                        end,
                        piece -> {
                          Hour hour = byOrg.computeIfAbsent(piece.orgId(), org -> Hour.empty());
                          hour.lines().addAll(piece.lines());
                          hour.credits()
                              .addAll(HealthCredits.of(piece.timeline(), failed, hourMillis));
                        }))
            .map(read -> byOrg);
  }

  /** If this fails too, the store is down, and all organizations wait for it. */
  private Future<Void> setAside(String orgId, long from, Throwable failure) {
    return watermarks.setAside(orgId, from).onSuccess(aside -> failed(orgId, from, failure));
  }

  private void failed(String orgId, long from, Throwable failure) {
    failures.increment();
    if (logged.size() < MAX_LOGGED && logged.add(orgId)) {
      LOG.warn(
          "cannot post the usage of {} from {} on; will retry: {}",
          orgId,
          Times.rfc3339(from),
          failure.toString());
    }
  }

  /**
   * @param hasWatermark whether the organization has a watermark of its own
   */
  private Future<Void> post(
      String orgId, Map<String, Hour> byOrg, long from, boolean hasWatermark, long now) {
    long end = from + Usage.HOUR_MILLIS;
    Hour hour = byOrg.getOrDefault(orgId, Hour.empty());
    List<Line> lines = hour.lines();
    Statement move = WatermarkStore.move(orgId, from, end);
    if (lines.isEmpty()) {
      // Most organizations have no usage in most hours, which is not worth a commit each.
      return hasWatermark ? database.commit(List.of(move)) : Future.succeededFuture();
    }
    long micros = lines.stream().mapToLong(Line::amountMicros).reduce(0, Math::addExact);
    List<Statement> statements =
        new ArrayList<>(LedgerStore.insert(Ledger.usage(orgId, from, micros, now)));
    lines.forEach(line -> statements.add(UsageStore.insert(orgId, line)));
    statements.add(AccountStore.recordPosted(orgId, from));
    statements.add(move);
    return credit(orgId, hour.credits(), now)
        .compose(credited -> database.commit(statements))
        .recover(
            e ->
                e instanceof ConcurrentUpdateException
                    ? database.commit(List.of(move))
                    : Future.failedFuture(e));
  }

  /**
   * Posts the credits of an hour before its usage, because an hour with posted usage is not checked
   * again. A posted credit is kept. Each is a commit of its own, because a thousand nodes may fail
   * together.
   */
  private Future<Void> credit(String orgId, List<Credit> credits, long now) {
    return BoundedWork.each(
        credits.iterator(),
        credit ->
            database
                .commit(LedgerStore.insert(Ledger.health(orgId, credit, now)))
                .recover(
                    e ->
                        e instanceof ConcurrentUpdateException
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }

  /**
   * Retries organizations that are behind; returns whether there are more of them or of their
   * hours.
   */
  private Future<Boolean> catchUp(long through, long now) {
    return watermarks
        .listBehind(triedAfter, through, ORGS_PER_STEP)
        .compose(
            behind -> {
              boolean isPage = behind.size() == ORGS_PER_STEP;
              triedAfter = isPage ? behind.get(behind.size() - 1).orgId() : "";
              Future<Boolean> tried = Future.succeededFuture(isPage);
              for (WatermarkStore.Own one : behind) {
                tried =
                    tried.compose(
                        isMore ->
                            catchUp(one, through, now, HOURS_PER_STEP)
                                .map(isOwnMore -> isMore || isOwnMore));
              }
              return tried;
            });
  }

  /**
   * Posts an organization's hours up to the common watermark; returns whether some are left for the
   * next step.
   */
  private Future<Boolean> catchUp(WatermarkStore.Own one, long through, long now, int hoursLeft) {
    String orgId = one.orgId();
    long watermark = one.throughMillis();
    if (watermark >= through) {
      if (logged.remove(orgId)) {
        LOG.info("the usage of {} is posted again", orgId);
      }
      return Future.succeededFuture(false);
    }
    if (hoursLeft == 0) {
      return Future.succeededFuture(true);
    }
    return lines(List.of(orgId), watermark)
        .compose(lines -> post(orgId, lines, watermark, true, now))
        .transform(
            posted -> {
              if (posted.failed()) {
                failed(orgId, watermark, posted.cause());
                return Future.succeededFuture(false);
              }
              WatermarkStore.Own next =
                  new WatermarkStore.Own(orgId, watermark + Usage.HOUR_MILLIS);
              return catchUp(next, through, now, hoursLeft - 1);
            });
  }
}
