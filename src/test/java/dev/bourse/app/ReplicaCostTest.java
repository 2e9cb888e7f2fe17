package dev.bourse.app;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cost of one process for another on the same database, measured at the server. */
@OneEngine("only PostgreSQL is shared by several services")
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ReplicaCostTest {

  private static PostgresServer server;
  private static String url = "";
  private static RunningBourse here;

  /** Another process, with a database user of its own, by which its statements are identified. */
  private static RunningBourse there;

  @BeforeAll
  static void start(@TempDir Path data) throws Exception {
    server =
        PostgresServer.start(
            data.resolve("pg"), Map.of("shared_preload_libraries", "pg_stat_statements"));
    url = server.newDatabase();
    server.execute(url, "CREATE EXTENSION pg_stat_statements; CREATE ROLE there SUPERUSER LOGIN");
    here = demo(url);
    there = demo(url.replace("//postgres@", "//there@"));
  }

  /** A process waiting for a lease checks three times in its length, more than once a tick. */
  private static RunningBourse demo(String url) {
    return RunningBourse.demo("store.url=" + url, "market.lease=6s", "market.tick=6s");
  }

  @AfterAll
  static void stop() throws Exception {
    there.close();
    here.close();
    server.close();
  }

  private static long statements(String like) {
    try (Connection session = server.connect(url);
        java.sql.Statement asking = session.createStatement();
        ResultSet sum =
            asking.executeQuery(
                "SELECT COALESCE(SUM(s.calls), 0) FROM pg_stat_statements s"
                    + " JOIN pg_roles r ON r.oid = s.userid"
                    + " WHERE r.rolname = 'there' AND s.query LIKE '"
                    + like
                    + "'")) {
      sum.next();
      return sum.getLong(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aWriteIsReadThroughTheOtherThoughThatAsksTheServerNothing() throws Exception {
    int writes = 100;
    ClusterClient writing = new ClusterClient(here.as("acme", "orgwide"), "acme", "acme-train");
    ClusterClient reading =
        new ClusterClient(there.with(here.secret("acme", "orgwide")), "acme", "acme-train");
    writing.addKey();
    writing.declare(0, 2);
    until("the other knows the cluster", () -> reading.version() == 1);
    server.execute(url, "SELECT pg_stat_statements_reset()");
    for (int i = 0; i < writes; i++) {
      writing.declare(0, (201 + i) / 100.0);
    }
    until("the other knows the last write", () -> reading.version() == writes + 1);
    long asked = statements("WITH asked%") + statements("%FROM cluster c LEFT JOIN allocation%");
    // It polls for missed changes a few times a second, regardless of writes.
    assertTrue(asked < writes / 2, asked + " statements for " + writes + " writes");
  }

  // With a shorter lease a busy machine would lose it.
  @Test
  @Slow("waits for two looks, each two seconds after the one before")
  void whoWaitsForALeaseShowsThePricesOfItsHolderAndReadsNoNodesForThem() throws Exception {
    until("the holder has stored its quotes", () -> statements("SELECT quote FROM lease%") > 0);
    until("both show the same", () -> market(here).equals(market(there)));
    server.execute(url, "SELECT pg_stat_statements_reset()");
    until("it has looked twice", () -> statements("SELECT quote FROM lease%") >= 2);
    assertEquals(0, statements("%FROM node n WHERE n.pool%"));
    until("both show the same", () -> market(here).equals(market(there)));
  }

  /** The prices it shows for its pools, of one tick. */
  private static String market(RunningBourse process) {
    return process.with(here.secret("acme", "orgwide")).get("/api/market/feed").ok().encode();
  }
}
