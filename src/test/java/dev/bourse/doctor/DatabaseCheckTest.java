package dev.bourse.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.doctor.Finding.Verdict;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresProbe;
import dev.bourse.store.postgres.PostgresUrl;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Findings from a server's settings; DoctorSurroundingsTest tests the queries. */
class DatabaseCheckTest {
  private static final PostgresConfig CONFIG =
      PostgresConfig.defaults(PostgresUrl.parse("postgres://bourse@db/bourse"), "");

  private static final Map<String, String> SOUND =
      Map.of(
          "server_version", "17.2",
          "fsync", "on",
          "full_page_writes", "on",
          "synchronous_commit", "on",
          "max_connections", "100",
          "superuser_reserved_connections", "3",
          "default_transaction_read_only", "off");

  private static Finding of(PostgresProbe.Seen seen) {
    Notes notes = new Notes();
    DatabaseCheck.note(notes, CONFIG, seen);
    return notes.finding("database");
  }

  private static Finding with(String setting, String value) {
    Map<String, String> settings = new HashMap<>(SOUND);
    settings.put(setting, value);
    return of(new PostgresProbe.Seen(settings, false, "", 0, 5, 300, 0));
  }

  private static void warns(Finding finding, String seen) {
    assertEquals(Verdict.WARNING, finding.verdict(), finding.text());
    assertTrue(finding.text().contains(seen), finding.text());
    assertEquals(1, finding.advice().size(), finding.text());
  }

  @Test
  void aSoundServerNeedsNothing() {
    Finding finding = with("server_version", "17.3");
    assertEquals(Verdict.OK, finding.verdict(), finding.text());
    assertEquals(0, finding.advice().size(), finding.text());
  }

  @Test
  void whatLosesDataWithThePowerIsWarnedOf() {
    warns(with("fsync", "off"), "the database is lost");
    warns(with("full_page_writes", "off"), "pages may be torn");
    warns(with("synchronous_commit", "off"), "acknowledged changes are lost");
  }

  @Test
  void whatTakesNoWritesIsAFault() {
    assertEquals(Verdict.FAULT, with("default_transaction_read_only", "on").verdict());
    assertEquals(
        Verdict.FAULT, of(new PostgresProbe.Seen(SOUND, true, "", 0, 5, 300, 0)).verdict());
  }

  private static Finding replicating(String names, String commit, int standbys) {
    Map<String, String> settings = new HashMap<>(SOUND);
    settings.put("synchronous_standby_names", names);
    settings.put("synchronous_commit", commit);
    return of(new PostgresProbe.Seen(settings, false, "", standbys, 5, 300, 0));
  }

  @Test
  void replicationThatLosesAcknowledgedChangesIsWarnedOf() {
    warns(replicating("", "on", 1), "all asynchronous: a fail-over loses the last changes");
    warns(replicating("ANY 1 (a, b)", "local", 2), "commits do not wait for the standbys");
    Finding waits = replicating("ANY 1 (a, b)", "on", 2);
    assertEquals(Verdict.OK, waits.verdict(), waits.text());
    assertTrue(waits.text().contains("commits wait for a standby"), waits.text());
  }

  @Test
  void aSynchronousStandbyThatIsAwayIsAFault() {
    Finding finding = replicating("s1", "on", 0);
    assertEquals(Verdict.FAULT, finding.verdict(), finding.text());
    assertTrue(finding.text().contains("no standby is connected: commits wait"), finding.text());
  }

  @Test
  void aServerThatReportsNoTimelineIsWarnedOf() {
    warns(
        of(new PostgresProbe.Seen(SOUND, false, "permission denied", 0, 5, 300, 0)),
        "a fail-over cannot be detected");
  }

  @Test
  void tooFewConnectionsAreWarnedOf() {
    warns(
        of(new PostgresProbe.Seen(SOUND, false, "", 0, 91, 300, 0)),
        "6 of 100 connections are free");
    assertEquals(Verdict.OK, of(new PostgresProbe.Seen(SOUND, false, "", 0, 90, 300, 0)).verdict());
  }

  @Test
  void aServerFarAwayIsWarnedOf() {
    warns(
        of(new PostgresProbe.Seen(SOUND, false, "", 0, 5, 20_001, 0)),
        "a round trip takes 20.0 ms");
  }

  @Test
  void aClockThatIsApartIsWarnedOf() {
    warns(of(new PostgresProbe.Seen(SOUND, false, "", 0, 5, 300, 5_001)), "5.0 s ahead of ours");
    warns(of(new PostgresProbe.Seen(SOUND, false, "", 0, 5, 300, -90_000)), "90.0 s behind ours");
    assertEquals(
        Verdict.OK, of(new PostgresProbe.Seen(SOUND, false, "", 0, 5, 300, 5_000)).verdict());
  }
}
