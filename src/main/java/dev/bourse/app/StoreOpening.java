package dev.bourse.app;

import dev.bourse.backup.DataFolderLayout;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.keyring.SecretConfig;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.Timekeeper;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.postgres.PostgresWholeStore;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import dev.bourse.store.sqlite.SqliteWholeStore;
import dev.bourse.store.transfer.WholeStore;
import dev.bourse.world.Seeding;
import dev.bourse.world.WorldFile;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the store and adds missing items of the world files. */
public final class StoreOpening {
  private static final Logger LOG = LoggerFactory.getLogger(StoreOpening.class);

  /** The log line for a shared database without a secret key. */
  public static final String NOTHING_SHARED =
      """
      no secret.key is given, so this process shares no secrets with others on the same \
      database: it signs members' tokens with a key in its own data folder, and mail that \
      waits is lost with it\
      """;

  /** The embedded store's file in the data folder. */
  private static final String SQLITE_FILE = "bourse.db";

  /** The class path folder of the embedded engine's schema. */
  private static final String SQLITE_SCHEMA = "db/schema";

  /** The layout of a data folder, for backups. */
  public static final DataFolderLayout EMBEDDED =
      new DataFolderLayout(SQLITE_FILE, SQLITE_SCHEMA, CheckpointServices.FOLDER);

  private static final String POSTGRES_SCHEMA = "db/schema";

  private final ServiceContext context;
  private final SqliteConfig bounds;
  private final UnaryOperator<Database> around;
  private final KeysFiles files;

  /** The seeds of the store, by the names of their files of tokens; read while the store opens. */
  private final Map<String, Future<WorldFile>> worlds = new LinkedHashMap<>();

  /**
   * Starts the preparations of an opening, without changes.
   *
   * @param bounds the bounds of the embedded store
   * @param around wraps the engine
   */
  StoreOpening(
      ServiceContext context,
      SqliteConfig bounds,
      UnaryOperator<Database> around,
      KeysFiles files) {
    this.context = context;
    this.bounds = bounds;
    this.around = around;
    this.files = files;
    if (context.config().postgres().isEmpty()) {
      SqliteDatabase.prepare(context.vertx(), SQLITE_SCHEMA);
    }
    if (context.demo()) {
      worlds.put(KeysFiles.DEMO, read(KeysFiles.DEMO, () -> resource("/world/demo.yaml")));
    }
    context
        .config()
        .world()
        .ifPresent(
            file ->
                worlds.put(
                    KeysFiles.WORLD, read(KeysFiles.WORLD, () -> Files.newBufferedReader(file))));
  }

  /** The store of a service with these settings, for an operator's command. */
  public static WholeStore whole(Config config, WholeStore.Purpose purpose) throws IOException {
    Clock clock = Clock.systemUTC();
    return config.postgres().isPresent()
        ? PostgresWholeStore.open(config.postgres().get(), POSTGRES_SCHEMA, clock, purpose)
        : SqliteWholeStore.open(
            config.data().resolve(SQLITE_FILE),
            SqliteConfig.defaults().accepting(config.acceptedDamage()),
            SQLITE_SCHEMA,
            clock,
            purpose);
  }

  /**
   * Opens and seeds the store.
   *
   * @param listener receives changes from the first one on
   */
  Future<Database> open(ChangeListener listener) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              DataFolder.open(context.config().data());
              return null;
            })
        .compose(opened -> openStore(listener));
  }

  private Future<Database> openStore(ChangeListener listener) {
    Config config = context.config();
    Future<? extends Database> opening =
        config.postgres().isPresent()
            ? PostgresDatabase.open(
                context.vertx(),
                config.postgres().get(),
                POSTGRES_SCHEMA,
                context.clock(),
                context.random())
            : SqliteDatabase.open(
                context.vertx(),
                config.data().resolve(SQLITE_FILE),
                bounds.accepting(config.acceptedDamage()),
                SQLITE_SCHEMA,
                context.clock());
    return opening.compose(
        engine -> {
          Database opened = around.apply(engine);
          context.shutdown().push(opened::close);
          opened.listen(listener);
          // Runs before any write by a clock that may be wrong.
          return context
              .time()
              .start(opened)
              .compose(
                  started -> {
                    context.keepUp(watchOf(context.time()));
                    return checkSecrets(opened);
                  })
              .compose(checked -> seed(opened))
              .map(opened);
        });
  }

  /** The job that watches the clocks. */
  static BackgroundJob watchOf(Timekeeper time) {
    return BackgroundJob.inEachProcess(
        "watch-clocks", "looking for steps of the clocks", Timekeeper.WATCH_MILLIS, time::watch);
  }

  /** Runs before the creation of secrets that should be encrypted. */
  private Future<Void> checkSecrets(Database database) {
    SecretConfig secret = context.config().secret();
    if (database.isShared() && secret.keyring().isEmpty()) {
      LOG.warn(NOTHING_SHARED);
    }
    return context.secrets(database).check(secret.giveUp());
  }

  private Future<Void> seed(Database database) {
    Future<Void> seeded = Future.succeededFuture();
    for (Map.Entry<String, Future<WorldFile>> one : worlds.entrySet()) {
      seeded =
          seeded
              .compose(done -> one.getValue())
              .compose(world -> seedOnce(database, one.getKey(), world));
    }
    return seeded;
  }

  /** Opens a world file. */
  private interface WorldSource {
    Reader open() throws IOException;
  }

  private Future<WorldFile> read(String name, WorldSource source) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              try (Reader reader = source.open()) {
                return WorldFile.read(name, reader);
              }
            },
            false);
  }

  /** Seeds the store, unless another process that started at the same time has seeded it. */
  private Future<Void> seedOnce(Database database, String name, WorldFile world) {
    return seed(database, name, world)
        .recover(e -> database.isShared() ? seed(database, name, world) : failed(e));
  }

  /**
   * Writes the secrets to the files before they are stored: a crash in between leaves useless
   * secrets rather than none.
   */
  private Future<Void> seed(Database database, String name, WorldFile world) {
    return new Seeding(database, context.clock(), context.random())
        .prepare(world)
        .compose(
            seeding ->
                writeSharedTokens(database, name)
                    .compose(
                        written ->
                            context
                                .vertx()
                                .executeBlocking(() -> files.find(name).merge(seeding.keys())))
                    .compose(
                        before ->
                            seeding
                                .commit(
                                    new TokenFilePublisher(context, database)
                                        .sharing(name, seeding.keys()))
                                .recover(
                                    e ->
                                        context
                                            .vertx()
                                            .executeBlocking(() -> files.find(name).restore(before))
                                            .compose(restored -> failed(e)))));
  }

  /** Writes the tokens that other processes created to this process's file. */
  private Future<Void> writeSharedTokens(Database database, String name) {
    return new TokenFilePublisher(context, database)
        .list(name)
        .compose(
            all ->
                context
                    .vertx()
                    .executeBlocking(
                        () -> {
                          for (JsonObject orgs : all) {
                            files.find(name).complete(orgs);
                          }
                          return null;
                        }));
  }

  private static Future<Void> failed(Throwable cause) {
    return Future.failedFuture(cause);
  }

  private static Reader resource(String name) throws IOException {
    InputStream stream = StoreOpening.class.getResourceAsStream(name);
    if (stream == null) {
      throw new IOException("the jar lacks " + name);
    }
    return new InputStreamReader(stream, StandardCharsets.UTF_8);
  }
}
