package dev.bourse.delivery;

import dev.bourse.access.Offboarding;
import dev.bourse.access.Offboarding.Author;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The table of one kind of receiver, with the columns that all kinds have: {@code org_id}, {@code
 * created_at}, {@code created_by}, {@code disabled_at}, {@code disabled_reason}, {@code
 * secret_version}, {@code old_secret_until} and {@code revision}.
 *
 * @param name of the table
 * @param id the column that identifies a receiver
 * @param addressedBy the column with the actor that set the address, if that is not the creator
 * @param counter the row of {@code webhook_change} that counts changes to receivers
 * @param disableAction of audit rows about receivers that are switched off
 * @param field of the receivers of members who leave
 * @param shown the columns that describe a receiver there
 */
public record ReceiverTable(
    String name,
    String id,
    String addressedBy,
    String counter,
    String disableAction,
    String field,
    List<String> shown) {
  public ReceiverTable {
    shown = List.copyOf(shown);
  }

  /** Increments the change counter, which the delivering process polls. */
  public Statement changed() {
    return Statement.of(
        """
        INSERT INTO webhook_change (name, changes) VALUES (?, 1)
        ON CONFLICT (name) DO UPDATE SET changes = webhook_change.changes + 1\
        """,
        counter);
  }

  /** Returns the number of changes to receivers so far. */
  public Future<Long> countChanges(Database database) {
    return database
        .readFirst(
            "SELECT changes FROM webhook_change WHERE name = ?",
            List.of(counter),
            row -> row.integer("changes"))
        .map(found -> found.orElse(0L));
  }

  /** Returns a condition on receivers whose address an author set. */
  private String of(Author author) {
    return author.condition("COALESCE(%s, created_by)".formatted(addressedBy));
  }

  /**
   * Returns a query for the ids of an author's enabled receivers; its parameters are the author's.
   */
  public String selectEnabled(Author author) {
    return "SELECT %s FROM %s WHERE %s AND disabled_at IS NULL".formatted(id, name, of(author));
  }

  /**
   * Returns the offboarding of receivers: those whose address the leaving member set are switched
   * off, with an audit row for each.
   *
   * @param items return statements that end the pending items of the author's enabled receivers
   */
  public Offboarding offboarding(Database database, Function<Author, List<Statement>> items) {
    return new Offboarding() {
      @Override
      public List<Statement> ending(Author author, long nowMillis) {
        return switchOff(author, items.apply(author), nowMillis);
      }

      @Override
      public Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis) {
        return list(database, author, endedAtMillis)
            .map(found -> new JsonObject().put(field, new JsonArray(found)));
      }
    };
  }

  private List<Statement> switchOff(Author author, List<Statement> items, long nowMillis) {
    String enabled = "%s WHERE %s AND disabled_at IS NULL".formatted(name, of(author));
    String reason = SwitchOffReason.AUTHOR_REMOVED.label();
    Object[] parameters = author.parameters().toArray();
    List<Statement> statements = new ArrayList<>();
    // Locks the rows first, so that none changes between its audit row and its disabling.
    statements.add(
        Statement.of(
            "UPDATE %s SET disabled_at = NULL WHERE %s AND disabled_at IS NULL"
                .formatted(name, of(author)),
            parameters));
    statements.addAll(items);
    statements.add(
        AuditStore.insertEach(
            new AuditRow(
                nowMillis, author.orgId(), Offboarding.ACTOR, disableAction, author.orgId(), ""),
            "'%1$s=' || %1$s || ' reason=%2$s'".formatted(id, reason),
            "%s ORDER BY created_at, %s".formatted(enabled, id),
            parameters));
    List<@Nullable Object> disable = new ArrayList<>(List.of(nowMillis, reason));
    disable.addAll(author.parameters());
    statements.add(
        Statement.of(
            """
            UPDATE %s SET disabled_at = ?, disabled_reason = ?, revision = revision + 1
            WHERE %s AND disabled_at IS NULL\
            """
                .formatted(name, of(author)),
            disable.toArray()));
    statements.add(changed());
    return statements;
  }

  /** Lists receivers whose address an author set, oldest first, as the offboarding shows them. */
  private Future<List<JsonObject>> list(
      Database database, Author author, Optional<Long> disabledAtMillis) {
    List<Object> parameters = new ArrayList<>(author.parameters());
    disabledAtMillis.ifPresent(parameters::add);
    return database.read(
        "SELECT %s FROM %s WHERE %s AND disabled_at %s ORDER BY created_at, %s"
            .formatted(
                String.join(", ", shown),
                name,
                of(author),
                disabledAtMillis.isPresent() ? "= ?" : "IS NULL",
                id),
        parameters,
        row -> {
          JsonObject json = new JsonObject();
          shown.forEach(column -> json.put(column, row.text(column)));
          return json;
        });
  }

  /** A receiver with the version of its secret. */
  public record Owner(String orgId, String id, int secretVersion) {}

  /** Lists receivers of retired organizations. */
  Future<List<Owner>> listRetired(Database database, int most) {
    // SQLite reads the tables of a CROSS JOIN in this order, and so each by an index.
    return listOwners(
        database,
        "org o CROSS JOIN %s r WHERE r.org_id = o.org_id AND o.retired_at IS NOT NULL LIMIT ?",
        List.of(most));
  }

  /** Lists receivers whose previous secret has expired. */
  Future<List<Owner>> listRotated(Database database, long nowMillis, int most) {
    return listOwners(
        database, "%s r WHERE r.old_secret_until <= ? LIMIT ?", List.of(nowMillis, most));
  }

  private Future<List<Owner>> listOwners(
      Database database, String from, List<? extends @Nullable Object> parameters) {
    return database.read(
        "SELECT r.org_id, r.%s AS id, r.secret_version FROM %s".formatted(id, from.formatted(name)),
        parameters,
        row -> new Owner(row.text("org_id"), row.text("id"), row.smallInteger("secret_version")));
  }

  /** Clears the expiry of a receiver's previous secret, unless it was rotated concurrently. */
  Statement forgetOldSecret(Owner owner, long nowMillis) {
    return Statement.of(
        """
        UPDATE %s SET old_secret_until = NULL
        WHERE %s = ? AND secret_version = ? AND old_secret_until <= ?\
        """
            .formatted(name, id),
        owner.id(),
        owner.secretVersion(),
        nowMillis);
  }
}
