package dev.bourse.doctor;

import dev.bourse.store.Migration;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresProbe;
import dev.bourse.store.transfer.WholeStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Looks at the store without reading its rows; whoever uses it goes on.
 *
 * @param file that of the embedded store
 * @param server the server that keeps the store; empty for the embedded one
 * @param opening opens the store to look at it
 */
public record DatabaseCheck(
    Path file, Optional<PostgresConfig> server, Callable<WholeStore> opening, Clock clock)
    implements Check.Look {
  /** Connections of one process beside its readers: it writes, listens and migrates. */
  private static final int OTHER_CONNECTIONS = 3;

  /** A declaration waits for two or three round trips, a tick for a handful. */
  private static final long SLOW_MICROS = 20_000;

  @Override
  public void at(Notes notes) throws Exception {
    if (server.isPresent()) {
      note(notes, server.get(), PostgresProbe.look(server.get(), clock));
    } else if (!Files.exists(file)) {
      notes.warn(
          "there is no store " + file + " yet",
          "see whether --data and store.url are right; serve makes the store");
      return;
    }
    noteSchema(notes);
  }

  private void noteSchema(Notes notes) throws Exception {
    try (WholeStore store = opening.call()) {
      List<Migration> pending = store.pending();
      if (pending.isEmpty()) {
        notes.see("the schema is this program's, of %d steps".formatted(store.programVersion()));
      } else {
        notes.see(
            "the schema lacks %d of %d steps, which serve or migrate adds"
                .formatted(pending.size(), store.programVersion()));
      }
    }
  }

  static void note(Notes notes, PostgresConfig config, PostgresProbe.Seen seen) {
    notes.see("%s is PostgreSQL %s".formatted(config.url(), seen.setting("server_version")));
    if (seen.isStandby()) {
      notes.fault(
          "it is a standby, which takes no writes",
          "have store.url name the server that others follow");
    } else if (seen.setting("default_transaction_read_only").equals("on")) {
      notes.fault(
          "default_transaction_read_only is on, so it takes no writes",
          "set it to off for this database and user");
    }
    noteSafety(notes, seen);
    noteRoom(notes, config, seen);
    String trip =
        String.format(Locale.ROOT, "a round trip takes %.1f ms", seen.roundTripMicros() / 1e3);
    if (seen.roundTripMicros() > SLOW_MICROS) {
      notes.warn(trip, "bring the service nearer to the database: each change waits for several");
    } else {
      notes.see(trip);
    }
    ClockGap.note(notes, seen.aheadMillis());
  }

  private static void noteSafety(Notes notes, PostgresProbe.Seen seen) {
    if (seen.setting("fsync").equals("off")) {
      notes.warn(
          "fsync is off: when the server's machine loses power, the database is lost",
          "set fsync = on in postgresql.conf");
    }
    if (seen.setting("full_page_writes").equals("off")) {
      notes.warn(
          "full_page_writes is off: when the server's machine loses power, pages may be torn",
          "set full_page_writes = on, unless the file system writes whole pages");
    }
    if (seen.setting("synchronous_commit").equals("off")) {
      notes.warn(
          "synchronous_commit is off: when the server crashes, changes are lost that clients were"
              + " told of",
          "set synchronous_commit = on for this database");
    }
  }

  private static void noteRoom(Notes notes, PostgresConfig config, PostgresProbe.Seen seen) {
    int wanted = config.readers() + OTHER_CONNECTIONS;
    String free =
        "%d of %s connections are free, and a process takes %d"
            .formatted(seen.freeSessions(), seen.setting("max_connections"), wanted);
    if (seen.freeSessions() < wanted) {
      notes.warn(free, "raise max_connections of the server, or lower store.readers");
    } else {
      notes.see(free);
    }
  }
}
