package dev.bourse.billing;

import dev.bourse.access.Principal;
import dev.bourse.billing.Usage.Line;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** What organizations read of their money. */
public final class BillingService {
  /** Items of a page unless a reader says. */
  public static final int DEFAULT_LIMIT = 100;

  private final AccountStore accounts;
  private final Balances balances;
  private final UsageStore usage;
  private final TimelineStore timelines;
  private final LedgerStore ledger;
  private final Clusters clusters;
  private final BillingConfig config;
  private final Clock clock;

  /**
   * @param protectionMillis how long a node is protected after it became active
   */
  public BillingService(
      Database database,
      Clusters clusters,
      BillingConfig config,
      long protectionMillis,
      Clock clock) {
    this.accounts = new AccountStore(database);
    this.balances = new Balances(database, clusters, protectionMillis, clock);
    this.usage = new UsageStore(database);
    this.timelines = new TimelineStore(database);
    this.ledger = new LedgerStore(database);
    this.clusters = clusters;
    this.config = config;
    this.clock = clock;
  }

  /** What the caller's organization has, may spend and is held for. */
  public Future<BalanceView> readBalance(Principal caller) {
    return balances.get(caller.org().orgId()).map(this::view);
  }

  /** The same of any organization; {@code not-found} when there is none. */
  Future<BalanceView> readBalance(String orgId) {
    return balances.get(orgId).map(this::view);
  }

  BalanceView view(Balance balance) {
    return new BalanceView(
        balance,
        balances.committedMicros(balance.account().orgId(), balance.atMillis()),
        clusters.switches(),
        config.noticeMillis());
  }

  /** How long a hold gives notice. */
  long noticeMillis() {
    return config.noticeMillis();
  }

  /**
   * A line, and whether it is in the ledger; one that is not may still grow.
   *
   * @param posted whether nothing of it can change any more
   */
  public record UsageLine(Line line, boolean posted) {}

  /**
   * A part of the lines of an organization.
   *
   * @param cluster only this one's; empty for all, or the one the caller is bound to
   * @param fromMillis of hours that begin at or after this moment
   * @param toMillis of hours that begin before this moment
   * @param after the {@link #cursor} of the last line of the page before
   * @param limit lines of a page
   */
  public record UsageQuery(
      Optional<String> cluster,
      long fromMillis,
      long toMillis,
      Optional<String> after,
      int limit) {}

  /** The moment from which usage is shown unless the caller says: the month's beginning. */
  public long monthStartMillis() {
    return Month.at(clock.millis()).startMillis();
  }

  /** Where the page after this line begins. */
  public static String cursor(UsageLine line) {
    return UsageCursor.after(line.line()).text();
  }

  /**
   * A page of lines by hour and cluster. Refused with {@code not-found} for a cluster that is not
   * the organization's, {@code forbidden} for one the caller's token is not bound to.
   */
  public Future<Page<UsageLine>> listUsage(Principal caller, UsageQuery query) {
    Optional<String> cluster = cluster(caller, query.cluster());
    return existing(caller.org().orgId()).compose(account -> listUsage(account, cluster, query));
  }

  /**
   * The same of any organization. Refused with {@code not-found} when there is none, and for a
   * cluster that is not the organization's.
   */
  Future<Page<UsageLine>> listUsage(String orgId, UsageQuery query) {
    return existing(orgId)
        .compose(
            account -> {
              query.cluster().ifPresent(named -> requireOf(orgId, named));
              return listUsage(account, query.cluster(), query);
            });
  }

  private Future<Page<UsageLine>> listUsage(
      AccountStore.Account account, Optional<String> cluster, UsageQuery query) {
    UsageCursor after = UsageCursor.parse(query.after());
    // What is posted up to here is posted for good, so the two halves fit.
    long through = account.throughMillis();
    int wanted = query.limit() + 1;
    return usage
        .listPosted(
            account.orgId(),
            cluster,
            query.fromMillis(),
            Math.min(through, query.toMillis()),
            after,
            wanted)
        .compose(
            posted -> {
              List<UsageLine> lines = new ArrayList<>();
              posted.forEach(line -> lines.add(new UsageLine(line, true)));
              return listAccrued(
                      account.orgId(), cluster, query, after, through, wanted - lines.size())
                  .map(
                      accrued -> {
                        accrued.forEach(line -> lines.add(new UsageLine(line, false)));
                        return Page.of(lines, query.limit());
                      });
            });
  }

  /** Lines that are not posted; reads no further than there are so many of them. */
  private Future<List<Line>> listAccrued(
      String orgId,
      Optional<String> cluster,
      UsageQuery query,
      UsageCursor after,
      long through,
      int wanted) {
    TreeSet<Line> lines = new TreeSet<>(UsageCursor.ORDER);
    return timelines
        .read(
            cluster
                .map(named -> TimelineStore.Clusters.named(List.of(named)))
                .orElseGet(() -> TimelineStore.Clusters.ofOrgs(List.of(orgId))),
            Math.max(through, Usage.hourOf(Math.max(query.fromMillis(), after.hourMillis()))),
            Math.min(clock.millis(), endOfHour(query.toMillis())),
            new TimelineStore.Reader() {
              @Override
              public void read(TimelineStore.Piece piece) {
                piece.lines().stream()
                    .filter(line -> line.hourMillis() >= query.fromMillis())
                    .filter(line -> line.hourMillis() < query.toMillis())
                    .filter(after::isBefore)
                    .forEach(lines::add);
              }

              @Override
              public boolean wantsMore() {
                return lines.size() < wanted;
              }
            })
        .map(read -> lines.stream().limit(wanted).toList());
  }

  /** The end of the last hour that begins before a moment. */
  private static long endOfHour(long beforeMillis) {
    return beforeMillis > Long.MAX_VALUE - Usage.HOUR_MILLIS
        ? Long.MAX_VALUE
        : Usage.hourOf(beforeMillis - 1) + Usage.HOUR_MILLIS;
  }

  /** A line and the stretches of time it is the sum of. */
  public record Working(Line line, List<Usage.Span> spans) {}

  /**
   * How one line comes about, computed anew from the change points; empty spans for an hour in
   * which nothing was billed. Refused as {@link #listUsage}.
   */
  public Future<Working> readUsageWorking(Principal caller, String cluster, long atMillis) {
    cluster(caller, Optional.of(cluster));
    long hour = Usage.hourOf(atMillis);
    long end = Math.min(hour + Usage.HOUR_MILLIS, clock.millis());
    return timelines
        .findDeclared(cluster, hour, end)
        .map(
            timeline -> {
              List<Usage.Span> spans =
                  timeline.map(of -> Usage.spans(of, hour, end)).orElse(List.of());
              return new Working(
                  new Line(
                      cluster,
                      hour,
                      spans.stream().mapToLong(Usage.Span::gpuMillis).sum(),
                      spans.stream().mapToLong(Usage.Span::centGpuMillis).sum()),
                  spans);
            });
  }

  private Optional<String> cluster(Principal caller, Optional<String> named) {
    if (named.isPresent()) {
      requireOf(caller.org().orgId(), named.get());
      if (caller.cluster() != null && !caller.cluster().equals(named.get())) {
        throw ApiError.of(
            ErrorCode.FORBIDDEN,
            "the token is bound to cluster %s and cannot act on %s",
            caller.cluster(),
            named.get());
      }
    }
    return named.or(() -> Optional.ofNullable(caller.cluster()));
  }

  private void requireOf(String orgId, String cluster) {
    if (clusters.find(cluster).filter(view -> view.cluster().orgId().equals(orgId)).isEmpty()) {
      throw ApiError.notFound("cluster", cluster);
    }
  }

  /** Every month's statement, newest first. */
  public Future<List<MonthStatement>> listStatements(Principal caller) {
    return listStatements(caller.org().orgId());
  }

  /** The same of any organization; {@code not-found} when there is none. */
  Future<List<MonthStatement>> listStatements(String orgId) {
    return balances
        .get(orgId)
        .compose(
            balance -> ledger.listMoved(orgId).map(moved -> MonthStatement.all(moved, balance)));
  }

  /** A month's statement by cluster. */
  public record Detailed(MonthStatement statement, List<MonthStatement.ClusterPart> clusters) {}

  /**
   * One month's statement. Refused with {@code not-found} for a month before anything happened or
   * that is yet to come.
   */
  public Future<Detailed> readStatement(Principal caller, Month month) {
    return readStatement(caller.org().orgId(), month);
  }

  /** The same of any organization; {@code not-found} also when there is none. */
  Future<Detailed> readStatement(String orgId, Month month) {
    TreeMap<String, MonthStatement.ClusterPart> parts = new TreeMap<>();
    return balances
        .get(
            orgId,
            line -> {
              if (Month.at(line.hourMillis()).equals(month)) {
                add(parts, line.cluster(), line.gpuMillis(), line.amountMicros());
              }
            })
        .compose(
            balance ->
                ledger
                    .listMoved(orgId)
                    .map(moved -> find(MonthStatement.all(moved, balance), month))
                    .compose(
                        statement ->
                            usage
                                .listTotals(
                                    orgId,
                                    month.startMillis(),
                                    Math.min(month.endMillis(), balance.account().throughMillis()))
                                .map(
                                    posted -> {
                                      posted.forEach(
                                          t ->
                                              add(
                                                  parts,
                                                  t.cluster(),
                                                  t.gpuMillis(),
                                                  t.amountMicros()));
                                      return new Detailed(statement, List.copyOf(parts.values()));
                                    })));
  }

  private static void add(
      Map<String, MonthStatement.ClusterPart> parts,
      String cluster,
      long gpuMillis,
      long amountMicros) {
    parts.merge(
        cluster,
        new MonthStatement.ClusterPart(cluster, gpuMillis, amountMicros),
        (a, b) ->
            new MonthStatement.ClusterPart(
                cluster, a.gpuMillis() + b.gpuMillis(), a.amountMicros() + b.amountMicros()));
  }

  private static MonthStatement find(List<MonthStatement> all, Month month) {
    return all.stream()
        .filter(statement -> statement.month().equals(month))
        .findFirst()
        .orElseThrow(() -> ApiError.notFound("statement", month.toString()));
  }

  /**
   * A page of the organization's ledger, newest first.
   *
   * @param before only transactions below this id
   */
  public Future<Page<LedgerStore.Posting>> listLedger(Principal caller, long before, int limit) {
    return page(caller.org().orgId(), before, limit);
  }

  /** The same of any organization; {@code not-found} when there is none. */
  Future<Page<LedgerStore.Posting>> listLedger(String orgId, long before, int limit) {
    return existing(orgId).compose(exists -> page(orgId, before, limit));
  }

  private Future<AccountStore.Account> existing(String orgId) {
    return accounts.get(orgId, Month.at(clock.millis()));
  }

  private Future<Page<LedgerStore.Posting>> page(String orgId, long before, int limit) {
    return ledger.list(orgId, before, limit + 1).map(fetched -> Page.of(fetched, limit));
  }
}
