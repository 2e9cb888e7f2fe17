package dev.bourse.app;

import dev.bourse.store.ChangeListener;
import dev.bourse.store.Database;
import dev.bourse.store.postgres.PostgresDatabase;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens the store and puts into it what the world files list and it lacks. */
final class StoreOpening {
  /** Where the embedded store is in the data folder, and the engines' schemas on the class path. */
  static final String SQLITE_FILE = "bourse.db";

  static final String SQLITE_SCHEMA = "db/sqlite";
  static final String POSTGRES_SCHEMA = "db/postgres";

  private final Ground ground;
  private final SqliteConfig bounds;
  private final KeysFiles files;

  /**
   * @param bounds those of the embedded store
   */
  StoreOpening(Ground ground, SqliteConfig bounds, KeysFiles files) {
    this.ground = ground;
    this.bounds = bounds;
    this.files = files;
  }

  /**
   * The store, seeded.
   *
   * @param listener hears of changes from the first on
   */
  Future<Database> open(ChangeListener listener) {
    return ground
        .vertx()
        .executeBlocking(
            () -> {
              DataFolder.open(ground.config().data());
              return null;
            })
        .compose(opened -> openStore(listener));
  }

  private Future<Database> openStore(ChangeListener listener) {
    Config config = ground.config();
    Future<? extends Database> opening =
        config.postgres().isPresent()
            ? PostgresDatabase.open(
                ground.vertx(),
                config.postgres().get(),
                POSTGRES_SCHEMA,
                ground.clock(),
                ground.random())
            : SqliteDatabase.open(
                ground.vertx(),
                config.data().resolve(SQLITE_FILE),
                bounds.accepting(config.acceptedDamage()),
                SQLITE_SCHEMA,
                ground.clock());
    return opening.compose(
        opened -> {
          ground.stops().push(opened::close);
          opened.listen(listener);
          // Before anything is written by a clock that may be wrong.
          return ground
              .time()
              .start(ground.vertx(), opened)
              .compose(
                  watching -> {
                    watching.start();
                    ground.stops().push(watching::stop);
                    return seed(opened);
                  })
              .map(opened);
        });
  }

  private Future<Void> seed(Database database) {
    Future<Void> seeded = Future.succeededFuture();
    if (ground.demo()) {
      seeded = seed(database, KeysFiles.DEMO, () -> resource("/world/demo.yaml"));
    }
    if (ground.config().world().isPresent()) {
      Path world = ground.config().world().get();
      seeded =
          seeded.compose(
              done -> seed(database, KeysFiles.WORLD, () -> Files.newBufferedReader(world)));
    }
    return seeded;
  }

  /** Opens a world file. */
  private interface WorldSource {
    Reader open() throws IOException;
  }

  private Future<Void> seed(Database database, String name, WorldSource source) {
    return ground
        .vertx()
        .executeBlocking(
            () -> {
              try (Reader reader = source.open()) {
                return World.read(name, reader);
              }
            })
        .compose(
            world ->
                seed(database, name, world)
                    // Another process that starts on the same store may have been first.
                    .recover(e -> database.isShared() ? seed(database, name, world) : failed(e)));
  }

  /** The secrets are told before they are stored: a crash between leaves useless ones, not none. */
  private Future<Void> seed(Database database, String name, World world) {
    return new Seeding(database, ground.clock(), ground.random())
        .prepare(world)
        .compose(
            seeding ->
                ground
                    .vertx()
                    .executeBlocking(() -> files.find(name).merge(seeding.keys()))
                    .compose(
                        before ->
                            seeding
                                .commit()
                                .recover(
                                    e ->
                                        ground
                                            .vertx()
                                            .executeBlocking(() -> files.find(name).restore(before))
                                            .compose(restored -> failed(e)))));
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
