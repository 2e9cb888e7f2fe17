package dev.bourse.store;

import dev.bourse.core.Digests;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that make a schema, applied in order, each in one commit together with the row of table
 * {@code migration} that records it. It knows no engine: a step is a list of statements.
 *
 * <p>A folder on the class path holds {@code 0001-name.sql}, {@code 0002-…} and a file {@code
 * migrations.index} naming them one a line, because a jar's folders cannot be listed portably. A
 * step is never edited after it was released: its digest is compared with the recorded one.
 *
 * <p>A step whose first line is {@code -- serves-from: N} only expands the schema: a program that
 * knows the first N steps can still be started on a store that has it. So a release can be taken
 * back. Without that line a program must know the step.
 */
public final class Migrations {
  private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);

  /** What the build makes of all steps of a folder. */
  public static final String WHOLE = "schema.sql";

  private static final Pattern FILE_NAME = Pattern.compile("(\\d{4})-([a-z0-9-]+)\\.sql");

  /** A statement ends with a semicolon at the end of a line, so triggers with a body cannot. */
  private static final Pattern STATEMENT_END = Pattern.compile(";[ \\t\\r]*(\\n|$)");

  private static final Pattern COMMENT_LINE = Pattern.compile("(?m)^[ \\t]*--.*$");

  private static final Pattern SERVES_FROM = Pattern.compile("-- serves-from: (\\d{1,4})\n");

  private record Step(
      int number, String name, String sha256, String sql, @Nullable Integer servesFrom) {}

  private record Applied(int number, String name, String sha256) {}

  /** Those read, by folder: what is in a jar does not change. */
  private static final Map<String, Migrations> READ = new ConcurrentHashMap<>();

  private final List<Step> steps;

  /** What all steps come to, if the folder has it. */
  private final @Nullable String whole;

  private Migrations(List<Step> steps, @Nullable String whole) {
    this.steps = steps;
    this.whole = whole;
  }

  /**
   * The steps of a folder such as {@code db/sqlite}. Blocks on the class path the first time.
   *
   * @throws IOException when a file is missing
   * @throws IllegalArgumentException when the index does not number its steps 1, 2, 3 …
   */
  public static Migrations load(String folder) throws IOException {
    Migrations known = READ.get(folder);
    if (known == null) {
      known = new Migrations(steps(folder), findResource(folder + "/" + WHOLE));
      READ.put(folder, known);
    }
    return known;
  }

  /** The same, for a new store to go through all steps too. */
  public static Migrations loadSteps(String folder) throws IOException {
    return new Migrations(steps(folder), null);
  }

  private static List<Step> steps(String folder) throws IOException {
    List<Step> steps = new ArrayList<>();
    for (String line : resource(folder + "/migrations.index").split("\n", -1)) {
      String fileName = line.strip();
      if (!fileName.isEmpty()) {
        Matcher parts = FILE_NAME.matcher(fileName);
        if (!parts.matches() || Integer.parseInt(parts.group(1)) != steps.size() + 1) {
          throw new IllegalArgumentException(
              folder + ": migration " + (steps.size() + 1) + " cannot be '" + fileName + "'");
        }
        String sql = resource(folder + "/" + fileName);
        int number = steps.size() + 1;
        steps.add(new Step(number, parts.group(2), sha256(sql), sql, servesFrom(number, sql)));
      }
    }
    return steps;
  }

  private static @Nullable Integer servesFrom(int number, String sql) {
    Matcher told = SERVES_FROM.matcher(sql);
    if (!told.lookingAt()) {
      return null;
    }
    int from = Integer.parseInt(told.group(1));
    if (from < 1 || from >= number) {
      throw new IllegalArgumentException(
          "migration %d cannot serve programs from step %d".formatted(number, from));
    }
    return from;
  }

  /** How many steps there are: the version this program's schema has. */
  public int version() {
    return steps.size();
  }

  /**
   * Brings a store up to date and tells the steps that were carried out. Those stored before a
   * failure stay. Fails with {@link StoreRefused} when the store has a step this program lacks, or
   * had another text for one of them.
   *
   * @param session one that no other process migrates beside
   */
  public Future<List<Migration>> apply(SchemaSession session, Clock clock) {
    return pending(session).compose(pending -> apply(session, clock, pending));
  }

  /**
   * The same for a program that is about to serve: it takes a newer store as well, when all that it
   * does not know there serves it still, and leaves that as it is.
   */
  public Future<List<Migration>> applyOrServe(SchemaSession session, Clock clock) {
    return applied(session)
        .compose(
            applied -> {
              checkDigests(applied);
              return applied.size() > steps.size()
                  ? serves(session).map(v -> List.of())
                  : apply(session, clock, lacking(applied));
            });
  }

  /** Fails where the store has a step that this program has to know and does not. */
  private Future<Void> serves(SchemaSession session) {
    return session
        .read(
            """
            SELECT number, name FROM migration
            WHERE number > ? AND (serves_from IS NULL OR serves_from > ?) ORDER BY number LIMIT 1\
            """,
            List.of(steps.size(), steps.size()),
            row -> new Migration(row.smallInteger("number"), row.text("name")))
        .map(
            unknown -> {
              if (!unknown.isEmpty()) {
                throw newer(unknown.get(0).number(), unknown.get(0).name());
              }
              LOG.warn(
                  "the store is newer than this program, which knows {} of its steps; it still"
                      + " serves it",
                  steps.size());
              return null;
            });
  }

  private Future<List<Migration>> apply(
      SchemaSession session, Clock clock, List<Migration> pending) {
    if (whole == null || pending.size() < steps.size()) {
      return goThrough(session, clock, pending).map(pending);
    }
    // One whose first step failed has the table, and nothing in it.
    return session
        .hasMigrationTable()
        .compose(
            has -> has ? goThrough(session, clock, pending) : session.commit(begun(whole, clock)))
        .map(pending);
  }

  /** What makes a new store, with the record of all steps. */
  private List<Statement> begun(String schema, Clock clock) {
    List<Statement> statements = new ArrayList<>(split(schema));
    steps.forEach(step -> statements.addAll(record(step, clock)));
    return statements;
  }

  private Future<Void> goThrough(SchemaSession session, Clock clock, List<Migration> pending) {
    Future<Void> done =
        session.commit(
            List.of(
                Statement.of(
                    """
                    CREATE TABLE IF NOT EXISTS migration (
                    number INTEGER PRIMARY KEY, name TEXT NOT NULL,
                    sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)\
                    """)));
    for (Step step : steps.subList(steps.size() - pending.size(), steps.size())) {
      done = done.compose(v -> session.commit(recorded(step, clock)));
    }
    return done;
  }

  /**
   * The steps a store lacks, in order; changes nothing. Fails as {@link #apply} does when the store
   * is not one this program can bring up to date.
   */
  public Future<List<Migration>> pending(SchemaSession session) {
    return applied(session)
        .map(
            applied -> {
              checkDigests(applied);
              if (applied.size() > steps.size()) {
                Applied unknown = applied.get(steps.size());
                throw newer(unknown.number, unknown.name);
              }
              return lacking(applied);
            });
  }

  private static Future<List<Applied>> applied(SchemaSession session) {
    return session
        .hasMigrationTable()
        .compose(
            has ->
                has
                    ? session.read(
                        "SELECT number, name, sha256 FROM migration ORDER BY number",
                        List.of(),
                        row ->
                            new Applied(
                                row.smallInteger("number"), row.text("name"), row.text("sha256")))
                    : Future.succeededFuture(List.of()));
  }

  private List<Migration> lacking(List<Applied> applied) {
    return steps.subList(applied.size(), steps.size()).stream()
        .map(step -> new Migration(step.number, step.name))
        .toList();
  }

  /** The version of an open store's schema: the number of the last step that made it. */
  public static Future<Long> readVersion(Database database) {
    return database.readOne(
        "SELECT MAX(number) AS version FROM migration", List.of(), row -> row.integer("version"));
  }

  private static List<Statement> recorded(Step step, Clock clock) {
    List<Statement> statements = new ArrayList<>(split(step.sql));
    statements.addAll(record(step, clock));
    return statements;
  }

  private static List<Statement> record(Step step, Clock clock) {
    List<Statement> statements = new ArrayList<>();
    statements.add(
        Statement.of(
            "INSERT INTO migration (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
            step.number,
            step.name,
            step.sha256,
            clock.millis()));
    if (step.servesFrom != null) {
      // A statement of its own: the column is there from the first step that says so.
      statements.add(
          Statement.of(
              "UPDATE migration SET serves_from = ? WHERE number = ?",
              step.servesFrom,
              step.number));
    }
    return statements;
  }

  private void checkDigests(List<Applied> applied) {
    for (int i = 0; i < Math.min(applied.size(), steps.size()); i++) {
      Applied had = applied.get(i);
      if (had.number != i + 1 || !had.sha256.equals(steps.get(i).sha256)) {
        throw StoreRefused.of(
            """
            the store was made by another program: its migration %d (%s) has digest %s, this \
            program's migration %s (%s) has %s\
            """,
            had.number, had.name, had.sha256, i + 1, steps.get(i).name, steps.get(i).sha256);
      }
    }
  }

  private StoreRefused newer(int number, String name) {
    return StoreRefused.of(
        "the store is newer than this program: it has migration %d (%s), this program knows %s",
        number, name, steps.size());
  }

  private static List<Statement> split(String sql) {
    List<Statement> statements = new ArrayList<>();
    for (String part : STATEMENT_END.split(COMMENT_LINE.matcher(sql).replaceAll(""), -1)) {
      if (!part.isBlank()) {
        statements.add(Statement.of(part.strip()));
      }
    }
    return statements;
  }

  private static String resource(String path) throws IOException {
    String found = findResource(path);
    if (found == null) {
      throw new IOException("the class path has no " + path);
    }
    return found;
  }

  private static @Nullable String findResource(String path) throws IOException {
    try (InputStream in = Migrations.class.getClassLoader().getResourceAsStream(path)) {
      return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String sha256(String text) {
    return HexFormat.of().formatHex(Digests.sha256(text.getBytes(StandardCharsets.UTF_8)));
  }
}
