package dev.bourse.access;

import dev.bourse.store.Change;
import dev.bourse.store.Correction;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import dev.bourse.store.Mirror;
import dev.bourse.store.Row;
import dev.bourse.store.SliceComparison;
import dev.bourse.store.Statement;
import dev.bourse.store.TableCorrection;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Revoked tokens of members that have not expired: those of revoked grants, and those issued before
 * a member signed out everywhere. In memory; an entry takes some 200 bytes and is deleted when its
 * tokens have expired.
 */
public final class Revocations implements Mirror {
  /** The topic of changes when a grant is revoked; the key is the grant. */
  public static final String CHANGED = "revocations";

  /**
   * The topic of changes when all tokens of a member are revoked. The key is the organization, a
   * slash, which neither name contains, and the username. A process of the previous release does
   * not know it and reads everything again.
   */
  public static final String MEMBER_CHANGED = "cutoffs";

  /** The longest lifetime of a token with a grant, after which a grant's row can be deleted. */
  static final long LONGEST_GRANTED_MILLIS = Duration.ofHours(1).toMillis();

  /**
   * The prefix of the ids of publishing credentials. A job has no refresh token, so the token of a
   * credential lives as long as the credential. The prefix is part of the id because other
   * processes learn only the ids of revoked grants.
   */
  public static final String CREDENTIAL_PREFIX = "pub";

  /** How far the clocks of two processes may differ. */
  private static final long SLACK_MILLIS = Duration.ofMinutes(10).toMillis();

  /** Revokes a member's tokens that were issued in or before a second. */
  private record Cutoff(long issuedUntilSecond, long keptUntilMillis) {}

  private record MemberKey(String orgId, String username) {}

  private record Stored(MemberKey member, Cutoff cutoff) {}

  private static final String GRANTS = "SELECT grant_id, kept_until FROM revoked_grant";

  private static final String CUTOFFS =
      "SELECT org_id, username, issued_until, kept_until FROM member_cutoff";

  private final Database database;
  private final Clock clock;
  private final Map<String, Long> grants = new ConcurrentHashMap<>();
  private final Map<MemberKey, Cutoff> cutoffs = new ConcurrentHashMap<>();

  public Revocations(Database database, Clock clock) {
    this.database = database;
    this.clock = clock;
  }

  /**
   * Adds the stored revocations. It removes none, so a late read cannot undo a newer revocation.
   */
  public Future<Void> load() {
    long now = clock.millis();
    return database
        .read(GRANTS + " WHERE kept_until > ?", List.of(now), this::putGrant)
        .compose(
            read ->
                database.read(CUTOFFS + " WHERE kept_until > ?", List.of(now), Revocations::cutoff))
        .map(
            found -> {
              found.forEach(this::cut);
              return null;
            });
  }

  /**
   * Applies grants that another process revoked, without a read. Only the expiry of a publishing
   * credential is read afterwards.
   */
  @Override
  public Future<Refreshed> refresh(List<String> grantIds) {
    Set<String> changed = new HashSet<>();
    for (String grantId : grantIds) {
      if (grants.put(grantId, clock.millis() + longestTokenMillis(grantId) + SLACK_MILLIS)
          == null) {
        changed.add(grantId);
      }
    }
    Refreshed refreshed = new Refreshed(changed, Set.of());
    List<String> credentials = grantIds.stream().filter(Revocations::isCredential).toList();
    if (credentials.isEmpty()) {
      return Future.succeededFuture(refreshed);
    }
    // They are refused from here on; the read only shortens how long they stay in memory.
    List<String> all = InList.of(credentials);
    return database
        .read(GRANTS + " WHERE grant_id IN " + InList.marks(all), all, this::putGrant)
        .map(read -> refreshed);
  }

  @Override
  public Comparison compare() {
    long now = clock.millis();
    return new SliceComparison<>(
        after ->
            database.read(
                GRANTS + " WHERE grant_id > ? AND kept_until > ? ORDER BY grant_id LIMIT ?",
                List.of(after, now, SliceComparison.ROWS),
                row -> row.text("grant_id")),
        grantId -> grantId,
        grants::containsKey,
        List::of);
  }

  /** Reads one member's revocations again after they changed. */
  public Future<Void> refreshMember(String orgId, String username) {
    return refreshMembers(List.of(memberKey(orgId, username))).mapEmpty();
  }

  /** Returns the key of {@link #MEMBER_CHANGED}. */
  public static String memberKey(String orgId, String username) {
    return orgId + "/" + username;
  }

  private Future<Mirror.Refreshed> refreshMembers(List<String> members) {
    List<String> all = InList.of(members);
    // The condition on organizations uses the index; the one on pairs selects among the rows.
    List<String> orgIds = all.stream().map(Revocations::orgOf).toList();
    List<String> values = new ArrayList<>(orgIds);
    values.addAll(all);
    return database
        .read(
            // By the grant as well, because a token's own time may be after the cutoff.
            """
            SELECT r.grant_id, r.kept_until FROM revoked_grant r
            JOIN oauth_grant g ON g.grant_id = r.grant_id
            WHERE g.org_id IN %s AND g.org_id || '/' || g.username IN %s\
            """
                .formatted(InList.marks(orgIds), InList.marks(all)),
            values,
            this::putGrant)
        .compose(
            read ->
                database.read(
                    "%s WHERE org_id IN %s AND org_id || '/' || username IN %s"
                        .formatted(CUTOFFS, InList.marks(orgIds), InList.marks(all)),
                    values,
                    Revocations::cutoff))
        .map(
            found -> {
              Set<String> changed = new HashSet<>();
              for (Stored stored : found) {
                if (cut(stored)) {
                  changed.add(memberKey(stored.member.orgId(), stored.member.username()));
                }
              }
              return new Mirror.Refreshed(changed, Set.of());
            });
  }

  /** Returns the mirror of members' cutoffs, by {@link #memberKey}. */
  public Mirror members() {
    return new Mirror() {
      @Override
      public Future<Refreshed> refresh(List<String> members) {
        return refreshMembers(members);
      }

      @Override
      public Comparison compare() {
        long now = clock.millis();
        return new SliceComparison<>(
            after ->
                database.read(
                    CUTOFFS
                        + """
                         WHERE (org_id, username) > (?, ?) AND kept_until > ?
                        ORDER BY org_id, username LIMIT ?\
                        """,
                    List.of(
                        orgOf(after),
                        after.substring(after.indexOf('/') + 1),
                        now,
                        SliceComparison.ROWS),
                    Revocations::cutoff),
            stored -> memberKey(stored.member.orgId(), stored.member.username()),
            stored -> {
              Cutoff held = cutoffs.get(stored.member);
              return held != null && held.issuedUntilSecond() >= stored.cutoff.issuedUntilSecond();
            },
            List::of);
      }
    };
  }

  private static String orgOf(String member) {
    int slash = member.indexOf('/');
    return slash < 0 ? member : member.substring(0, slash);
  }

  private static Stored cutoff(Row row) {
    return new Stored(
        new MemberKey(row.text("org_id"), row.text("username")),
        new Cutoff(row.integer("issued_until"), row.integer("kept_until")));
  }

  private long putGrant(Row row) {
    long keptUntil = row.integer("kept_until");
    grants.put(row.text("grant_id"), keptUntil);
    return keptUntil;
  }

  /** Returns whether the cutoff is later than the known one. */
  private boolean cut(Stored stored) {
    Cutoff before = cutoffs.get(stored.member);
    Cutoff after =
        cutoffs.merge(
            stored.member,
            stored.cutoff,
            (known, read) -> known.issuedUntilSecond() >= read.issuedUntilSecond() ? known : read);
    return !after.equals(before);
  }

  /** Returns true if a grant is a publishing credential. */
  public static boolean isCredential(String grantId) {
    return grantId.startsWith(CREDENTIAL_PREFIX + '_');
  }

  /** Returns the longest lifetime of a token of a grant. */
  static long longestTokenMillis(String grantId) {
    return isCredential(grantId) ? SigningKeys.LONGEST_TOKEN_MILLIS : LONGEST_GRANTED_MILLIS;
  }

  /**
   * Revokes every token of a grant, here at once and in other processes within a second.
   *
   * @param expiresAtMillis when the grant expires, and with it the token of a credential
   * @param along statements of the same commit
   */
  public Future<Void> revokeGrant(String grantId, long expiresAtMillis, List<Statement> along) {
    long lastToken =
        isCredential(grantId) ? expiresAtMillis : clock.millis() + LONGEST_GRANTED_MILLIS;
    long keptUntil = lastToken + SLACK_MILLIS;
    List<Statement> statements = new ArrayList<>(along);
    statements.add(
        Statement.of(
            """
            INSERT INTO revoked_grant (grant_id, kept_until) VALUES (?, ?)
            ON CONFLICT (grant_id) DO UPDATE SET kept_until = excluded.kept_until\
            """,
            grantId,
            keptUntil));
    return database
        .commit(statements, List.of(new Change(CHANGED, grantId)))
        .onSuccess(stored -> grants.put(grantId, keptUntil));
  }

  /**
   * Revokes every token that was issued to a member until now, and ends every grant of the member.
   * The whole current second counts, because tokens have a resolution of a second.
   *
   * @param along statements of the same commit
   */
  public Future<Void> revokeMember(String orgId, String username, List<Statement> along) {
    List<Statement> statements = new ArrayList<>(along);
    statements.addAll(ending(orgId, username));
    return database
        .commit(statements, List.of(new Change(MEMBER_CHANGED, memberKey(orgId, username))))
        .compose(stored -> refreshMember(orgId, username));
  }

  /**
   * Returns the statements that end every grant of a retired organization's members. Their tokens
   * need no cutoff, because a retired organization has no active members.
   */
  public static List<Statement> ending(String orgId, long nowMillis) {
    return List.of(
        Statement.of(
            "UPDATE oauth_grant SET revoked_at = ? WHERE org_id = ? AND revoked_at IS NULL",
            nowMillis,
            orgId));
  }

  /**
   * Returns the statements of {@link #revokeMember} for a commit of another service that has locked
   * the member's row. The caller also sends a {@link #MEMBER_CHANGED} and calls {@link
   * #refreshMember}. A grant's tokens are revoked by the grant's id as well, because one may have
   * been issued by a clock that is ahead, or just after the commit.
   */
  public List<Statement> ending(String orgId, String username) {
    long now = clock.millis();
    return List.of(
        Statement.of(
            """
            INSERT INTO revoked_grant (grant_id, kept_until)
            SELECT grant_id, CAST(? AS BIGINT)
            + CASE WHEN publish_bytes IS NULL THEN CAST(? AS BIGINT) ELSE expires_at END
            FROM oauth_grant WHERE org_id = ? AND username = ? AND revoked_at IS NULL
            ON CONFLICT (grant_id) DO UPDATE SET kept_until = excluded.kept_until\
            """,
            SLACK_MILLIS,
            now + LONGEST_GRANTED_MILLIS,
            orgId,
            username),
        Statement.of(
            """
            UPDATE oauth_grant SET revoked_at = ?
            WHERE org_id = ? AND username = ? AND revoked_at IS NULL\
            """,
            now,
            orgId,
            username),
        Statement.of(
            """
            INSERT INTO member_cutoff (org_id, username, issued_until, kept_until)
            VALUES (?, ?, ?, ?) ON CONFLICT (org_id, username) DO UPDATE SET
            issued_until = excluded.issued_until, kept_until = excluded.kept_until\
            """,
            orgId,
            username,
            now / 1_000,
            now + SigningKeys.LONGEST_TOKEN_MILLIS + SLACK_MILLIS));
  }

  /** Returns whether a grant was revoked, so that nothing begun with it may continue. */
  public boolean isRevoked(String grantId) {
    return grants.containsKey(grantId);
  }

  boolean isRevoked(String grantId, String orgId, String username, long issuedAtSecond) {
    if (!grantId.isEmpty() && isRevoked(grantId)) {
      return true;
    }
    if (cutoffs.isEmpty()) {
      return false;
    }
    Cutoff cutoff = cutoffs.get(new MemberKey(orgId, username));
    return cutoff != null && issuedAtSecond <= cutoff.issuedUntilSecond();
  }

  /**
   * Moves cutoffs in the future to the present, in memory too, because until then they would reject
   * every new token of the member. Tokens issued by the clock that was ahead are rejected through
   * their grants.
   */
  public Correction correction() {
    return new Correction() {
      @Override
      public String table() {
        return "member_cutoff";
      }

      @Override
      public boolean readsWholeTable() {
        return true;
      }

      @Override
      public Future<Boolean> correct(long nowMillis) {
        long now = nowMillis / 1_000;
        long latest = (nowMillis + APART_MILLIS) / 1_000;
        return new TableCorrection(
                database,
                table(),
                "issued_until > (SELECT latest / 1000 FROM clock)",
                "issued_until = (SELECT now / 1000 FROM clock)")
            .correct(nowMillis)
            .onSuccess(
                stored ->
                    cutoffs.replaceAll(
                        (member, cutoff) ->
                            cutoff.issuedUntilSecond() > latest
                                ? new Cutoff(now, cutoff.keptUntilMillis())
                                : cutoff));
      }
    };
  }

  /**
   * Deletes revocations of tokens that have all expired.
   *
   * @param now confirmed time
   * @return false, because no work is left
   */
  public Future<Boolean> sweep(long now) {
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
