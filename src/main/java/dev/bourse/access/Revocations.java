package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Members' tokens that are refused though they have not expired: those of revoked grants, and those
 * a member had when they signed out everywhere. In memory, an entry is some 200 bytes and goes when
 * the tokens it is about have expired.
 */
public final class Revocations {
  /** What other processes are told when something is revoked. */
  public static final String CHANGED = "revocations";

  /** No token of a grant lives longer, so a grant's row need not be kept for longer. */
  static final long LONGEST_GRANTED_MILLIS = Duration.ofHours(1).toMillis();

  /** As much may the clocks of two processes differ. */
  private static final long SLACK_MILLIS = Duration.ofMinutes(10).toMillis();

  /** A member's tokens issued in this second or before it are refused. */
  private record Cutoff(long issuedUntilSecond, long keptUntilMillis) {}

  private record MemberKey(String orgId, String username) {}

  private final Database database;
  private final Clock clock;
  private final Map<String, Long> grants = new ConcurrentHashMap<>();
  private final Map<MemberKey, Cutoff> cutoffs = new ConcurrentHashMap<>();

  public Revocations(Database database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * Adds what is stored. Nothing is taken out, so that a reading that was late cannot undo what was
   * revoked meanwhile.
   */
  public Future<Void> load() {
    return load(null);
  }

  /** Adds one grant that another process revoked, or all that is stored for an empty key. */
  public Future<Void> refresh(String grantId) {
    return load(grantId.isEmpty() ? null : grantId);
  }

  private Future<Void> load(@Nullable String grantId) {
    if (grantId != null) {
      grants.put(grantId, grantKeptUntil());
      return Future.succeededFuture();
    }
    long now = clock.millis();
    return database
        .read(
            "SELECT grant_id, kept_until FROM revoked_grant WHERE kept_until > ?",
            List.of(now),
            row -> grants.put(row.text(0), row.integer(1)))
        .compose(
            read ->
                database.read(
                    "SELECT org_id, username, issued_until, kept_until FROM member_cutoff"
                        + " WHERE kept_until > ?",
                    List.of(now),
                    row ->
                        cut(
                            new MemberKey(row.text(0), row.text(1)),
                            new Cutoff(row.integer(2), row.integer(3)))))
        .mapEmpty();
  }

  private Cutoff cut(MemberKey member, Cutoff cutoff) {
    return cutoffs.merge(
        member,
        cutoff,
        (known, read) -> known.issuedUntilSecond() >= read.issuedUntilSecond() ? known : read);
  }

  private long grantKeptUntil() {
    return clock.millis() + LONGEST_GRANTED_MILLIS + SLACK_MILLIS;
  }

  /**
   * Refuses every token of a grant from now on, here and, within a second, in the other processes.
   *
   * @param along stored in the same commit
   */
  public Future<Void> revokeGrant(String grantId, List<Statement> along) {
    long keptUntil = grantKeptUntil();
    List<Statement> statements = new ArrayList<>(along);
    statements.add(
        Statement.of(
            "INSERT INTO revoked_grant (grant_id, kept_until) VALUES (?, ?)"
                + " ON CONFLICT (grant_id) DO UPDATE SET kept_until = excluded.kept_until",
            grantId,
            keptUntil));
    return database
        .commit(statements, List.of(new Change(CHANGED, grantId)))
        .onSuccess(stored -> grants.put(grantId, keptUntil));
  }

  /**
   * Refuses every token that a member was issued until now, and ends every grant of theirs. The
   * second counts in whole, as tokens tell their time in seconds.
   *
   * @param along stored in the same commit
   */
  public Future<Void> revokeMember(String orgId, String username, List<Statement> along) {
    List<Statement> statements = new ArrayList<>(along);
    statements.addAll(ending(orgId, username));
    return database.commit(statements, List.of(new Change(CHANGED, ""))).compose(stored -> load());
  }

  /**
   * What {@link #revokeMember} stores, for a commit of somebody else's that has locked the member's
   * row before it, with a {@link #CHANGED} of no key and {@link #load} to follow. A grant's tokens
   * are refused by its name as well: one may have been issued by a clock that is ahead, or a moment
   * after the commit.
   */
  public List<Statement> ending(String orgId, String username) {
    long now = clock.millis();
    return List.of(
        Statement.of(
            "INSERT INTO revoked_grant (grant_id, kept_until)"
                + " SELECT grant_id, CAST(? AS BIGINT) FROM oauth_grant"
                + " WHERE org_id = ? AND username = ? AND revoked_at IS NULL"
                + " ON CONFLICT (grant_id) DO UPDATE SET kept_until = excluded.kept_until",
            grantKeptUntil(),
            orgId,
            username),
        Statement.of(
            "UPDATE oauth_grant SET revoked_at = ?"
                + " WHERE org_id = ? AND username = ? AND revoked_at IS NULL",
            now,
            orgId,
            username),
        Statement.of(
            "INSERT INTO member_cutoff (org_id, username, issued_until, kept_until)"
                + " VALUES (?, ?, ?, ?) ON CONFLICT (org_id, username) DO UPDATE SET"
                + " issued_until = excluded.issued_until, kept_until = excluded.kept_until",
            orgId,
            username,
            now / 1_000,
            now + SigningKeys.LONGEST_TOKEN_MILLIS + SLACK_MILLIS));
  }

  boolean isRevoked(String grantId, String orgId, String username, long issuedAtSecond) {
    if (!grantId.isEmpty() && grants.containsKey(grantId)) {
      return true;
    }
    if (cutoffs.isEmpty()) {
      return false;
    }
    Cutoff cutoff = cutoffs.get(new MemberKey(orgId, username));
    return cutoff != null && issuedAtSecond <= cutoff.issuedUntilSecond();
  }

  /**
   * Forgets what is about expired tokens alone.
   *
   * @return that there is no more to do now
   */
  public Future<Boolean> sweep() {
    long now = clock.millis();
    grants.values().removeIf(keptUntil -> keptUntil <= now);
    cutoffs.values().removeIf(cutoff -> cutoff.keptUntilMillis() <= now);
    return database
        .commit(
            List.of(
                Statement.of("DELETE FROM revoked_grant WHERE kept_until <= ?", now),
                Statement.of("DELETE FROM member_cutoff WHERE kept_until <= ?", now)))
        .map(false);
  }
}
