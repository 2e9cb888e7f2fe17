package dev.bourse.store;

import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;

/**
 * A process that commits rows with rising ids, 16 at a time, and prints each acknowledged id with a
 * full stop after it, until it is killed. Prints the reason for a rejection.
 */
public final class CommittingProcess {
  private static long next;

  private CommittingProcess() {}

  public static void main(String[] args) {
    Vertx vertx = Vertx.vertx();
    vertx.runOnContext(
        v ->
            SqliteDatabase.open(
                    vertx,
                    Path.of(args[0]),
                    SqliteConfig.defaults(),
                    "db/sqlite-contract",
                    Clock.systemUTC())
                .compose(
                    database ->
                        database
                            .read(
                                "SELECT coalesce(max(id), 0) AS found FROM note",
                                List.of(),
                                row -> row.integer("found"))
                            .map(
                                last -> {
                                  next = last.get(0);
                                  for (int i = 0; i < 16; i++) {
                                    commit(database);
                                  }
                                  return null;
                                }))
                .onFailure(e -> System.out.println(e.getMessage())));
  }

  private static void commit(Database database) {
    long id = ++next;
    database
        .commit(
            List.of(DatabaseContractTest.note(id, "n"), DatabaseContractTest.account("a" + id, id)))
        .onSuccess(
            v -> {
              System.out.println(id + ".");
              System.out.flush();
              commit(database);
            });
  }
}
