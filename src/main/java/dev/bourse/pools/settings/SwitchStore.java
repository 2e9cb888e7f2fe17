package dev.bourse.pools.settings;

import dev.bourse.pools.Switches;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes the platform-wide switches that operators have set. */
final class SwitchStore {
  /** The name of a switch in the store. */
  enum Name {
    CAPACITY_WRITES("capacity-writes"),
    SPEND_LIMIT("spend-limit-enforced"),
    BILLING_HOLD("billing-hold-enforced");

    private final String stored;

    Name(String stored) {
      this.stored = stored;
    }

    String stored() {
      return stored;
    }
  }

  private final Database database;

  SwitchStore(Database database) {
    this.database = database;
  }

  /** Reads the switches; those that are not stored have their configured values. */
  Future<Switches> read(Switches standing) {
    Map<String, Boolean> stored = new HashMap<>();
    return database
        .read(
            "SELECT name, is_on FROM switch",
            List.of(),
            row -> stored.put(row.text("name"), row.truth("is_on")))
        .map(
            rows ->
                new Switches(
                    stored.getOrDefault(Name.CAPACITY_WRITES.stored, standing.writesArmed()),
                    stored.getOrDefault(Name.SPEND_LIMIT.stored, standing.spendLimitEnforced()),
                    stored.getOrDefault(Name.BILLING_HOLD.stored, standing.billingHoldEnforced())));
  }

  /** Stores some switches and the audit row in one commit. */
  Future<Void> write(Map<Name, Boolean> thrown, Statement audit) {
    List<Statement> statements = new ArrayList<>();
    thrown.forEach(
        (name, on) -> {
          statements.add(Statement.of("DELETE FROM switch WHERE name = ?", name.stored));
          statements.add(
              Statement.of("INSERT INTO switch (name, is_on) VALUES (?, ?)", name.stored, on));
        });
    statements.add(audit);
    return database.commit(statements, List.of(new Change(SwitchService.CHANGED, "")));
  }
}
