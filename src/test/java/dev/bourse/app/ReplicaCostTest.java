package dev.bourse.app;

import static dev.bourse.testing.Polls.until;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.RunningBourse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one process costs another on the same database, as the server counts it. */
@OneEngine("only PostgreSQL is shared by several services")
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class ReplicaCostTest {
  private static PostgresServer server;
  private static String url = "";
  private static RunningBourse here;

  /** Another process, as a user of its own, by whom its statements are told from the others. */
  private static RunningBourse there;

  @BeforeAll
  static void start(@TempDir Path data) throws Exception {
    server =
        PostgresServer.start(
            data.resolve("pg"), Map.of("shared_preload_libraries", "pg_stat_statements"));
    url = server.newDatabase();
    server.execute(url, "CREATE EXTENSION pg_stat_statements; CREATE ROLE there SUPERUSER LOGIN");
    here = RunningBourse.demo("store.url=" + url);
    there = RunningBourse.demo("store.url=" + url.replace("//postgres@", "//there@"));
  }

  @AfterAll
  static void stop() throws Exception {
    there.close();
    here.close();
    server.close();
  }

  private static long statements(String like) throws Exception {
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
    // It looks for what it may have missed a few times a second, whether anybody writes or not.
    assertTrue(asked < writes / 2, asked + " statements for " + writes + " writes");
  }
}
