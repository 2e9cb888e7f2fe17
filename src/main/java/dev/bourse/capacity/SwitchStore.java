package dev.bourse.capacity;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/** The platform-wide switches that are stored rather than configured. */
public final class SwitchStore {
  /** What other processes are told when a switch is thrown. */
  public static final String CHANGED = "switch";

  private static final String WRITES = "capacity-writes";

  private final Database database;

  public SwitchStore(Database database) {
    this.database = database;
  }

  /** Whether capacity writes are accepted anywhere; on until switched off. */
  public Future<Boolean> readWritesArmed() {
    return database
        .read("SELECT is_on FROM switch WHERE name = ?", List.of(WRITES), row -> row.truth(0))
        .map(found -> found.isEmpty() || found.get(0));
  }

  /** Arms or disarms capacity writes on the whole platform. */
  public Future<Void> writeWritesArmed(boolean armed) {
    return database.commit(
        List.of(
            Statement.of("DELETE FROM switch WHERE name = ?", WRITES),
            Statement.of("INSERT INTO switch (name, is_on) VALUES (?, ?)", WRITES, armed)),
        List.of(new Change(CHANGED, WRITES)));
  }
}
