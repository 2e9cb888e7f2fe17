package dev.bourse.billing;

import dev.bourse.access.Principal;
import dev.bourse.billing.Usage.Line;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.schemas.billing.WorkingJson;
import dev.bourse.schemas.common.BalanceJson;
import dev.bourse.schemas.common.DetailedStatementJson;
import dev.bourse.schemas.common.LineJson;
import dev.bourse.schemas.common.UsagePageJson;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads of an organization's money. */
public final class BillingService {
  /** Default page size. */
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

  /** Returns the balance, limits and holds of the caller's organization. */
  public Future<BalanceJson> readBalance(Principal caller) {
    return balances.get(caller.org().orgId()).map(this::view);
  }

  /** Returns the balance of any organization; fails with {@code not-found} if it does not exist. */
  Future<BalanceJson> readBalance(String orgId) {
    return balances.get(orgId).map(this::view);
  }

  /** Returns a balance as members and operators see it. */
  BalanceJson view(Balance balance) {
    return balance.toJson(
        balances.committedMicros(balance.account().orgId(), balance.atMillis()),
        clusters.switches(),
        config.noticeMillis());
  }

  /** Returns the notice period of a hold. */
  long noticeMillis() {
    return config.noticeMillis();
  }

  /**
   * A usage line and whether it is final.
   *
   * @param posted true if the line is in the ledger; an unposted line may still grow
   */
  public record UsageLine(Line line, boolean posted) {

    /** Returns a page of lines as the contracts show it. */
    public static UsagePageJson page(Page<UsageLine> page) {
      return new UsagePageJson(
          page.items().stream().map(UsageLine::toJson).toList(), page.more(), next(page));
    }

    /** Returns the cursor of the next page; null at the end. */
    static @Nullable String next(Page<UsageLine> page) {
      return page.next(last -> UsageCursor.after(last.line()).text());
    }

    private LineJson toJson() {
      return new LineJson(
          line.cluster(),
          line.hourMillis(),
          line.gpuMillis(),
          line.centGpuMillis(),
          line.amountMicros(),
          posted);
    }
  }

  /**
   * A selection of an organization's lines.
   *
   * @param cluster only this cluster; empty for all, or for the one the caller's token is bound to
   * @param fromMillis hours that begin at or after this moment
   * @param toMillis hours that begin before this moment
   * @param after the cursor in the previous page
   * @param limit page size
   */
  public record UsageQuery(
      Optional<String> cluster, long fromMillis, long toMillis, Optional<String> after, int limit) {

    /**
     * Parses an RFC 3339 time to milliseconds; empty if there is none.
     *
     * @param field its name, used in the error
     * @throws ApiException {@code bad-request} for any other text and for times before 1970
     */
    static Optional<Long> time(String field, Optional<String> text) {
      return text.map(
          given -> {
            OptionalLong millis = Times.parse(given);
            if (millis.isEmpty() || millis.getAsLong() < 0) {
              throw ApiException.badField(
                  field, given, "an RFC 3339 time since 1970, such as 2026-11-01T00:00:00Z");
            }
            return millis.getAsLong();
          });
    }
  }

  /**
   * Returns the selection of a caller's parameters.
   *
   * @param from an RFC 3339 time; the default is the start of this month
   * @param to an RFC 3339 time; the default has no end
   * @throws ApiException {@code bad-request} for any other text
   */
  public UsageQuery usageQuery(
      Optional<String> cluster,
      Optional<String> from,
      Optional<String> to,
      Optional<String> after,
      int limit) {
    return new UsageQuery(
        cluster,
        UsageQuery.time("from", from).orElseGet(() -> Month.at(clock.millis()).startMillis()),
        UsageQuery.time("to", to).orElse(Long.MAX_VALUE),
        after,
        limit);
  }

  /**
   * Returns a page of lines by hour and cluster. Fails with {@code not-found} for a cluster of
   * another organization, and {@code forbidden} for one the caller's token is not bound to.
   */
  public Future<Page<UsageLine>> listUsage(Principal caller, UsageQuery query) {
    Optional<String> cluster = cluster(caller, query.cluster());
    return existing(caller.org().orgId()).compose(account -> listUsage(account, cluster, query));
  }

  /**
   * Returns the usage of any organization. Fails with {@code not-found} if the organization does
   * not exist or the cluster belongs to another one.
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
    // Lines up to here are final, so the two halves do not overlap.
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

  /** Returns unposted lines; stops reading at the page size. */
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

  /** Returns the end of the last hour that begins before a moment. */
  private static long endOfHour(long beforeMillis) {
    return beforeMillis > Long.MAX_VALUE - Usage.HOUR_MILLIS
        ? Long.MAX_VALUE
        : Usage.hourOf(beforeMillis - 1) + Usage.HOUR_MILLIS;
  }

  /** A line and the spans it sums up. */
  public record Working(Line line, List<Usage.Span> spans) {
    WorkingJson toJson() {
      return new WorkingJson(
          line.cluster(),
          line.hourMillis(),
          line.gpuMillis(),
          line.centGpuMillis(),
          line.amountMicros(),
          spans.stream().map(Usage.Span::toJson).toList());
    }
  }

  /**
   * Recomputes one line from the change points; there are no spans in an hour without billing.
   * Fails like {@link #listUsage(Principal, UsageQuery)}.
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
        throw ApiException.of(
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
      throw ApiException.notFound("cluster", cluster);
    }
  }

  /** Returns every month's statement, newest first. */
  public Future<List<MonthStatement>> listStatements(Principal caller) {
    return listStatements(caller.org().orgId());
  }

  /**
   * Returns the statements of any organization; fails with {@code not-found} if it does not exist.
   */
  Future<List<MonthStatement>> listStatements(String orgId) {
    return balances
        .get(orgId)
        .compose(
            balance ->
                ledger.listMonthlySums(orgId).map(moved -> MonthStatement.all(moved, balance)));
  }

  /** A month's statement by cluster. */
  public record Detailed(MonthStatement statement, List<MonthStatement.ClusterPart> clusters) {
    public DetailedStatementJson toJson() {
      return new DetailedStatementJson(
          statement.month().toString(),
          statement.isFinal(),
          statement.openingMicros(),
          statement.usageMicros(),
          statement.creditMicros(),
          statement.paymentMicros(),
          statement.adjustmentMicros(),
          statement.closingMicros(),
          clusters.stream().map(MonthStatement.ClusterPart::toJson).toList());
    }
  }

  /**
   * Returns one month's statement. Fails with {@code not-found} for a month in the future or before
   * the first transaction.
   */
  public Future<Detailed> readStatement(Principal caller, Month month) {
    return readStatement(caller.org().orgId(), month);
  }

  /**
   * Returns the statement of any organization; also fails with {@code not-found} if the
   * organization does not exist.
   */
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
                    .listMonthlySums(orgId)
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
        .orElseThrow(() -> ApiException.notFound("statement", month.toString()));
  }

  /**
   * Returns a page of the organization's ledger, newest first.
   *
   * @param before only transactions below this id
   */
  public Future<Page<LedgerStore.Posting>> listLedger(Principal caller, long before, int limit) {
    return page(caller.org().orgId(), before, limit);
  }

  /** Returns the ledger of any organization; fails with {@code not-found} if it does not exist. */
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
