package dev.bourse.billing;

import dev.bourse.billing.Usage.Line;
import dev.bourse.store.Database;
import dev.bourse.store.GuardFailed;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Puts the usage of each hour that is over into the ledger, once, hour after hour. A step of {@link
 * dev.bourse.store.Upkeep}; one at a time.
 *
 * <p>A change point is committed some time after the moment it tells, so an hour is left to settle
 * before it is posted; after that nothing of it can change any more. Each organization's hour is a
 * commit of its own under a key of its own: whatever a crash, a restart or another process left
 * done is found done, and never done twice.
 */
public final class UsagePosting {
  /** Organizations of one step: some queries and as many small commits. */
  private static final int ORGS_PER_STEP = 50;

  private final Database database;
  private final AccountStore accounts;
  private final UsageStore usage;
  private final long settleMillis;
  private final Clock clock;

  // Touched by one step at a time: how far the hour under way is done.
  private long hour = -1;
  private String after = "";

  /**
   * @param settleMillis how long after its end an hour is posted: longer than any commit takes
   */
  public UsagePosting(Database database, long settleMillis, Clock clock) {
    this.database = database;
    this.accounts = new AccountStore(database);
    this.usage = new UsageStore(database);
    this.settleMillis = settleMillis;
    this.clock = clock;
  }

  /** Posts some organizations' next hour; whether there is more to post. */
  public Future<Boolean> step() {
    return accounts
        .findPosted()
        .compose(through -> through.map(this::postIfSettled).orElseGet(this::begin))
        .recover(
            e ->
                e instanceof GuardFailed failed && failed.guard().equals(AccountStore.POSTED_GUARD)
                    ? Future.succeededFuture(true)
                    : Future.failedFuture(e));
  }

  /** Billing begins with the hour in which the first node became active. */
  private Future<Boolean> begin() {
    return usage
        .findFirstActive()
        .compose(
            first ->
                first.isEmpty()
                    ? Future.succeededFuture(false)
                    : accounts.begin(Usage.hourOf(first.get())).map(true));
  }

  private Future<Boolean> postIfSettled(long through) {
    long end = through + Usage.HOUR_MILLIS;
    if (clock.millis() < end + settleMillis) {
      return Future.succeededFuture(false);
    }
    if (hour != through) {
      hour = through;
      after = "";
    }
    return usage
        .listBilled(after, ORGS_PER_STEP)
        .compose(
            orgs ->
                usage
                    .listFacts(orgs, through, end)
                    .compose(facts -> post(facts, through))
                    .compose(posted -> goOn(orgs, through)));
  }

  private Future<Boolean> goOn(List<String> orgs, long through) {
    if (orgs.size() < ORGS_PER_STEP) {
      return accounts.advance(through, through + Usage.HOUR_MILLIS).map(true);
    }
    after = orgs.get(orgs.size() - 1);
    return Future.succeededFuture(true);
  }

  private Future<Void> post(List<UsageStore.Billed> billed, long from) {
    Map<String, List<Line>> byOrg = new TreeMap<>();
    for (UsageStore.Billed cluster : billed) {
      List<Line> lines = Usage.lines(cluster.facts(), from, from + Usage.HOUR_MILLIS);
      if (!lines.isEmpty()) {
        byOrg.computeIfAbsent(cluster.orgId(), org -> new ArrayList<>()).addAll(lines);
      }
    }
    List<Future<Void>> commits = new ArrayList<>();
    byOrg.forEach((org, lines) -> commits.add(post(org, lines, from)));
    return Future.join(commits).mapEmpty();
  }

  private Future<Void> post(String orgId, List<Line> lines, long from) {
    long micros = lines.stream().mapToLong(Line::amountMicros).sum();
    List<Statement> statements =
        new ArrayList<>(LedgerStore.insert(Ledger.usage(orgId, from, micros, clock.millis())));
    lines.forEach(line -> statements.add(UsageStore.insert(orgId, line)));
    statements.add(AccountStore.postedThrough(orgId, from + Usage.HOUR_MILLIS));
    return database
        .commit(statements)
        .recover(
            e ->
                e instanceof GuardFailed failed && failed.guard().equals(LedgerStore.KEY_GUARD)
                    ? Future.succeededFuture()
                    : Future.failedFuture(e));
  }
}
