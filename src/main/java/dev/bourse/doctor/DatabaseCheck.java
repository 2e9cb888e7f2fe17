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
 * Checks the store without reading its rows; running processes are not disturbed.
 *
 * @param file the file of the embedded store
 * @param server the database server; empty for the embedded store
 * @param opening opens the store for inspection
 */
public record DatabaseCheck(
    Path file, Optional<PostgresConfig> server, Callable<WholeStore> opening, Clock clock)
    implements Check.Look {
  /** Connections of one process beside its readers: for writing, listening and migrating. */
  private static final int OTHER_CONNECTIONS = 3;

  /** A declaration takes two or three round trips, a tick a handful. */
  private static final long SLOW_MICROS = 20_000;

  @Override
  public void at(Notes notes) throws Exception {
    if (server.isPresent()) {
      note(notes, server.get(), PostgresProbe.look(server.get(), clock));
    } else if (!Files.exists(file)) {
      notes.warn(
          "there is no store " + file + " yet",
          "check --data and store.url; serve creates the store");
      return;
    }
    noteSchema(notes);
  }

  private void noteSchema(Notes notes) throws Exception {
    try (WholeStore store = opening.call()) {
      List<Migration> pending = store.pending();
      if (pending.isEmpty()) {
        notes.see("the schema is current, at version %d".formatted(store.programVersion()));
      } else {
        notes.see(
            "the schema lacks %d of %d migrations; serve or migrate applies them"
                .formatted(pending.size(), store.programVersion()));
      }
    }
  }

  static void note(Notes notes, PostgresConfig config, PostgresProbe.Seen seen) {
    notes.see("%s is PostgreSQL %s".formatted(config.url(), seen.setting("server_version")));
    if (seen.isStandby()) {
      notes.fault(
          "it is a standby, which accepts no writes",
          "set store.url to the primary, or to all servers: postgres://user@a,b/database");
    } else if (seen.setting("default_transaction_read_only").equals("on")) {
      notes.fault(
          "default_transaction_read_only is on, so it accepts no writes",
          "set it to off for this database and user");
    }
    noteSafety(notes, seen);
    if (!seen.isStandby()) {
      noteReplication(notes, seen);
    }
    if (!seen.timelineFault().isEmpty()) {
      notes.warn(
          "%s (%s)".formatted(seen.unprotected(), seen.timelineFault()),
          "grant the service's user EXECUTE on pg_control_system() and pg_walfile_name(pg_lsn); if"
              + " the provider does not allow that, have it fence the former primary at a"
              + " fail-over, and look at machines of root tenants afterwards");
    }
    noteRoom(notes, config, seen);
    String trip =
        String.format(Locale.ROOT, "a round trip takes %.1f ms", seen.roundTripMicros() / 1e3);
    if (seen.roundTripMicros() > SLOW_MICROS) {
      notes.warn(trip, "move the service closer to the database: each change waits for several");
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
          "synchronous_commit is off: when the server crashes, acknowledged changes are lost",
          "set synchronous_commit = on for this database");
    }
  }

  /**
   * Checks how many changes a fail-over would lose, and whether commits wait for an absent standby.
   */
  private static void noteReplication(Notes notes, PostgresProbe.Seen seen) {
    String synchronous = seen.setting("synchronous_standby_names");
    if (synchronous.isEmpty()) {
      if (seen.standbys() > 0) {
        notes.warn(
            "%d standby connection(s), all asynchronous: a fail-over loses the last changes that were acknowledged"
                .formatted(seen.standbys()),
            "set synchronous_standby_names to name one standby more than must confirm, such as"
                + " ANY 1 (a, b)");
      }
    } else if (seen.standbys() == 0) {
      notes.fault(
          "synchronous_standby_names is '%s' and no standby is connected: commits wait for one"
              .formatted(synchronous),
          "start a standby, or clear synchronous_standby_names and accept that a fail-over loses"
              + " changes");
    } else if (seen.setting("synchronous_commit").equals("local")) {
      notes.warn(
          "synchronous_commit is local, so commits do not wait for the standbys of"
              + " synchronous_standby_names: a fail-over loses the last changes",
          "set synchronous_commit = on for this database and user");
    } else {
      notes.see(
          "commits wait for a standby: synchronous_standby_names is '%s'".formatted(synchronous));
    }
  }

  private static void noteRoom(Notes notes, PostgresConfig config, PostgresProbe.Seen seen) {
    int wanted = config.readers() + OTHER_CONNECTIONS;
    String free =
        "%d of %s connections are free, and a process needs %d"
            .formatted(seen.freeSessions(), seen.setting("max_connections"), wanted);
    if (seen.freeSessions() < wanted) {
      notes.warn(free, "raise max_connections of the server, or lower store.readers");
    } else {
      notes.see(free);
    }
  }
}
