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
 * Shares the tokens created at a start with the other processes of the store, each of which writes
 * them to files of its own. Without a secret key only the creating process writes them.
 */
final class TokenFilePublisher {
  /** Starts create tokens once or twice in a store's life, so there are few. */
  private static final String KIND = "told/";

  private static final int RANDOM_LENGTH = 8;

  private final ServiceContext context;
  private final SharedSecrets secrets;

  TokenFilePublisher(ServiceContext context, Database database) {
    this.context = context;
    this.secrets = context.secrets(database);
  }

  /**
   * Returns the statements that share tokens.
   *
   * @param file the name of the file for the tokens
   * @return statements for the commit that creates the tokens
   */
  List<Statement> sharing(String file, JsonObject tokens) {
    if (!secrets.isEnabled()) {
      return List.of();
    }
    // Names sort by time.
    String name =
        KIND
            + file
            + "/%014d-%s"
                .formatted(context.clock().millis(), Ids.base62(context.random(), RANDOM_LENGTH));
    return List.of(secrets.storing(name, tokens.toBuffer().getBytes()));
  }

  /** All entries shared for a file, the newest first. */
  Future<List<JsonObject>> list(String file) {
    return secrets.isEnabled()
        ? secrets
            .list(KIND + file + "/")
            .map(
                found -> {
                  List<JsonObject> all = new ArrayList<>();
                  found.values().forEach(tokens -> all.add(new JsonObject(Buffer.buffer(tokens))));
                  Collections.reverse(all);
                  return all;
                })
        : Future.succeededFuture(List.of());
  }
}
