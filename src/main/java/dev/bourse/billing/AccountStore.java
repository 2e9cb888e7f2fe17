package dev.bourse.billing;

import dev.bourse.capacity.Holds;
import dev.bourse.core.ApiError;
import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rows of what organizations have, may spend and are held for. */
final class AccountStore {
  /** The guard of the watermark: another process has moved it meanwhile. */
  static final String POSTED_GUARD = "posted usage";

  private static final String EVERYBODY = "usage";

  /** What no limit is compared as; limits are never negative. */
  private static final Long NO_LIMIT = -1L;

  private static final String ACCOUNT =
      "SELECT o.org_id, o.retired_at, COALESCE(a.micros, 0),"
          + " COALESCE(b.posted_through, 0), COALESCE(q.through, p.through, 0), b.limit_micros,"
          + " b.hold_stage, b.hold_reason, b.hold_since, b.hold_enforced,"
          + " (SELECT CAST(COALESCE(SUM(u.amount_micros), 0) AS BIGINT) FROM usage_line u"
          + " WHERE u.org_id = o.org_id AND u.hour >= ?),"
          + " (SELECT COUNT(*) FROM (SELECT 1 FROM usage_line u"
          + " WHERE u.org_id = o.org_id LIMIT 1) AS any_line)"
          + " FROM org o LEFT JOIN ledger_account a ON a.account = 'org:' || o.org_id"
          + " LEFT JOIN billing_org b ON b.org_id = o.org_id"
          + " LEFT JOIN billing_posted p ON p.name = '"
          + EVERYBODY
          + "' LEFT JOIN billing_posted q ON q.name = 'org:' || o.org_id WHERE ";

  private final Database database;

  AccountStore(Database database) {
    this.database = database;
  }

  /**
   * What is stored of an organization's money, as of one moment.
   *
   * @param postedMicros its balance after all usage up to {@code throughMillis}
   * @param throughMillis usage before it is posted, none after
   * @param postedMonthMicros usage posted for this month's hours
   * @param limitMicros the monthly spend limit; null for none
   * @param hold the hold it is under
   * @param everUsed whether usage was ever posted for it
   */
  record Account(
      String orgId,
      boolean retired,
      long postedMicros,
      long throughMillis,
      long postedMonthMicros,
      @Nullable Long limitMicros,
      HoldState hold,
      boolean everUsed) {}

  /** Of one organization. Fails with {@code not-found} when there is none. */
  Future<Account> get(String orgId, Month month) {
    return database
        .read(ACCOUNT + "o.org_id = ?", List.of(month.startMillis(), orgId), AccountStore::account)
        .map(
            found ->
                found.stream()
                    .findFirst()
                    .orElseThrow(() -> ApiError.notFound("organization", orgId)));
  }

  /** Of these organizations, as far as they exist. */
  Future<List<Account>> list(List<String> orgs, Month month) {
    List<Object> parameters = new ArrayList<>();
    parameters.add(month.startMillis());
    parameters.addAll(orgs);
    return orgs.isEmpty()
        ? Future.succeededFuture(List.of())
        : database.read(
            ACCOUNT
                + "o.org_id IN ("
                + String.join(", ", Collections.nCopies(orgs.size(), "?"))
                + ")",
            parameters,
            AccountStore::account);
  }

  /** Of a page of all organizations that have clusters. */
  Future<List<Account>> listAfter(String after, Month month, int limit) {
    return database.read(
        ACCOUNT
            + "o.org_id > ? AND EXISTS (SELECT 1 FROM cluster c WHERE c.org_id = o.org_id)"
            + " ORDER BY o.org_id LIMIT ?",
        List.of(month.startMillis(), after, limit),
        AccountStore::account);
  }

  /** Organizations with a spend limit. */
  Future<List<String>> listLimited() {
    return database.read(
        "SELECT org_id FROM billing_org WHERE limit_micros IS NOT NULL",
        List.of(),
        row -> row.text(0));
  }

  private static Account account(Row row) {
    return new Account(
        row.text(0),
        row.integerOrNull(1) != null,
        row.integer(2),
        Math.max(row.integer(3), row.integer(4)),
        row.integer(10),
        row.integerOrNull(5),
        holdState(row, 6),
        row.integer(11) > 0);
  }

  /** Notes up to when an organization's usage is posted. */
  static Statement postedThrough(String orgId, long throughMillis) {
    return Statement.of(
        "INSERT INTO billing_org (org_id, posted_through) VALUES (?, ?)"
            + " ON CONFLICT (org_id) DO UPDATE SET posted_through = excluded.posted_through",
        orgId,
        throughMillis);
  }

  /** Sets an organization's monthly limit; null for none. */
  static Statement limit(String orgId, @Nullable Long micros) {
    return Statement.of(
        "INSERT INTO billing_org (org_id, limit_micros) VALUES (?, ?)"
            + " ON CONFLICT (org_id) DO UPDATE SET limit_micros = excluded.limit_micros",
        orgId,
        micros);
  }

  /**
   * Moves an organization's hold, unless somebody else has moved it first, money has moved or the
   * limit has changed since: then the commit fails with {@link Holds.Moved}. A payment must not be
   * answered by the reclaim that it was to avert.
   *
   * @param seen what the move was decided upon
   */
  static List<Statement> hold(Account seen, HoldState after) {
    String orgId = seen.orgId();
    HoldState before = seen.hold();
    return List.of(
        known(orgId),
        Statement.guarded(
            Holds.Moved::new,
            "UPDATE billing_org SET hold_stage = ?, hold_reason = ?, hold_since = ?,"
                + " hold_enforced = ? WHERE org_id = ? AND hold_stage = ? AND hold_since = ?"
                + " AND hold_enforced = ? AND COALESCE(limit_micros, -1) = ? AND COALESCE("
                + "(SELECT a.micros FROM ledger_account a WHERE a.account = ?), 0) = ?",
            after.stage().name(),
            after.reason() == null ? null : after.reason().label(),
            after.sinceMillis(),
            after.enforced(),
            orgId,
            before.stage().name(),
            before.sinceMillis(),
            before.enforced(),
            seen.limitMicros() == null ? NO_LIMIT : seen.limitMicros(),
            Ledger.account(orgId),
            seen.postedMicros()));
  }

  /** A row to be guarded by, of an organization of which nothing is noted yet. */
  static Statement known(String orgId) {
    return Statement.of(
        "INSERT INTO billing_org (org_id) VALUES (?) ON CONFLICT (org_id) DO NOTHING", orgId);
  }

  /** What organizations are held for, as far as it is acted upon. */
  Future<Map<String, HoldState>> listEnforced() {
    return database
        .read(
            "SELECT org_id, hold_stage, hold_reason, hold_since, hold_enforced FROM billing_org"
                + " WHERE hold_stage <> ? AND hold_enforced <> 0",
            List.of(HoldState.Stage.NONE.name()),
            row -> Map.entry(row.text(0), holdState(row, 1)))
        .map(
            rows -> {
              Map<String, HoldState> holds = new HashMap<>();
              rows.forEach(row -> holds.put(row.getKey(), row.getValue()));
              return holds;
            });
  }

  /** Of four columns from this one on. */
  private static HoldState holdState(Row row, int first) {
    String stage = row.textOrNull(first);
    String reason = row.textOrNull(first + 1);
    return stage == null
        ? HoldState.NONE
        : new HoldState(
            HoldState.Stage.valueOf(stage),
            reason == null ? null : HoldState.Reason.of(reason),
            row.integer(first + 2),
            row.truth(first + 3));
  }

  /** Fails a commit with {@link Holds.Moved} unless this is an organization's hold. */
  static Statement fence(String orgId, HoldState hold) {
    return Statement.guarded(
        Holds.Moved::new,
        "UPDATE billing_org SET hold_stage = hold_stage WHERE org_id = ? AND hold_stage = ?"
            + " AND hold_since = ? AND hold_enforced = ?",
        orgId,
        hold.stage().name(),
        hold.sinceMillis(),
        hold.enforced());
  }

  /**
   * The common watermark.
   *
   * @param throughMillis up to when everybody's usage is posted
   * @param advancedAtMillis when it was moved there, as far as that is known; else 0
   */
  record Watermark(long throughMillis, long advancedAtMillis) {}

  /** The common watermark; empty before the first posting. */
  Future<Optional<Watermark>> findWatermark() {
    return database
        .read(
            "SELECT through, COALESCE(advanced_at, 0) FROM billing_posted WHERE name = ?",
            List.of(EVERYBODY),
            row -> new Watermark(row.integer(0), row.integer(1)))
        .map(rows -> rows.stream().findFirst());
  }

  /**
   * The watermark of an organization whose usage could not be posted up to the common watermark; it
   * stands until its own has come as far as everybody's again.
   *
   * @param throughMillis up to when its usage is posted
   */
  record Behind(String orgId, long throughMillis) {}

  private static final String BEHIND = "SELECT SUBSTR(name, 5), through FROM billing_posted WHERE ";

  /** The watermarks of those of these organizations that have their own. */
  Future<Map<String, Long>> listWatermarks(List<String> orgs) {
    return orgs.isEmpty()
        ? Future.succeededFuture(Map.of())
        : database
            .read(
                BEHIND
                    + "name IN ("
                    + String.join(", ", Collections.nCopies(orgs.size(), "?"))
                    + ")",
                orgs.stream().map(AccountStore::watermarkName).toList(),
                AccountStore::behind)
            .map(
                rows -> {
                  Map<String, Long> watermarks = new HashMap<>();
                  rows.forEach(row -> watermarks.put(row.orgId(), row.throughMillis()));
                  return watermarks;
                });
  }

  /** Organizations after this one, by id, whose own watermark is before everybody's. */
  Future<List<Behind>> listBehind(String after, long throughMillis, int limit) {
    return database.read(
        BEHIND + "name > ? AND name <> ? AND through < ? ORDER BY name LIMIT ?",
        List.of(watermarkName(after), EVERYBODY, throughMillis, limit),
        AccountStore::behind);
  }

  private static Behind behind(Row row) {
    return new Behind(row.text(0), row.integer(1));
  }

  private static String watermarkName(String orgId) {
    return "org:" + orgId;
  }

  /**
   * Gives an organization whose next hour cannot be posted a watermark of its own, so that
   * everybody's can go on. Fails with {@link #POSTED_GUARD} when everybody's has gone on meanwhile.
   *
   * @param throughMillis the common watermark, which is the organization's
   */
  Future<Void> setAside(String orgId, long throughMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                POSTED_GUARD,
                "UPDATE billing_posted SET through = through WHERE name = ? AND through = ?",
                EVERYBODY,
                throughMillis),
            Statement.of(
                "INSERT INTO billing_posted (name, through) VALUES (?, ?)"
                    + " ON CONFLICT (name) DO NOTHING",
                watermarkName(orgId),
                throughMillis)));
  }

  /** Moves an organization's own watermark, if it has one that stands there. */
  static Statement moveWatermark(String orgId, long fromMillis, long toMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE name = ? AND through = ?",
        toMillis,
        watermarkName(orgId),
        fromMillis);
  }

  /** Sets the watermark for the first time; fails with {@link #POSTED_GUARD} when it is set. */
  Future<Void> begin(long fromMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                POSTED_GUARD,
                "INSERT INTO billing_posted (name, through) VALUES (?, ?)"
                    + " ON CONFLICT (name) DO NOTHING",
                EVERYBODY,
                fromMillis)));
  }

  /** Moves every watermark that is beyond a moment back to it. */
  static Statement setBack(long throughMillis) {
    return Statement.of(
        "UPDATE billing_posted SET through = ? WHERE through > ?", throughMillis, throughMillis);
  }

  /** Notes that the common watermark was moved by a clock that was right. */
  static Statement advancedAt(long nowMillis) {
    return Statement.of(
        "UPDATE billing_posted SET advanced_at = ? WHERE name = ?", nowMillis, EVERYBODY);
  }

  /** Notes that an organization's usage is not posted from here on any more. */
  static Statement postedBack(String orgId, long throughMillis) {
    return Statement.of(
        "UPDATE billing_org SET posted_through = ? WHERE org_id = ? AND posted_through > ?",
        throughMillis,
        orgId,
        throughMillis);
  }

  /**
   * Moves the common watermark, and takes away the watermarks of those who have come as far: in
   * this commit alone, so that no process which is about to move it can have left one of them out.
   * Fails with {@link #POSTED_GUARD} when somebody else has moved it first.
   */
  Future<Void> advance(long fromMillis, long toMillis, long nowMillis) {
    return database.commit(
        List.of(
            Statement.guarded(
                POSTED_GUARD,
                "UPDATE billing_posted SET through = ?, advanced_at = ?"
                    + " WHERE name = ? AND through = ?",
                toMillis,
                nowMillis,
                EVERYBODY,
                fromMillis),
            Statement.of(
                "DELETE FROM billing_posted WHERE name <> ? AND through >= ?",
                EVERYBODY,
                toMillis)));
  }
}
