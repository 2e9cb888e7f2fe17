package dev.bourse.app;

import dev.bourse.core.Ids;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What the data folder's files tell of tokens made at a start, for the other processes of the
 * store: whichever makes them, each tells them in files of its own. Without a secret key only the
 * process that made them does.
 */
final class ToldTokens {
  /** A start makes something once or twice in a store's life, so these are few. */
  private static final String KIND = "told/";

  private static final int RANDOM_LENGTH = 8;

  private final ServiceContext context;
  private final SharedSecrets secrets;

  ToldTokens(ServiceContext context, Database database) {
    this.context = context;
    this.secrets = context.secrets(database);
  }

  /**
   * Shares something.
   *
   * @param file the name of the file that tells it
   * @return what the commit that makes it has to store
   */
  List<Statement> sharing(String file, JsonObject told) {
    if (!secrets.isEnabled()) {
      return List.of();
    }
    // Names sort by time.
    String name =
        KIND
            + file
            + "/%014d-%s"
                .formatted(context.clock().millis(), Ids.base62(context.random(), RANDOM_LENGTH));
    return List.of(secrets.storing(name, told.toBuffer().getBytes()));
  }

  /** All that was shared for a file, the newest first. */
  Future<List<JsonObject>> list(String file) {
    return secrets.isEnabled()
        ? secrets
            .list(KIND + file + "/")
            .map(
                found -> {
                  List<JsonObject> all = new ArrayList<>();
                  found.values().forEach(told -> all.add(new JsonObject(Buffer.buffer(told))));
                  Collections.reverse(all);
                  return all;
                })
        : Future.succeededFuture(List.of());
  }
}
