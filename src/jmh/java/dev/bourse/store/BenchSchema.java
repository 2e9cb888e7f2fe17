package dev.bourse.store;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The tables the store's benches write, shaped like the product's. */
final class BenchSchema {
  /** A folder with an empty index: the benches make their own tables. */
  static final String NO_MIGRATIONS = "db/none";

  private BenchSchema() {}

  static List<Statement> create() {
    return List.of(
        Statement.of(
            "CREATE TABLE cluster (name TEXT PRIMARY KEY, revision INTEGER NOT NULL,"
                + " max_gpus INTEGER NOT NULL, price_cents INTEGER NOT NULL)"),
        Statement.of(
            "CREATE TABLE activity (id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, cluster TEXT NOT"
                + " NULL, kind TEXT NOT NULL, actor TEXT NOT NULL, note TEXT)"),
        Statement.of(
            "CREATE TABLE audit (id INTEGER PRIMARY KEY, ts INTEGER NOT NULL, org_id TEXT NOT NULL,"
                + " actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT, detail TEXT, is_read"
                + " INTEGER NOT NULL)"));
  }

  static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** So many contexts, each of an event loop of its own as far as there are that many. */
  static Context[] contexts(Vertx vertx, int count) throws Exception {
    Context[] contexts = new Context[count];
    for (int i = 0; i < count; i++) {
      int index = i;
      await(
          vertx.deployVerticle(
              new VerticleBase() {
                @Override
                public Future<?> start() {
                  contexts[index] = context;
                  return Future.succeededFuture();
                }
              }));
    }
    return contexts;
  }
}
