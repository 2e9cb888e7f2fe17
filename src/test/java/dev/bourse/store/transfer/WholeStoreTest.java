package dev.bourse.store.transfer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.postgres.PostgresConfig;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresUrl;
import dev.bourse.store.postgres.PostgresWholeStore;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteWholeStore;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Vertx;
import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All rows of a store, and the same rows on the other engine. */
class WholeStoreTest {
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(12_345), ZoneOffset.UTC);

  private final Path folder;

  WholeStoreTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private SqliteWholeStore sqlite(String name, WholeStore.Purpose purpose) throws Exception {
    return SqliteWholeStore.open(
        folder.resolve(name), SqliteConfig.defaults(), "db/schema", CLOCK, purpose);
  }

  private static PostgresWholeStore postgres(String url, WholeStore.Purpose purpose)
      throws Exception {
    return PostgresWholeStore.open(
        PostgresConfig.defaults(PostgresUrl.parse(url), ""), "db/schema", CLOCK, purpose);
  }

  private Connection jdbc(String name) throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve(name));
  }

  private void onSqlite(String name, String... sql) throws Exception {
    try (Connection connection = jdbc(name);
        Statement statement = connection.createStatement()) {
      for (String each : sql) {
        statement.execute(each);
      }
    }
  }

  private Path exported(WholeStore store) throws Exception {
    Path file = Files.createTempFile(folder, "export", ".ndjson");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      ExportWriter.write(store, out, CLOCK, (table, done, total) -> {});
    }
    return file;
  }

  private static List<TableSum> load(WholeStore store, Path file) throws Exception {
    try (ExportReader reader = ExportReader.open(file)) {
      return ExportLoader.load(store, reader, (table, done, total) -> {});
    }
  }

  private static List<TableSum> sums(WholeStore store) {
    return store.tables().stream()
        .map(table -> TableSum.of(store, table, (name, done, total) -> {}))
        .toList();
  }

  @Test
  void everyTableAndColumnOfTheCatalogueIsMovedOnBothEngines() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    List<StoredTable> ofSqlite;
    List<StoredTable> ofPostgres;
    try (WholeStore store = sqlite("all.db", WholeStore.Purpose.MIGRATE)) {
      store.migrate();
      ofSqlite = store.tables();
    }
    try (WholeStore store = postgres(url, WholeStore.Purpose.MIGRATE)) {
      store.migrate();
      ofPostgres = store.tables();
    }
    assertEquals(ofSqlite, ofPostgres);
    TreeSet<String> moved =
        ofSqlite.stream()
            .flatMap(t -> t.columns().stream().map(c -> t.name() + "." + c.name()))
            .collect(Collectors.toCollection(TreeSet::new));
    TreeSet<String> inSqlite = new TreeSet<>();
    try (Connection connection = jdbc("all.db");
        Statement statement = connection.createStatement();
        ResultSet columns =
            statement.executeQuery(
                """
                SELECT t.tbl_name || '.' || c.name FROM sqlite_schema t
                JOIN pragma_table_xinfo(t.tbl_name) c
                WHERE t.type = 'table' AND t.tbl_name <> 'migration'
                """)) {
      while (columns.next()) {
        inSqlite.add(columns.getString(1));
      }
    }
    assertEquals(inSqlite, moved);
    PostgresConfig config = PostgresConfig.defaults(PostgresUrl.parse(url), "");
    Vertx vertx = Vertx.vertx();
    PostgresDatabase database =
        PostgresDatabase.open(vertx, config, "db/schema", CLOCK, new Random()).await();
    TreeSet<String> inPostgres =
        new TreeSet<>(
            database
                .read(
                    "SELECT table_name || '.' || column_name AS found FROM"
                        + " information_schema.columns WHERE table_schema = 'public' AND table_name"
                        + " NOT IN"
                        // The server's own: transactions and snapshots have no meaning elsewhere.
                        + " ('migration', 'commit_log')",
                    List.of(),
                    row -> row.text("found"))
                .await());
    database.close().await();
    vertx.close().await();
    assertEquals(inPostgres, moved);
  }

  @Test
  void aTableComesAfterThoseItRefersTo() throws Exception {
    try (WholeStore store = sqlite("ordered.db", WholeStore.Purpose.MIGRATE)) {
      store.migrate();
      List<String> names = store.tables().stream().map(StoredTable::name).toList();
      assertTrue(names.indexOf("org") < names.indexOf("cluster"), names.toString());
      assertTrue(names.indexOf("cluster") < names.indexOf("allocation"), names.toString());
      assertTrue(names.indexOf("node") < names.indexOf("allocation"), names.toString());
    }
  }

  @Test
  void tablesThatReferToEachOtherInACircleAreRefusedByName() {
    Catalogue catalogue = new Catalogue();
    for (String table : List.of("a", "b", "c")) {
      catalogue.addColumn(table, "id", "INTEGER", 1);
    }
    catalogue.addReference("a", "b");
    catalogue.addReference("b", "a");
    assertEquals(
        "tables refer to each other in a circle: [a, b]",
        assertThrows(StoreRefusedException.class, catalogue::tables).getMessage());
  }

  @Test
  void aTableThisProgramHasNeverHeardOfIsMovedWithTextOfAllKindsBytesAndNulls() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    try (WholeStore store = sqlite("later.db", WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    }
    onSqlite(
        "later.db",
        "CREATE TABLE later (id INTEGER PRIMARY KEY, seal BLOB, note TEXT, part TEXT NOT NULL)",
        "CREATE TABLE later_part (name TEXT PRIMARY KEY)",
        "INSERT INTO later VALUES (-9223372036854775807, x'00ff', 'é\"\\\n€😀', 'b'),"
            + " (9223372036854775807, x'', '', 'B'), (3, NULL, NULL, 'a')",
        "INSERT INTO later_part VALUES ('b'), ('B'), ('a'), ('é'), ('Z'), ('ζ'), ('_')");
    Path file;
    List<TableSum> before;
    try (WholeStore store = sqlite("later.db", WholeStore.Purpose.READ)) {
      file = exported(store);
      before = sums(store);
    }
    try (WholeStore store = postgres(url, WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    }
    SharedPostgres.server()
        .execute(
            url,
            "CREATE TABLE later (part TEXT NOT NULL, note TEXT, seal BYTEA,"
                + " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)");
    SharedPostgres.server().execute(url, "CREATE TABLE later_part (name TEXT PRIMARY KEY)");
    try (WholeStore store = postgres(url, WholeStore.Purpose.FILL)) {
      assertEquals(before, load(store, file));
      assertEquals(before, sums(store));
      StoredTable later =
          store.tables().stream().filter(t -> t.name().equals("later")).findFirst().orElseThrow();
      List<List<@Nullable Object>> rows = new ArrayList<>();
      store.read(later, rows::add);
      assertArrayEquals(new byte[] {0, -1}, (byte[]) rows.get(0).get(3));
      assertEquals(
          Arrays.asList(3L, null, "a", null), rows.get(1), "by column: id, note, part, seal");
    }
  }

  @Test
  void aStoreThatDoesNotFitStoresNothing() throws Exception {
    try (WholeStore store = sqlite("full.db", WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    }
    onSqlite(
        "full.db",
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
            + " INSERT INTO audit SELECT i, 1, 'o', 'a', 'x', 's', hex(zeroblob(500)), 0 FROM n");
    Path file;
    try (WholeStore store = sqlite("full.db", WholeStore.Purpose.READ)) {
      file = exported(store);
    }
    Path small = folder.resolve("small.db");
    try (WholeStore store =
        SqliteWholeStore.open(
            small,
            new SqliteConfig(1, 1, 1, 1 << 20),
            "db/schema",
            CLOCK,
            WholeStore.Purpose.FILL)) {
      StoreUnavailableException fault =
          assertThrows(StoreUnavailableException.class, () -> load(store, file));
      assertTrue(String.valueOf(fault.getMessage()).contains("full"), fault.getMessage());
    }
    try (WholeStore store = sqlite("small.db", WholeStore.Purpose.FILL)) {
      assertEquals(3_000, load(store, file).stream().mapToLong(TableSum::rows).sum());
    }
  }

  @Test
  void aServerThatGoesAwayDuringAnImportKeepsNothing() throws Exception {
    String url = SharedPostgres.server().newDatabase();
    List<List<@Nullable Object>> row = List.of(Arrays.asList(1L, "writes"));
    try (WholeStore store = postgres(url, WholeStore.Purpose.FILL)) {
      store.migrate();
      StoredTable table =
          store.tables().stream().filter(t -> t.name().equals("switch")).findFirst().orElseThrow();
      store.begin();
      store.insert(table, 1, row);
      SharedPostgres.server().terminateSessions();
      StoreUnavailableException fault =
          assertThrows(StoreUnavailableException.class, store::commit);
      assertTrue(String.valueOf(fault.getMessage()).contains(" is lost"), fault.getMessage());
    }
    try (WholeStore store = postgres(url, WholeStore.Purpose.READ)) {
      assertTrue(sums(store).stream().allMatch(sum -> sum.rows() == 0));
    }
  }

  @Test
  void aValueOfAnotherKindThanItsColumnIsNotExportedAsSomethingElse() throws Exception {
    try (WholeStore store = sqlite("odd.db", WholeStore.Purpose.MIGRATE)) {
      store.migrate();
    }
    onSqlite("odd.db", "INSERT INTO switch VALUES ('writes', 'yes')");
    try (WholeStore store = sqlite("odd.db", WholeStore.Purpose.READ)) {
      assertEquals(
          "row 1 of table switch holds String in column is_on, which is for integer",
          assertThrows(StoreRefusedException.class, () -> exported(store)).getMessage());
    }
  }
}
