package dev.bourse.org;

import dev.bourse.access.Members;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Resolves a proven e-mail address to the organizations it may sign in to: those with a member of
 * that address, and those with a join rule that admits it. Suspended and removed members are
 * excluded even if a domain rule matches.
 */
public final class Memberships {
  /** Organizations offered to one address; further ones are not shown. */
  static final int MAX_PLACES = 50;

  /** The longest username derived from an address, which leaves room for a number. */
  private static final int MAX_NAME = 32;

  /** Candidate names per look-up: more than an organization has of one base name. */
  private static final int NAMES_AT_A_TIME = 100;

  /** Attempts with further names, or after another process's commit. */
  private static final int MAX_TRIES = 5;

  /**
   * Conditions that admit an address, as SQL: its own rule, or that of its proven domain unless the
   * address was removed.
   */
  private static final String ADMITTED =
      """
      ((r.kind = 'email' AND r.value = ?) OR (r.kind = 'domain' AND r.value = ?
      AND r.proven_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM removed_member x WHERE x.org_id = r.org_id AND x.email = ?)))\
      """;

  private static final String MEMBERSHIPS =
      """
      SELECT o.org_id, o.display, m.username FROM org o
      JOIN member m ON m.org_id = o.org_id AND lower(m.email) = ?
      WHERE o.retired_at IS NULL AND m.suspended_at IS NULL
      UNION ALL SELECT DISTINCT o.org_id, o.display, NULL FROM org o
      JOIN join_rule r ON r.org_id = o.org_id
      WHERE o.retired_at IS NULL AND %s AND NOT EXISTS (SELECT 1 FROM member m
      WHERE m.org_id = o.org_id AND lower(m.email) = ?) ORDER BY 1, 3 LIMIT %s\
      """
          .formatted(ADMITTED, MAX_PLACES);

  /** Another process took the username, or let the address join, at the same moment. */
  private static final class UsernameTakenException extends RuntimeException {
    UsernameTakenException() {
      super("the username or the address is taken", null, false, false);
    }
  }

  private final Database database;
  private final Members members;
  private final Clock clock;

  /**
   * @param members notified when somebody joins
   */
  public Memberships(Database database, Members members, Clock clock) {
    this.database = database;
    this.members = members;
    this.clock = clock;
  }

  /**
   * An organization that an address may sign in to.
   *
   * @param username the member's username; null if signing in creates the member
   */
  public record Membership(String orgId, String display, @Nullable String username) {}

  /** The organizations an address may sign in to, by id; empty if there are none. */
  public Future<List<Membership>> find(String email) {
    String address = Text.folded(email);
    return database.read(
        MEMBERSHIPS,
        List.of(address, address, domain(address), address, address),
        row -> new Membership(row.text("org_id"), row.text("display"), row.textOrNull("username")));
  }

  /**
   * The address of the member who invited an address; empty without an invitation and for an
   * operator's.
   */
  public Future<Optional<String>> findInviter(String orgId, String email) {
    return database.readFirst(
        """
        SELECT m.email FROM join_rule r JOIN member m ON m.org_id = r.org_id
        AND r.created_by = 'member:' || m.username
        WHERE r.org_id = ? AND r.kind = 'email' AND r.value = ?\
        """,
        List.of(orgId, Text.folded(email)),
        row -> row.text("email"));
  }

  /**
   * Signs an address in to an organization; creates the member when a rule admits the address.
   *
   * @param name the person's name; empty when unknown
   * @return the username; fails with {@code forbidden} when no rule admits the address
   */
  public Future<String> admit(String orgId, String email, String name) {
    return admit(orgId, Text.folded(email), name, 1);
  }

  private Future<String> admit(String orgId, String address, String name, int tries) {
    return find(address)
        .compose(
            places -> {
              Optional<Membership> place =
                  places.stream().filter(each -> each.orgId().equals(orgId)).findFirst();
              if (place.isEmpty()) {
                return Future.failedFuture(refused());
              }
              String username = place.get().username();
              return username == null
                  ? join(orgId, address, name, tries)
                  : Future.succeededFuture(username);
            });
  }

  private Future<String> join(String orgId, String address, String name, int tries) {
    return freeName(orgId, name(address), 1)
        .compose(
            username ->
                insert(orgId, address, name.isEmpty() ? username : name, username)
                    .commit(new Change(Members.CHANGED, orgId))
                    .compose(stored -> OrgWrite.inForce(members.refresh(orgId)))
                    .map(loaded -> username))
        .recover(
            e -> {
              if (!(e instanceof UsernameTakenException)) {
                return Future.failedFuture(e);
              }
              // The next attempt finds the member who joined, or takes the next name.
              return tries < MAX_TRIES
                  ? admit(orgId, address, name, tries + 1)
                  : Future.failedFuture(
                      OrgWrite.conflict(
                          "exists", "the username or the address was taken meanwhile; try again"));
            });
  }

  private OrgWrite insert(String orgId, String address, String name, String username) {
    long now = clock.millis();
    return new OrgWrite(database, orgId)
        .demand(
            UsernameTakenException::new,
            """
            NOT EXISTS (SELECT 1 FROM member WHERE org_id = ?
            AND (username = ? OR lower(email) = ?)) AND %s\
            """
                .formatted(RosterStore.IS_NEW_USERNAME),
            orgId,
            username,
            address,
            orgId,
            username)
        .demand(
            Memberships::refused,
            "EXISTS (SELECT 1 FROM join_rule r WHERE r.org_id = ? AND " + ADMITTED + ")",
            orgId,
            address,
            domain(address),
            address)
        .demand(
            () ->
                OrgWrite.conflict(
                    "limit",
                    "the organization has as many members as it may have; ask its administrator"),
            "(SELECT COUNT(*) FROM member WHERE org_id = ?) < " + RosterService.MAX_MEMBERS,
            orgId)
        .addAll(RosterStore.join(Member.joining(orgId, username, address, Text.shown(name), now)))
        .record(
            now,
            "member:" + username,
            "member_join",
            "username=%s email=%s".formatted(username, Text.shown(address)));
  }

  /**
   * A username without a present or past owner, derived from the address and numbered if necessary.
   *
   * @param from the first number tried; 1 stands for no number
   */
  private Future<String> freeName(String orgId, String base, int from) {
    List<String> names =
        IntStream.range(from, from + NAMES_AT_A_TIME)
            .mapToObj(number -> number == 1 ? base : base + '-' + number)
            .toList();
    String places = String.join(", ", Collections.nCopies(names.size(), "?"));
    List<Object> parameters = new ArrayList<>(List.of(orgId));
    parameters.addAll(names);
    parameters.add(orgId);
    parameters.addAll(names);
    return database
        .read(
            """
            SELECT username FROM member WHERE org_id = ? AND username IN (%1$s)
            UNION SELECT username FROM given_username WHERE org_id = ? AND username IN (%1$s)\
            """
                .formatted(places),
            parameters,
            row -> row.text("username"))
        .compose(
            found -> {
              Set<String> taken = new HashSet<>(found);
              return names.stream()
                  .filter(name -> !taken.contains(name))
                  .findFirst()
                  .map(Future::succeededFuture)
                  .orElseGet(() -> freeName(orgId, base, from + NAMES_AT_A_TIME));
            });
  }

  /** The local part of an address as a username. */
  static String name(String address) {
    String local = address.substring(0, address.lastIndexOf('@'));
    String name =
        local
            .replaceAll("\\+.*", "")
            .replaceAll("[^a-z0-9._-]+", "-")
            .replaceAll("^[^a-z0-9]+|[^a-z0-9]+$", "");
    name = name.length() > MAX_NAME ? name.substring(0, MAX_NAME) : name;
    return name.isEmpty() ? "member" : name;
  }

  private static String domain(String address) {
    return address.substring(address.lastIndexOf('@') + 1);
  }

  private static ApiException refused() {
    return ApiException.of(
        ErrorCode.FORBIDDEN,
        "no organization admits this address; ask an administrator to invite you");
  }
}
