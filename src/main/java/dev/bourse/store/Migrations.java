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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies schema migrations in order, each in one commit together with its row in table {@code
 * migration}. Both engines run the same migrations; the session's {@link Dialect} translates the
 * statements.
 *
 * <p>A folder on the class path holds {@code 0056-baseline.sql}, {@code 0057-name.sql} … and a file
 * {@code migrations.index} naming them one a line, because a jar's folders cannot be listed
 * portably; {@link MigrationIndex} writes that of the service. The first is the baseline: a new
 * store begins with it, and a store that went through the steps before it continues with the next
 * one. A step is never edited after it was released: its digest is compared with the recorded one.
 *
 * <p>A migration whose first line is {@code -- serves-from: N} only expands the schema: a program
 * whose last migration is N can still start on a store that has it, so a release can be rolled
 * back. Without that line a program must know the migration. The line {@code -- for: postgres}, the
 * first or second, limits a migration to one engine.
 */
public final class Migrations {
  private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);

  static final String INDEX = "migrations.index";

  private static final Pattern FILE_NAME = Pattern.compile("(\\d{4})-([a-z0-9-]+)\\.sql");

  /** A statement ends with a semicolon at the end of a line, so triggers with a body cannot. */
  private static final Pattern STATEMENT_END = Pattern.compile(";[ \\t\\r]*(\\n|$)");

  private static final Pattern COMMENT_LINE = Pattern.compile("(?m)^[ \\t]*--.*$");

  private static final Pattern HEAD =
      Pattern.compile("(?:-- serves-from: (\\d{1,4})\n)?(?:-- for: ([a-z]+)\n)?");

  private record Step(
      int number,
      String name,
      String sha256,
      String sql,
      @Nullable Integer servesFrom,
      @Nullable Dialect only) {

    List<Statement> statements(Dialect dialect) {
      return only == null || only == dialect ? split(dialect.of(sql)) : List.of();
    }
  }

  private record Applied(int number, String name, String sha256) {}

  private static final String RECORD =
      """
      CREATE TABLE IF NOT EXISTS migration (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL,
      sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL, serves_from INTEGER)\
      """;

  /** Loaded migrations by folder; resources in a jar do not change. */
  private static final Map<String, Migrations> READ = new ConcurrentHashMap<>();

  private final List<Step> steps;

  private Migrations(List<Step> steps) {
    this.steps = steps;
  }

  /**
   * Loads the migrations of a folder such as {@code db/schema}. Blocks on the class path the first
   * time.
   *
   * @throws IOException if a file is missing
   * @throws IllegalArgumentException if the index has a gap in its numbers
   */
  public static Migrations load(String folder) throws IOException {
    Migrations known = READ.get(folder);
    if (known == null) {
      known = new Migrations(steps(folder));
      READ.put(folder, known);
    }
    return known;
  }

  private static List<Step> steps(String folder) throws IOException {
    List<Step> steps = new ArrayList<>();
    for (String line : resource(folder + '/' + INDEX).split("\n", -1)) {
      String fileName = line.strip();
      if (!fileName.isEmpty()) {
        Matcher parts = FILE_NAME.matcher(fileName);
        int number = parts.matches() ? Integer.parseInt(parts.group(1)) : 0;
        if (number < 1 || !(steps.isEmpty() || number == last(steps) + 1)) {
          throw new IllegalArgumentException(
              folder + ": the migration after " + last(steps) + " cannot be '" + fileName + "'");
        }
        String sql = resource(folder + "/" + fileName);
        steps.add(
            new Step(number, parts.group(2), sha256(sql), sql, servesFrom(number, sql), only(sql)));
      }
    }
    return steps;
  }

  private static @Nullable Integer servesFrom(int number, String sql) {
    String declared = head(sql).group(1);
    if (declared == null) {
      return null;
    }
    int from = Integer.parseInt(declared);
    if (from < 1 || from >= number) {
      throw new IllegalArgumentException(
          "migration %d cannot serve programs from step %d".formatted(number, from));
    }
    return from;
  }

  private static @Nullable Dialect only(String sql) {
    String said = head(sql).group(2);
    return said == null ? null : Dialect.valueOf(said.toUpperCase(Locale.ROOT));
  }

  private static Matcher head(String sql) {
    Matcher head = HEAD.matcher(sql);
    head.lookingAt();
    return head;
  }

  private static int last(List<Step> steps) {
    return steps.isEmpty() ? 0 : steps.get(steps.size() - 1).number;
  }

  /** Returns the number of the last migration, which is the schema version of this program. */
  public int version() {
    return last(steps);
  }

  private int baseline() {
    return steps.isEmpty() ? 0 : steps.get(0).number;
  }

  /**
   * Brings a store up to date and returns the applied migrations. Migrations applied before a
   * failure stay. Fails with {@link StoreRefusedException} if the store has a migration that this
   * program lacks, or one with another text.
   *
   * @param session a session that excludes migrations of other processes
   */
  public Future<List<Migration>> apply(SchemaSession session, Clock clock) {
    return pending(session).compose(pending -> apply(session, clock, pending));
  }

  /**
   * Brings a store up to date for a program that is about to serve. It also accepts a newer store
   * if each unknown migration declares that this program can start on it.
   */
  public Future<List<Migration>> applyOrServe(SchemaSession session, Clock clock) {
    return applied(session)
        .compose(
            applied -> {
              checkDigests(applied);
              return version(applied) > version()
                  ? serves(session).map(v -> List.of())
                  : apply(session, clock, lacking(applied));
            });
  }

  /** Fails if the store has a migration that this program has to know and does not. */
  private Future<Void> serves(SchemaSession session) {
    return session
        .read(
            """
            SELECT number, name FROM migration
            WHERE number > ? AND (serves_from IS NULL OR serves_from > ?) ORDER BY number LIMIT 1\
            """,
            List.of(version(), version()),
            row -> new Migration(row.smallInteger("number"), row.text("name")))
        .map(
            unknown -> {
              if (!unknown.isEmpty()) {
                throw newer(unknown.get(0).number(), unknown.get(0).name());
              }
              LOG.warn(
                  "the store is newer than this program, which knows migrations up to {}; the program can"
                      + " still serve it",
                  version());
              return null;
            });
  }

  /** Creates a new store in one commit, and applies missing migrations to an existing one. */
  private Future<List<Migration>> apply(
      SchemaSession session, Clock clock, List<Migration> pending) {
    List<Step> missing = steps.subList(steps.size() - pending.size(), steps.size());
    Future<Void> done = Future.succeededFuture();
    if (pending.size() == steps.size()) {
      List<Statement> all = new ArrayList<>(List.of(Statement.of(RECORD)));
      missing.forEach(step -> all.addAll(recorded(step, session.dialect(), clock)));
      done = session.commit(all);
    } else {
      for (Step step : missing) {
        done = done.compose(v -> session.commit(recorded(step, session.dialect(), clock)));
      }
    }
    return done.map(pending);
  }

  /**
   * Returns the migrations a store lacks, in order, without changes. Fails as {@link #apply} does
   * if this program cannot bring the store up to date.
   */
  public Future<List<Migration>> pending(SchemaSession session) {
    return applied(session)
        .map(
            applied -> {
              checkDigests(applied);
              applied.stream()
                  .filter(had -> had.number > version())
                  .findFirst()
                  .ifPresent(
                      unknown -> {
                        throw newer(unknown.number, unknown.name);
                      });
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
    return steps.stream()
        .filter(step -> step.number > version(applied))
        .map(step -> new Migration(step.number, step.name))
        .toList();
  }

  private static int version(List<Applied> applied) {
    return applied.isEmpty() ? 0 : applied.get(applied.size() - 1).number;
  }

  /** Returns the schema version of an open store: the number of its last migration. */
  public static Future<Long> readVersion(Database database) {
    return database.readOne(
        "SELECT MAX(number) AS version FROM migration", List.of(), row -> row.integer("version"));
  }

  private static List<Statement> recorded(Step step, Dialect dialect, Clock clock) {
    List<Statement> statements = new ArrayList<>(step.statements(dialect));
    statements.add(
        Statement.of(
            """
            INSERT INTO migration (number, name, sha256, applied_at, serves_from)
            VALUES (?, ?, ?, ?, ?)\
            """,
            step.number,
            step.name,
            step.sha256,
            clock.millis(),
            step.servesFrom));
    return statements;
  }

  /**
   * Compares digests. Migrations before the baseline are not checked because their files no longer
   * exist.
   */
  private void checkDigests(List<Applied> applied) {
    if (!applied.isEmpty() && version(applied) < baseline()) {
      Applied last = applied.get(applied.size() - 1);
      throw StoreRefusedException.of(
          """
          the store is too old for this program: its last migration is %d (%s), and this program \
          continues from %d; start a release that knows both first\
          """,
          last.number, last.name, baseline());
    }
    boolean isOfBaseline = !applied.isEmpty() && applied.get(0).number == baseline();
    for (Applied had : applied) {
      int place = had.number - baseline();
      if (place < (isOfBaseline ? 0 : 1) || place >= steps.size()) {
        continue;
      }
      Step step = steps.get(place);
      if (!had.sha256.equals(step.sha256)) {
        throw StoreRefusedException.of(
            """
            the store was made by another program: its migration %d (%s) has digest %s, this \
            program's migration %s (%s) has %s\
            """,
            had.number, had.name, had.sha256, step.number, step.name, step.sha256);
      }
    }
  }

  private StoreRefusedException newer(int number, String name) {
    return StoreRefusedException.of(
        "the store is newer than this program: it has migration %d (%s), this program knows %s",
        number, name, version());
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
