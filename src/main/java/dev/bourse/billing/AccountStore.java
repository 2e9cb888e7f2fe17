package dev.bourse.billing;

import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Holds;
import dev.bourse.core.ApiException;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows of organizations' balances, spend limits and holds. */
final class AccountStore {
  /** Stands for no limit in comparisons; limits are never negative. */
  private static final Long NO_LIMIT = -1L;

  /**
   * The limit that members set. The previous release reads and writes only {@code limit_micros},
   * the limit in force. If {@code limit_micros} is not the lower of the two limits, the previous
   * release has written it, and it counts as the members' limit.
   */
  private static final String MEMBER_LIMIT =
      """
      CASE WHEN COALESCE(limit_micros, -1) = COALESCE(CASE WHEN operator_limit_micros IS NULL
      OR member_limit_micros < operator_limit_micros THEN member_limit_micros
      ELSE operator_limit_micros END, -1) THEN member_limit_micros ELSE limit_micros END\
      """;

  private static final String HELD =
      """
      SELECT org_id, hold_stage, hold_reason, hold_since, hold_enforced, operator_hold_stage,
      operator_hold_since, operator_hold_reason, operator_hold_by FROM billing_org WHERE \
      """;

  private static final String ACCOUNT =
      """
      SELECT o.org_id, o.retired_at, COALESCE(a.micros, 0) AS posted_micros,
      COALESCE(b.posted_through, 0) AS posted_through,
      COALESCE(q.through, p.through, 0) AS watermark, %2$s AS own_limit_micros,
      b.operator_limit_micros,
      b.hold_stage, b.hold_reason, b.hold_since, b.hold_enforced, b.operator_hold_stage,
      b.operator_hold_since, b.operator_hold_reason, b.operator_hold_by,
      CASE WHEN b.month_start = ? THEN b.month_micros ELSE 0 END +
      (SELECT CAST(COALESCE(SUM(u.amount_micros), 0) AS BIGINT) FROM usage_line u
      WHERE u.org_id = o.org_id AND u.hour >=
      CASE WHEN b.month_start = ? THEN b.month_through ELSE ? END) AS month_micros,
      (SELECT COUNT(*) FROM (SELECT 1 FROM usage_line u
      WHERE u.org_id = o.org_id LIMIT 1) AS any_line) AS ever_used
      FROM org o LEFT JOIN ledger_account a ON a.account = 'org:' || o.org_id
      LEFT JOIN billing_org b ON b.org_id = o.org_id
      LEFT JOIN billing_posted p ON p.name = '%1$s'
      LEFT JOIN billing_posted q ON q.name = 'org:' || o.org_id WHERE \
      """
          .formatted(WatermarkStore.COMMON, MEMBER_LIMIT);

  private final Database database;

  AccountStore(Database database) {
    this.database = database;
  }

  /**
   * An organization's stored account at one moment.
   *
   * @param postedMicros balance after all usage up to {@code throughMillis}
   * @param throughMillis up to which usage is posted
   * @param postedMonthMicros usage posted for this month's hours
   * @param limits its monthly spend limits
   * @param hold its automatic hold
   * @param operatorHold its hold by an operator
   * @param everUsed whether usage was ever posted for it
   */
  record Account(
      String orgId,
      boolean retired,
      long postedMicros,
      long throughMillis,
      long postedMonthMicros,
      SpendLimits limits,
      HoldState hold,
      OperatorHold operatorHold,
      boolean everUsed) {

    /** Returns both holds. */
    Held held() {
      return new Held(hold, operatorHold);
    }

    /** Returns the account under other holds. */
    Account under(Held other) {
      return new Account(
          orgId,
          retired,
          postedMicros,
          throughMillis,
          postedMonthMicros,
          limits,
          other.money(),
          other.byOperator(),
          everUsed);
    }
  }

  /**
   * The holds on an organization.
   *
   * @param money for its balance or its limit
   * @param byOperator set by an operator
   */
  record Held(HoldState money, OperatorHold byOperator) {
    /** No hold, now or earlier. */
    static final Held NONE = new Held(HoldState.NONE, OperatorHold.NONE);

    /** Returns the hold that the organization's clusters are put under; null for none. */
    @Nullable Hold clusterHold(long noticeMillis) {
      return byOperator.with(money.clusterHold(noticeMillis));
    }
  }

  /** Returns an organization's account. Fails with {@code not-found} if it does not exist. */
  Future<Account> get(String orgId, Month month) {
    return list(List.of(orgId), month)
        .map(
            found ->
                found.stream()
                    .findFirst()
                    .orElseThrow(() -> ApiException.notFound("organization", orgId)));
  }

  /** Returns the accounts of the existing ones of some organizations. */
  Future<List<Account>> list(List<String> orgs, Month month) {
    List<Object> parameters = inMonth(month);
    parameters.addAll(orgs);
    return orgs.isEmpty()
        ? Future.succeededFuture(List.of())
        : database.read(
            "%so.org_id IN (%s)"
                .formatted(ACCOUNT, String.join(", ", Collections.nCopies(orgs.size(), "?"))),
            parameters,
            AccountStore::account);
  }

  /** Returns the parameters of {@link #ACCOUNT}; the caller may add others. */
  private static List<Object> inMonth(Month month) {
    Long start = month.startMillis();
    return new ArrayList<>(List.of(start, start, start));
  }

  /** Returns the accounts of a page of the organizations with clusters. */
  Future<List<Account>> listAfter(String after, Month month, int limit) {
    List<Object> parameters = inMonth(month);
    parameters.addAll(List.of(after, limit));
    return database.read(
        ACCOUNT
            + """
            o.org_id > ? AND EXISTS (SELECT 1 FROM cluster c WHERE c.org_id = o.org_id)
            ORDER BY o.org_id LIMIT ?\
            """,
        parameters,
        AccountStore::account);
  }

  /** An organization on hold. */
  record HeldOrg(String orgId, Held held) {}

  /** Lists a page of the organizations that operators hold, by id. */
  Future<List<HeldOrg>> listHeldByOperators(String after, int limit) {
    return listHeld("operator_hold_stage IS NOT NULL", after, limit);
  }

  /** Lists a page of the organizations with an automatic hold, enforced or not, by id. */
  Future<List<HeldOrg>> listHeldForMoney(String after, int limit) {
    return listHeld("hold_stage <> 'NONE'", after, limit);
  }

  private Future<List<HeldOrg>> listHeld(String which, String after, int limit) {
    return database.read(
        """
        SELECT org_id, hold_stage, hold_reason, hold_since, hold_enforced, operator_hold_stage,
        operator_hold_since, operator_hold_reason, operator_hold_by FROM billing_org
        WHERE %s AND org_id > ? ORDER BY org_id LIMIT ?\
        """
            .formatted(which),
        List.of(after, limit),
        row -> new HeldOrg(row.text("org_id"), new Held(holdState(row), operatorHold(row))));
  }

  /**
   * Lists organizations with a spend limit. The operator's limit remains if the previous release
   * clears the limit in force.
   */
  Future<List<String>> listLimited() {
    return database.read(
        """
        SELECT org_id FROM billing_org WHERE limit_micros IS NOT NULL
        UNION SELECT org_id FROM billing_org WHERE operator_limit_micros IS NOT NULL\
        """,
        List.of(),
        row -> row.text("org_id"));
  }

  private static Account account(Row row) {
    return new Account(
        row.text("org_id"),
        row.integerOrNull("retired_at") != null,
        row.integer("posted_micros"),
        Math.max(row.integer("posted_through"), row.integer("watermark")),
        row.integer("month_micros"),
        new SpendLimits(
            row.integerOrNull("own_limit_micros"), row.integerOrNull("operator_limit_micros")),
        holdState(row),
        operatorHold(row),
        row.truth("ever_used"));
  }

  /**
   * Records that an hour of an organization's usage is posted, after its lines, and brings the
   * month's total up to its end: from the end of the total or, if the total is of another month or
   * further ahead, from the month's start.
   */
  static Statement recordPosted(String orgId, long hourMillis) {
    long month = Month.at(hourMillis).startMillis();
    return Statement.of(
        """
        INSERT INTO billing_org (org_id, posted_through) VALUES (?, ?)
        ON CONFLICT (org_id) DO UPDATE SET posted_through = excluded.posted_through,
        month_micros = CASE WHEN %1$s THEN billing_org.month_micros ELSE 0 END +
        (SELECT CAST(COALESCE(SUM(u.amount_micros), 0) AS BIGINT) FROM usage_line u
        WHERE u.org_id = billing_org.org_id AND u.hour < excluded.posted_through AND u.hour >=
        CASE WHEN %1$s THEN billing_org.month_through ELSE ? END),
        month_start = ?, month_through = excluded.posted_through\
        """
            .formatted("billing_org.month_start = ? AND billing_org.month_through <= ?"),
        orgId,
        hourMillis + Usage.HOUR_MILLIS,
        month,
        hourMillis,
        month,
        hourMillis,
        month,
        month);
  }

  /**
   * Replaces an organization's limits; the commit fails with {@link ConcurrentUpdateException} if
   * the limits are no longer those read before. The limit in force is stored too, because the
   * previous release uses it.
   */
  static List<Statement> limits(String orgId, SpendLimits seen, SpendLimits after) {
    return List.of(
        known(orgId),
        Statement.guarded(
            ConcurrentUpdateException::new,
            """
            UPDATE billing_org SET limit_micros = ?, member_limit_micros = ?,
            operator_limit_micros = ? WHERE org_id = ? AND COALESCE(%s, -1) = ?
            AND COALESCE(operator_limit_micros, -1) = ?\
            """
                .formatted(MEMBER_LIMIT),
            after.inForceMicros(),
            after.memberMicros(),
            after.operatorMicros(),
            orgId,
            orNone(seen.memberMicros()),
            orNone(seen.operatorMicros())));
  }

  private static Long orNone(@Nullable Long limitMicros) {
    return limitMicros == null ? NO_LIMIT : limitMicros;
  }

  /** Records that an organization's usage is posted only up to a moment again. */
  static Statement resetPosted(String orgId, long throughMillis) {
    return Statement.of(
        """
        UPDATE billing_org SET month_start = NULL, posted_through =
        CASE WHEN posted_through > ? THEN ? ELSE posted_through END WHERE org_id = ?\
        """,
        throughMillis,
        throughMillis,
        orgId);
  }

  /**
   * Changes an organization's hold. The commit fails with {@link Holds.HoldMovedException} if the
   * hold, the balance or the limit has changed since they were read, so that a payment cannot be
   * followed by the reclaim that it was to avert.
   *
   * @param seen the account on which the decision is based
   */
  static List<Statement> hold(Account seen, HoldState after) {
    String orgId = seen.orgId();
    HoldState before = seen.hold();
    return List.of(
        known(orgId),
        Statement.guarded(
            Holds.HoldMovedException::new,
            """
            UPDATE billing_org SET hold_stage = ?, hold_reason = ?, hold_since = ?,
            hold_enforced = ? WHERE org_id = ? AND hold_stage = ? AND hold_since = ?
            AND hold_enforced = ? AND COALESCE(%s, -1) = ?
            AND COALESCE(operator_limit_micros, -1) = ? AND COALESCE(
            (SELECT a.micros FROM ledger_account a WHERE a.account = ?), 0) = ?\
            """
                .formatted(MEMBER_LIMIT),
            after.stage().name(),
            after.reason() == null ? null : after.reason().label(),
            after.sinceMillis(),
            after.enforced(),
            orgId,
            before.stage().name(),
            before.sinceMillis(),
            before.enforced(),
            orNone(seen.limits().memberMicros()),
            orNone(seen.limits().operatorMicros()),
            Ledger.account(orgId),
            seen.postedMicros()));
  }

  /** Creates an organization's row if it has none, so that guards have a row to match. */
  static Statement known(String orgId) {
    return Statement.of(
        "INSERT INTO billing_org (org_id) VALUES (?) ON CONFLICT (org_id) DO NOTHING", orgId);
  }

  /**
   * Replaces an operator's hold. The commit fails with {@link Holds.HoldMovedException} if it has
   * changed since it was read.
   */
  static List<Statement> operatorHold(String orgId, OperatorHold seen, OperatorHold after) {
    return List.of(
        known(orgId),
        Statement.guarded(
            Holds.HoldMovedException::new,
            """
            UPDATE billing_org SET operator_hold_stage = ?, operator_hold_since = ?,
            operator_hold_reason = ?, operator_hold_by = ? WHERE org_id = ?
            AND COALESCE(operator_hold_stage, '') = ? AND operator_hold_since = ?\
            """,
            after.stage() == null ? null : after.stage().name(),
            after.sinceMillis(),
            after.reason(),
            after.by(),
            orgId,
            seen.stage() == null ? "" : seen.stage().name(),
            seen.sinceMillis()));
  }

  /**
   * Fails a commit with {@link Holds.HoldMovedException} unless these are an organization's holds.
   */
  static Statement fence(String orgId, Held held) {
    HoldState hold = held.money();
    OperatorHold byOperator = held.byOperator();
    return Statement.guarded(
        Holds.HoldMovedException::new,
        """
        UPDATE billing_org SET hold_stage = hold_stage WHERE org_id = ? AND hold_stage = ?
        AND hold_since = ? AND hold_enforced = ? AND COALESCE(operator_hold_stage, '') = ?
        AND operator_hold_since = ?\
        """,
        orgId,
        hold.stage().name(),
        hold.sinceMillis(),
        hold.enforced(),
        byOperator.stage() == null ? "" : byOperator.stage().name(),
        byOperator.sinceMillis());
  }

  /** Returns the enforced holds, by organization. */
  Future<Map<String, Held>> listEnforced() {
    Map<String, Held> holds = new HashMap<>();
    return listHeld("hold_stage <> 'NONE' AND hold_enforced <> 0", holds)
        .compose(read -> listHeld("operator_hold_stage IS NOT NULL", holds))
        .map(holds);
  }

  private Future<?> listHeld(String which, Map<String, Held> holds) {
    return database.read(
        HELD + which,
        List.of(),
        row -> holds.put(row.text("org_id"), new Held(holdState(row), operatorHold(row))));
  }

  private static OperatorHold operatorHold(Row row) {
    Long since = row.integerOrNull("operator_hold_since");
    String stage = row.textOrNull("operator_hold_stage");
    return since == null || since == 0
        ? OperatorHold.NONE
        : new OperatorHold(
            stage == null ? null : Hold.Stage.valueOf(stage),
            since,
            row.textOrNull("operator_hold_reason"),
            row.textOrNull("operator_hold_by"));
  }

  private static HoldState holdState(Row row) {
    String reason = row.textOrNull("hold_reason");
    return row.textOrNull("hold_stage") == null
        ? HoldState.NONE
        : new HoldState(
            row.value(HoldState.Stage.class, "hold_stage"),
            reason == null ? null : HoldState.Reason.of(reason),
            row.integer("hold_since"),
            row.truth("hold_enforced"));
  }
}
