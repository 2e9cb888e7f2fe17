package dev.bourse.billing;

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
 * Puts the usage of each hour that is over into the ledger, once, hour after hour. A step of {@link
 * dev.bourse.store.Upkeep}; one at a time.
 *
 * <p>A change point is committed some time after the moment it tells, so an hour is left to settle
 * before it is posted; after that nothing of it can change any more. Each organization's hour is a
 * commit of its own under a key of its own: whatever a crash, a restart or another process left
 * done is found done, and never done twice.
 *
 * <p>Each organization stands alone. One whose hour cannot be posted gets a watermark of its own
 * and stays there while the others go on; it is tried again in each round, in order, and its usage
 * counts as not posted yet meanwhile.
 *
 * <p>Only confirmed time ends an hour. What was posted by a time that turns out to lie ahead is
 * reversed first, see {@link Reversals}.
 */
public final class UsagePosting {
  private static final Logger LOG = LoggerFactory.getLogger(UsagePosting.class);

  /** Organizations of one step: some queries and as many small commits. */
  static final int ORGS_PER_STEP = 50;

  /** Hours of one organization that catches up in one step: as many small commits. */
  private static final int HOURS_PER_STEP = 24;

  /**
   * How far back hours are looked at again after a clock was ahead: longer than anybody lets one.
   */
  private static final long AGAIN_MILLIS = 7 * 24 * Usage.HOUR_MILLIS;

  /** Organizations whose failure is remembered to be logged once; more are only counted. */
  private static final int MAX_TOLD = 100;

  private final Database database;
  private final WatermarkStore watermarks;
  private final UsageStore usage;
  private final TimelineStore timelines;
  private final long settleMillis;
  private final ConfirmedTime time;
  private final Reversals reversals;
  private final LongAdder failures = new LongAdder();

  // Touched by one step at a time: how far the hour under way is done, how far the tries of those
  // behind are, and whose failure was logged.
  private long hour = -1;
  private String after = "";
  private String triedAfter = "";
  private final Set<String> told = new HashSet<>();

  /**
   * @param settleMillis how long after its end an hour is posted: longer than any commit takes
   */
  public UsagePosting(Database database, long settleMillis, ConfirmedTime time) {
    this.database = database;
    this.watermarks = new WatermarkStore(database);
    this.usage = new UsageStore(database);
    this.timelines = new TimelineStore(database);
    this.settleMillis = settleMillis;
    this.time = time;
    this.reversals = new Reversals(database);
  }

  /** Tries, since the start of this process, to post an organization's hour that failed. */
  public long failures() {
    return failures.sum();
  }

  /** Hours reversed, since the start of this process. */
  public long reversals() {
    return reversals.count();
  }

  /** Posts some organizations' next hour; whether there is more to post. */
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
              // Of an hour that is posted in part by now that part may be among what was reversed.
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
                                ? lookAgain(now)
                                : postIfSettled(watermark.throughMillis(), now))
                    .orElseGet(() -> begin(now)))
        .recover(
            e -> e instanceof Overtaken ? Future.succeededFuture(true) : Future.failedFuture(e));
  }

  private static boolean isAhead(WatermarkStore.Common watermark, long now) {
    return watermark.throughMillis() > now || watermark.advancedAtMillis() > now;
  }

  /**
   * A clock that was ahead has passed over hours that had not happened, and over those in which
   * nothing was used up to then it has left no transaction to reverse. What is posted already is
   * found posted.
   */
  private Future<Boolean> lookAgain(long now) {
    hour = -1;
    return database
        .commit(
            List.of(
                WatermarkStore.setBack(Usage.hourOf(now) - AGAIN_MILLIS),
                WatermarkStore.advancedAt(now)))
        .map(true);
  }

  /** Billing begins with the hour in which the first node became active. */
  private Future<Boolean> begin(long now) {
    return timelines
        .findFirstActive()
        .compose(
            first ->
                // A clock that was ahead may have written it; a watermark there would leave out all
                // before.
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
                    .compose(posted -> goOn(orgs, through, now)));
  }

  /** An organization that is behind must have its earlier hours posted first. */
  private static List<String> due(List<String> orgs, Map<String, Long> own, long through) {
    return orgs.stream().filter(org -> own.getOrDefault(org, through) == through).toList();
  }

  private Future<Boolean> goOn(List<String> orgs, long through, long now) {
    if (orgs.size() < ORGS_PER_STEP) {
      return watermarks.advance(through, through + Usage.HOUR_MILLIS, now).map(true);
    }
    after = orgs.get(orgs.size() - 1);
    return Future.succeededFuture(true);
  }

  /**
   * Posts an hour of each, or sets it aside.
   *
   * @param own the watermarks of those who have their own
   */
  private Future<Void> postEach(List<String> orgs, Map<String, Long> own, long from, long now) {
    return lines(orgs, from)
        .transform(
            read -> {
              Map<String, List<Line>> lines = read.result();
              // A row of one of them that cannot be read must not hide the others'.
              return BoundedWork.each(
                  orgs.iterator(),
                  lines == null ? TimelineStore.ALONE_AT_ONCE : BoundedWork.AT_ONCE,
                  org ->
                      (lines == null ? lines(List.of(org), from) : Future.succeededFuture(lines))
                          .compose(of -> post(org, of, from, own.containsKey(org), now))
                          .recover(e -> setAside(org, from, e)));
            });
  }

  /** What each of these organizations is billed for an hour. */
  private Future<Map<String, List<Line>>> lines(List<String> orgs, long hourMillis) {
    Map<String, List<Line>> byOrg = new HashMap<>();
    return orgs.isEmpty()
        ? Future.succeededFuture(byOrg)
        : timelines
            .read(
                TimelineStore.Clusters.ofOrgs(orgs),
                hourMillis,
                hourMillis + Usage.HOUR_MILLIS,
                piece ->
                    byOrg
                        .computeIfAbsent(piece.orgId(), org -> new ArrayList<>())
                        .addAll(piece.lines()))
            .map(read -> byOrg);
  }

  /** When this fails too, it is the store that is at fault, and everybody waits for it. */
  private Future<Void> setAside(String orgId, long from, Throwable failure) {
    return watermarks.setAside(orgId, from).onSuccess(aside -> failed(orgId, from, failure));
  }

  private void failed(String orgId, long from, Throwable failure) {
    failures.increment();
    if (told.size() < MAX_TOLD && told.add(orgId)) {
      LOG.warn(
          "the usage of {} could not be posted from {} on; trying again: {}",
          orgId,
          Times.rfc3339(from),
          failure.toString());
    }
  }

  /**
   * @param hasWatermark whether the organization has a watermark of its own
   */
  private Future<Void> post(
      String orgId, Map<String, List<Line>> byOrg, long from, boolean hasWatermark, long now) {
    long end = from + Usage.HOUR_MILLIS;
    List<Line> lines = byOrg.getOrDefault(orgId, List.of());
    Statement move = WatermarkStore.move(orgId, from, end);
    if (lines.isEmpty()) {
      // Most hours of most organizations: not worth a commit each.
      return hasWatermark ? database.commit(List.of(move)) : Future.succeededFuture();
    }
    long micros = lines.stream().mapToLong(Line::amountMicros).reduce(0, Math::addExact);
    List<Statement> statements =
        new ArrayList<>(LedgerStore.insert(Ledger.usage(orgId, from, micros, now)));
    lines.forEach(line -> statements.add(UsageStore.insert(orgId, line)));
    statements.add(AccountStore.posted(orgId, from));
    statements.add(move);
    return database
        .commit(statements)
        .recover(
            e -> e instanceof Overtaken ? database.commit(List.of(move)) : Future.failedFuture(e));
  }

  /** Tries those who are behind; whether there are more of them, or more of theirs. */
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

  /** Posts an organization's hours up to the common watermark; whether some are left for a step. */
  private Future<Boolean> catchUp(WatermarkStore.Own one, long through, long now, int hoursLeft) {
    String orgId = one.orgId();
    long watermark = one.throughMillis();
    if (watermark >= through) {
      if (told.remove(orgId)) {
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
