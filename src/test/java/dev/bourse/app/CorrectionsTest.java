package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.RowMapper;
import dev.bourse.store.Statement;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Rows written by a clock three days ahead are corrected when the next process starts: a time
 * becomes the present, and times computed from it keep their distance.
 */
@EachEngine
@SuppressWarnings("NullAway.Init") // JUnit starts the service before the tests.
class CorrectionsTest {
  private static final long HOUR = 3_600_000;
  private static final long AHEAD = 72 * HOUR;

  /** The longest time of two starts. */
  private static final long SLACK_MILLIS = 300_000;

  /**
   * A row of a clock that was ahead.
   *
   * @param stored the statement that stores it; {@code :now} is the time by the right clock and
   *     {@code :ahead} by the other
   * @param where the condition that finds it
   * @param expected how long after the present each corrected column lies
   */
  private record Case(String table, String stored, String where, Map<String, Long> expected) {
    @Override
    public String toString() {
      return table + " " + expected.keySet();
    }
  }

  private static Case inserted(
      String table, String columns, String values, String where, Map<String, Long> expected) {
    return new Case(
        table,
        "INSERT INTO %s (%s) VALUES (%s)".formatted(table, columns, values),
        where,
        expected);
  }

  static final List<Case> CASES =
      List.of(
          inserted(
              "price_point",
              "pool, ts, clearing_cents, admission_cents, cents_millis, priced_millis",
              "'demo-h100', :ahead, 777, 777, 0, 0",
              "clearing_cents = 777",
              Map.of()),
          inserted(
              "org_price_point",
              "pool, org_id, ts, cents",
              "'demo-h100', 'acme', :ahead, 777",
              "cents = 777",
              Map.of()),
          inserted(
              "ceiling_point",
              "cluster, ts, ceiling_cents, priced_at",
              "'acme-train', :ahead, 777, :ahead",
              "ceiling_cents = 777",
              Map.of()),
          inserted(
              "activity",
              "id, ts, effective_at, cluster, kind, actor, who",
              """
              900000001, :ahead, :ahead + 5000, 'acme-legacy', 'test', 'system:market', 'system'\
              """,
              "kind = 'test'",
              Map.of("ts", 0L, "effective_at", 5_000L)),
          inserted(
              "allocation",
              """
              allocation_id, cluster, node_id, slot, state, granted_at, active_at,
              grant_ceiling_cents, pinned, nomination, key_ids, reclaim_reason, reclaim_at, gone_at\
              """,
              """
              'alc_past', 'acme-train', (SELECT MIN(node_id) FROM node), 0, 'RECLAIMING', :ahead,
              :ahead, 100, 0, 0, '', 'OUTBID', :now, :ahead\
              """,
              "allocation_id = 'alc_past'",
              Map.of("granted_at", 0L, "active_at", 0L, "reclaim_at", 0L, "gone_at", 0L)),
          inserted(
              "allocation",
              """
              allocation_id, cluster, node_id, slot, state, granted_at, active_at,
              grant_ceiling_cents, pinned, nomination, key_ids, reclaim_reason, reclaim_at, gone_at\
              """,
              """
              'alc_ahead', 'acme-train', (SELECT MIN(node_id) FROM node), 0, 'RECLAIMING', :ahead,
              NULL, 100, 0, 0, '', 'OUTBID', :ahead, :ahead\
              """,
              "allocation_id = 'alc_ahead'",
              Map.of("granted_at", 0L, "reclaim_at", 0L, "gone_at", 0L)),
          inserted(
              "allocation_health",
              "allocation_id, org_id, ts, state, credited",
              "(SELECT MIN(allocation_id) FROM allocation), 'acme', :ahead, 'OK', 0",
              "org_id = 'acme'",
              Map.of("ts", 0L)),
          inserted(
              "bidder_event",
              "pool, org_id, ts, evicted, given_up",
              "'demo-h100', 'acme', :ahead, 1, 0",
              "org_id = 'acme'",
              Map.of("ts", 0L)),
          new Case(
              "cluster",
              "UPDATE cluster SET created_at = :ahead WHERE name = 'acme-batch'",
              "name = 'acme-batch'",
              Map.of("created_at", 0L)),
          new Case(
              "member",
              "UPDATE member SET created_at = :ahead WHERE username = 'alice'",
              "username = 'alice'",
              Map.of("created_at", 0L)),
          inserted(
              "member_cutoff",
              "org_id, username, issued_until, kept_until",
              "'acme', 'gone', :ahead / 1000, :ahead",
              "username = 'gone'",
              Map.of("issued_until * 1000", 0L)),
          inserted(
              "member_session",
              "session_sha256, org_id, username, created_at, seen_at, expires_at",
              "'made', 'acme', 'bob', :ahead, :ahead + 60000, :ahead + 3600000",
              "session_sha256 = 'made'",
              Map.of("created_at", 0L, "seen_at", 60_000L, "expires_at", HOUR)),
          inserted(
              "member_session",
              "session_sha256, org_id, username, created_at, seen_at, expires_at",
              "'seen', 'acme', 'bob', :now, :ahead, :now + 3600000",
              "session_sha256 = 'seen'",
              Map.of("created_at", 0L, "seen_at", 0L, "expires_at", HOUR)),
          inserted(
              "operator_session",
              "session_sha256, token_id, created_at, expires_at",
              "'s', (SELECT MIN(token_id) FROM operator_token), :ahead, :ahead + 3600000",
              "session_sha256 = 's'",
              Map.of("created_at", 0L, "expires_at", HOUR)),
          inserted(
              "sign_in_link",
              "link_sha256, email, person_name, return_to, made_at, expires_at",
              "'l', 'a@example.com', '', '/', :ahead, :ahead + 900000",
              "link_sha256 = 'l'",
              Map.of("made_at", 0L, "expires_at", HOUR / 4)),
          inserted(
              "join_rule",
              "rule_id, org_id, kind, value, created_at, created_by, link_expires_at",
              "'r', 'acme', 'email', 'a@example.com', :now, 'x', :ahead + 259200000",
              "rule_id = 'r'",
              Map.of("link_expires_at", 72 * HOUR)),
          inserted(
              "oauth_grant",
              """
              grant_id, org_id, username, client_id, client_name, scopes, resource, refreshable,
              created_at, begun_at, used_at, idle_until, expires_at\
              """,
              """
              'made', 'acme', 'bob', 'c', 'c', '', '', 1, :ahead, :ahead, :ahead,
              :ahead + 3600000, :ahead + 7200000\
              """,
              "grant_id = 'made'",
              Map.of(
                  "created_at",
                  0L,
                  "begun_at",
                  0L,
                  "used_at",
                  0L,
                  "idle_until",
                  HOUR,
                  "expires_at",
                  2 * HOUR)),
          inserted(
              "oauth_grant",
              """
              grant_id, org_id, username, client_id, client_name, scopes, resource, refreshable,
              created_at, used_at, idle_until, expires_at\
              """,
              """
              'used', 'acme', 'bob', 'c', 'c', '', '', 1, :now, :ahead, :ahead + 3600000,
              :now + 7200000\
              """,
              "grant_id = 'used'",
              Map.of("created_at", 0L, "used_at", 0L, "idle_until", HOUR, "expires_at", 2 * HOUR)),
          inserted(
              "oauth_code",
              "code_sha256, grant_id, redirect_uri, challenge, expires_at",
              "'c', 'used', '', '', :ahead",
              "code_sha256 = 'c'",
              Map.of("expires_at", 60_000L)),
          inserted(
              "oauth_device",
              """
              device_sha256, user_code, client_id, scopes, resource, state, created_at, expires_at,
              next_poll_at, interval_millis\
              """,
              "'d', 'u', 'c', '', '', 'pending', :ahead, :ahead + 600000, :ahead + 5000, 5000",
              "device_sha256 = 'd'",
              Map.of("created_at", 0L, "expires_at", HOUR / 6, "next_poll_at", 5_000L)),
          inserted(
              "oauth_client",
              "client_id, name, redirect_uris, grant_types, created_at, used_at",
              "'c', 'c', '', '', :ahead, :ahead",
              "client_id = 'c'",
              Map.of("created_at", 0L, "used_at", 0L)),
          new Case(
              "token",
              "UPDATE token SET last_used_at = :ahead WHERE org_id = 'openlab'",
              "org_id = 'openlab'",
              Map.of("last_used_at", 0L)),
          inserted(
              "webhook_delivery",
              """
              id, endpoint_id, source, position, message_id, kind, body, made_at, due_at, tries,
              outcome\
              """,
              "900001, 'e', '', 1, 'made', 'k', '{}', :ahead, :ahead + 5000, 0, 'delivered'",
              "message_id = 'made'",
              Map.of("made_at", 0L, "due_at", 5_000L)),
          inserted(
              "webhook_delivery",
              """
              id, endpoint_id, source, position, message_id, kind, body, made_at, due_at, tries,
              first_try_at, last_try_at, outcome\
              """,
              """
              900002, 'e', '', 2, 'tried', 'k', '{}', :now, :ahead + 5000, 1, :ahead, :ahead,
              'delivered'\
              """,
              "message_id = 'tried'",
              Map.of("made_at", 0L, "due_at", 5_000L, "first_try_at", 0L, "last_try_at", 0L)),
          inserted(
              "trail_stream",
              """
              org_id, stream_id, destination, include_reads, writes_batch, tries, first_try_at,
              last_try_at, next_try_at, disabled_at, secret_version, revision, created_at, created_by\
              """,
              """
              'acme', 's', '{}', 0, 0, 1, :ahead, :ahead, :ahead + 5000, :now, 1, 1, :now, 'x'\
              """,
              "stream_id = 's'",
              Map.of("first_try_at", 0L, "last_try_at", 0L, "next_try_at", 5_000L)),
          inserted(
              "trail_stream",
              """
              org_id, stream_id, destination, include_reads, writes_batch, tries, next_try_at,
              disabled_at, secret_version, revision, created_at, created_by\
              """,
              "'globex', 'new', '{}', 0, 0, 0, :ahead, :now, 1, 1, :now, 'x'",
              "stream_id = 'new'",
              Map.of("next_try_at", 9 * HOUR)),
          inserted(
              "outbox_mail",
              "mail_id, key_id, ciphertext, accepted_at, due_at, tries",
              "'new', 'k', '', :ahead, :ahead, 0",
              "mail_id = 'new'",
              Map.of("accepted_at", 0L, "due_at", 0L)),
          inserted(
              "outbox_mail",
              "mail_id, key_id, ciphertext, accepted_at, due_at, tries",
              "'tried', 'k', '', :now, :ahead, 1",
              "mail_id = 'tried'",
              Map.of("accepted_at", 0L, "due_at", 900_000L)),
          inserted(
              "mail_line",
              "org_id, username, pace, slot, kind, at, body",
              "'acme', 'gone', 'digest', 1, 'notice', :ahead, '{}'",
              "username = 'gone'",
              Map.of("at", 0L)),
          inserted(
              "mail_due",
              "org_id, username, pace, written, told, due_at, spread_until",
              "'acme', 'gone', 'at-once', 1, 0, :ahead, :ahead",
              "pace = 'at-once'",
              Map.of("due_at", 0L, "spread_until", 0L)),
          inserted(
              "mail_due",
              "org_id, username, pace, written, told, due_at, spread_until",
              "'acme', 'gone', 'digest', 1, 0, :now + 80000000, 0",
              "pace = 'digest'",
              Map.of("due_at", 80_000_000L)),
          inserted(
              "checkpoint",
              """
              item_id, org_id, visibility, filename, creator, creator_id, created_at, changed_at,
              last_revision, version, search, feed_at\
              """,
              """
              'i', 'acme', 'org', 'f', 'bob', 'acme/bob/1', :ahead, :ahead, 1, 1, '', :ahead\
              """,
              "item_id = 'i'",
              Map.of("created_at", 0L, "changed_at", 0L, "feed_at", 0L)),
          inserted(
              "checkpoint_revision",
              """
              item_id, revision, state, title, description, filename, content_type, bytes,
              resumable, created_at, expires_at, published_at, findings\
              """,
              """
              'i', 1, 'ready', '', '', 'f', 'text/plain', 1, 0, :ahead, :ahead + 3600000, :ahead,
              '[]'\
              """,
              "item_id = 'i'",
              Map.of("created_at", 0L, "expires_at", HOUR, "published_at", 0L)),
          inserted(
              "checkpoint_history",
              "item_id, revision, published_at, bytes, files, sha256",
              "'i', 1, :ahead, 1, 1, ''",
              "item_id = 'i'",
              Map.of("published_at", 0L)));

  /** More rows than one commit of the correction takes. */
  private static final int MEMBERS_AHEAD = 250;

  private static final SteppingClock CLOCK = SteppingClock.midMonth();
  private static RunningBourse started;
  private static long nowMillis;

  @BeforeAll
  static void startAfterAClockWasAhead() {
    RunningBourse before = RunningBourse.demo(CLOCK);
    nowMillis = CLOCK.millis();
    List<Statement> rows = new ArrayList<>();
    CASES.forEach(
        row ->
            rows.add(
                Statement.of(
                    row.stored()
                        .replace(":now", Long.toString(nowMillis))
                        .replace(":ahead", Long.toString(nowMillis + AHEAD)))));
    // Alice's items are owned by her id, which contains the time.
    rows.add(
        Statement.of(
            "INSERT INTO checkpoint (item_id, org_id, visibility, filename, creator, creator_id,"
                + " created_at, changed_at, last_revision, version, search) VALUES ('hers', 'acme',"
                + " 'org', 'hers', 'alice', ?, 1, 1, 1, 1, '')",
            "acme/alice/" + (nowMillis + AHEAD)));
    for (int i = 0; i < MEMBERS_AHEAD; i++) {
      rows.add(
          Statement.of(
              "INSERT INTO member (org_id, username, email, name, created_at) VALUES ('acme', ?,"
                  + " ?, 'Many', ?)",
              "many" + i,
              "many" + i + "@example.com",
              nowMillis + AHEAD));
    }
    await(before.database().commit(rows));
    started = before.restarted();
  }

  @AfterAll
  static void stop() {
    started.close();
  }

  private static <T> List<T> read(String sql, RowMapper<T> mapper) {
    return await(started.database().read(sql, List.of(), mapper));
  }

  @ParameterizedTest
  @FieldSource("CASES")
  void timesThatLieAheadAreCorrectedAtTheStart(Case row) {
    List<Map<String, Long>> found =
        read(
            "SELECT %s FROM %s WHERE %s"
                .formatted(
                    row.expected().isEmpty()
                        ? "1 AS one"
                        : String.join(
                            ", ",
                            row.expected().keySet().stream()
                                .map(column -> column + " AS \"" + name(column) + "\"")
                                .toList()),
                    row.table(),
                    row.where()),
            stored -> {
              Map<String, Long> times = new HashMap<>();
              row.expected().keySet().forEach(c -> times.put(c, stored.integer(name(c))));
              return times;
            });
    if (row.expected().isEmpty()) {
      assertEquals(List.of(), found, "it is deleted");
      return;
    }
    assertTrue(!found.isEmpty(), "it is there");
    for (Map<String, Long> times : found) {
      row.expected()
          .forEach(
              (column, after) -> {
                long off = Objects.requireNonNull(times.get(column)) - nowMillis - after;
                // Seconds may be rounded down.
                assertTrue(
                    off > -1_000 && off < SLACK_MILLIS, () -> column + " is off by " + off + " ms");
              });
    }
  }

  @Test
  void aMemberOfAClockThatWasAheadSignsInAndKeepsWhatIsTheirs() {
    long since =
        read(
                "SELECT created_at FROM member WHERE username = 'alice'",
                row -> row.integer("created_at"))
            .get(0);
    assertEquals(
        List.of("acme/alice/" + since),
        read(
            "SELECT creator_id FROM checkpoint WHERE item_id = 'hers'",
            row -> row.text("creator_id")));
    started.inSession("acme", "alice").get("/api/console/session").ok();
  }

  @Test
  void allMembersOfAClockThatWasAheadAreCorrectedAtOnce() {
    assertEquals(
        List.of((long) MEMBERS_AHEAD),
        read(
            "SELECT COUNT(*) AS members FROM member WHERE name = 'Many' AND created_at <= "
                + (nowMillis + SLACK_MILLIS),
            row -> row.integer("members")));
  }

  /** Columns whose future times are harmless, by the reason. */
  private static final Map<String, List<String>> HARMLESS =
      Map.ofEntries(
          Map.entry(
              "is shown alone",
              List.of(
                  "blob_move.asked_at",
                  "blob_move.ended_at",
                  "blob_move_fault.found_at",
                  "cluster.retired_at",
                  "encrypted_secret.made_at",
                  "given_username.given_at",
                  "handover.cleaned_at",
                  "join_rule.created_at",
                  "join_rule.proven_at",
                  "lease.acquired_at",
                  "member.last_login_at",
                  "node.created_at",
                  "node.health_since",
                  "node.last_seen",
                  "node.quarantined_at",
                  "operator_token.created_at",
                  "org.created_at",
                  "pool.created_at",
                  "pool.paused_at",
                  "removed_member.removed_at",
                  "scrub_fault.checked_at",
                  "scrub_fault.found_at",
                  "scrub_mark.round_since",
                  "ssh_key.created_at",
                  "token.created_at",
                  "trail_stream.created_at",
                  "webhook_endpoint.created_at")),
          Map.entry(
              "only whether it is set matters",
              List.of(
                  "member.suspended_at",
                  "node.retired_at",
                  "oauth_code.used_at",
                  "operator_token.ended_at",
                  "operator_token.revoked_at",
                  "org.retired_at",
                  "sign_in_link.used_at",
                  "ssh_key.revoked_at",
                  "token.revoked_at",
                  "trail_stream.disabled_at",
                  "webhook_endpoint.disabled_at")),
          Map.entry(
              "it only delays a deletion or prolongs a rejection",
              List.of(
                  "audit_read_batch.made_at",
                  "audit_seal.newest_at",
                  "audit_seal.purged_at",
                  "audit_seal.sealed_at",
                  "blob.stored_at",
                  "blob_moved.moved_at",
                  "blob_piece.made_at",
                  "blob_upload.changed_at",
                  "checkpoint_garbage.since",
                  "confirm_used.expires_at",
                  "mcp_session_ended.expires_at",
                  "member_cutoff.kept_until",
                  "oauth_grant.revoked_at",
                  "outbox_mail.dead_at",
                  "revoked_grant.kept_until")),
          Map.entry(
              "readers ignore a time that is too far ahead",
              List.of(
                  "blob_move_claim.told_at",
                  "blob_upload.finishing_until",
                  "cluster.drilled_at",
                  "lease.expires_at",
                  "mail_scan.marked_at",
                  "node.reimage_until",
                  "node.usable_after",
                  "scrub_absence.seen_at",
                  "scrub_claim.told_at",
                  "scrub_folder.since",
                  "scrub_folder.told_at",
                  "scrub_mark.paced_from",
                  "upkeep_process.expires_at",
                  "webhook_cursor.at",
                  "webhook_lease.expires_at")),
          Map.entry(
              "the posting of usage sets it back and posts again, with reversals in the ledger",
              List.of(
                  "billing_org.month_start",
                  "billing_org.month_through",
                  "billing_org.posted_through",
                  "billing_posted.advanced_at",
                  "billing_posted.through",
                  "ledger_transaction.effective_at",
                  "ledger_transaction.made_at",
                  "ledger_transaction.month",
                  "ledger_transaction.reversed_at",
                  "usage_line.hour")),
          Map.entry(
              "a hold's next look takes the present for it",
              List.of(
                  "billing_org.hold_since",
                  "billing_org.operator_hold_since",
                  "cluster.hold_enforce_after")),
          Map.entry(
              "a trail is ordered by ids, and sealed rows must not change", List.of("audit.ts")),
          Map.entry(
              "a key is not used for signatures before its time, and the one before it is",
              List.of("signing_key.expires_at", "signing_key.made_at", "signing_key.retired_at")),
          Map.entry(
              "a user or an operator chose it, or it is the end of a promise",
              List.of(
                  "activity.ends_at",
                  "cluster.until_at",
                  "operator_token.expires_at",
                  "token.expires_at",
                  "trail_stream.old_secret_until",
                  "webhook_endpoint.old_secret_until")),
          Map.entry(
              "it is the newest confirmed time, with which the next process compares its clock",
              List.of("clock_mark.millis")));

  /** Columns that their owners correct in memory: see the tests of the times of clusters. */
  private static final List<String> OF_CLUSTERS =
      List.of(
          "allocation.health_since",
          "allocation.notice_ends_at",
          "allocation.protected_until",
          "allocation.ready_at",
          "allocation.swap_requested_at",
          "cluster.declared_at",
          "cluster.effective_at",
          "cluster.gate_at",
          "cluster.gate_priced_at",
          "cluster.gave_up_at",
          "cluster.gang_unwound_at",
          "cluster.join_refused_at",
          "cluster.last_write_at",
          "cluster.priced_at",
          "cluster.spend_since");

  @Test
  @OneEngine("The columns are the same on both.")
  void everyColumnWithATimeIsCorrectedOrDoesNoHarm() {
    Set<String> judged = new TreeSet<>(OF_CLUSTERS);
    HARMLESS.values().forEach(judged::addAll);
    CASES.forEach(
        row ->
            row.expected()
                .keySet()
                .forEach(column -> judged.add(row.table() + "." + name(column))));
    CASES.stream()
        .filter(row -> row.expected().isEmpty())
        .forEach(row -> judged.add(row.table() + ".ts"));
    judged.add("ceiling_point.priced_at");
    Set<String> stored =
        new TreeSet<>(
            read(
                """
                SELECT t.name || '.' || c.name AS name FROM sqlite_schema t
                JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.type = 'INTEGER'
                AND t.name <> 'probe'\
                """,
                row -> row.text("name")));
    stored.removeIf(column -> !TIME.matcher(column).find());
    assertEquals(stored, judged);
  }

  /** The names of columns with a time; {@code _millis} alone is a duration. */
  private static final Pattern TIME =
      Pattern.compile(
          "([._](at|ts|until|since|hour)|[._](month|month_start|through|month_through"
              + "|posted_through|usable_after|hold_enforce_after|last_seen|paced_from)"
              + "|clock_mark[.]millis)$");

  private static String name(String column) {
    return column.replaceAll("[^a-z_]", "");
  }
}
