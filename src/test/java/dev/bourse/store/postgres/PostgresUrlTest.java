package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostgresUrlTest {
  private static String fault(String url) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> PostgresUrl.parse(url)).getMessage());
  }

  @Test
  void anAddressIsReadAsPostgresqlUsersWriteIt(@TempDir Path folder) throws Exception {
    Path authority = Files.createFile(folder.resolve("ca.pem"));
    assertEquals(
        new PostgresUrl(
            List.of(new PostgresUrl.Host("db.example", 6432)),
            "my base",
            "al@ice",
            "p:w+/",
            PostgresUrl.Tls.VERIFY_FULL,
            Optional.of(authority)),
        PostgresUrl.parse(
            "postgresql://al%40ice:p:w+%2F@db.example:6432/my%20base?sslmode=verify-full"
                + "&sslrootcert="
                + authority));
    PostgresUrl plain = PostgresUrl.parse("postgres://bourse@[::1]/exchange");
    assertEquals(List.of(new PostgresUrl.Host("::1", 5432)), plain.hosts());
    assertEquals(PostgresUrl.Tls.PREFER, plain.tls());
    assertEquals("postgres://bourse@::1:5432/exchange", plain.toString());
  }

  @Test
  void severalHostsAreReadAsLibpqReadsThem() {
    PostgresUrl pair =
        PostgresUrl.parse(
            "postgres://bourse:a,b@one:6432,[::1],two.example/exchange?target_session_attrs=read-write");
    assertEquals(
        List.of(
            new PostgresUrl.Host("one", 6432),
            new PostgresUrl.Host("::1", 5432),
            new PostgresUrl.Host("two.example", 5432)),
        pair.hosts());
    assertEquals("a,b", pair.password());
    assertEquals("postgres://bourse@one:6432,::1:5432,two.example:5432/exchange", pair.toString());
    assertEquals("no host", fault("postgres://bourse@one,,two/exchange"));
    assertEquals("no host", fault("postgres://bourse@one,two:port/exchange"));
    assertEquals("9 hosts; at most 8", fault("postgres://b@a,b,c,d,e,f,g,h,i/exchange"));
    assertEquals(
        "target_session_attrs 'any' is not read-write, which the store needs",
        fault("postgres://bourse@one,two/exchange?target_session_attrs=any"));
    assertEquals(
        "postgres://b:***@one,two/db", PostgresUrl.withoutPassword("postgres://b:x@one,two/db"));
  }

  @Test
  void aFaultyAddressIsRefusedSayingWhatIsWrong() {
    assertEquals("no host", fault("postgres://" + "/exchange"));
    assertEquals("no user", fault("postgres://db/exchange"));
    assertEquals("no database", fault("postgres://bourse@db"));
    assertEquals(
        "unknown parameter 'ssl'; choose sslmode, sslrootcert or target_session_attrs",
        fault("postgres://bourse@db/exchange?ssl=true"));
    assertEquals(
        "sslmode 'on' is not valid; choose one of disable, prefer, require, verify-ca, verify-full",
        fault("postgres://bourse@db/exchange?sslmode=on"));
    assertEquals(
        "sslmode=verify-ca needs sslrootcert=FILE",
        fault("postgres://bourse@db/exchange?sslmode=verify-ca"));
  }

  @Test
  void aPasswordComesFromAFileOrTheEnvironmentAndIsNeverShown(@TempDir Path folder)
      throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "from file\n");
    String url = "postgres://bourse:inline@db/exchange";
    PostgresConfig byFile =
        PostgresConfig.from(
                new Settings(
                    Map.of("store.url", url, "store.password-file", file.toString()), Map.of()))
            .orElseThrow();
    assertEquals("from file", byFile.password());
    assertFalse(byFile.toString().contains("from file"));
    assertEquals(
        "from environment",
        PostgresConfig.from(
                new Settings(
                    Map.of("store.url", url), Map.of("BOURSE_STORE_PASSWORD", "from environment")))
            .orElseThrow()
            .password());
    Settings faulty = new Settings(Map.of("store.url", "postgres://b:secret@db"), Map.of());
    assertTrue(PostgresConfig.from(faulty).isEmpty());
    assertEquals(
        List.of(
            "store.url: 'postgres://b:***@db' is not acceptable; expected"
                + " postgres://user@host:port[,host:port]/database (no database)"),
        faulty.faults());
  }

  @Test
  void aSessionsNameFitsWhatTheServerKeeps() {
    assertEquals("bourse db-1:77 writer", PostgresConfig.applicationName("db-1:77", "writer"));
    String cut = PostgresConfig.applicationName("x".repeat(60) + ":77", "reader 3");
    assertEquals(63, cut.length());
    assertTrue(cut.startsWith("bourse xxx") && cut.endsWith("xxx:77 reader 3"), cut);
  }

  @Test
  void placeholdersAreNumberedExceptInQuotesAndComments() {
    PostgresSql sql =
        PostgresSql.of("SELECT '?''?', \"a?\" /* ? */ FROM t WHERE a = ? AND b IN (?, ?) -- ?");
    assertEquals(
        "SELECT '?''?', \"a?\" /* ? */ FROM t WHERE a = $1 AND b IN ($2, $3) -- ?", sql.text());
    assertEquals(3, sql.parameters());
  }
}
