package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Mints the first operator's token of a store that has none, and tells its secret in a file only
 * the service's user can read. Further ones are minted with it.
 */
final class FirstOperator {
  private static final String NAME = "first";

  private final Vertx vertx;
  private final Database database;
  private final Clock clock;
  private final RandomGenerator random;

  FirstOperator(Vertx vertx, Database database, Clock clock, RandomGenerator random) {
    this.vertx = vertx;
    this.database = database;
    this.clock = clock;
    this.random = random;
  }

  /** The secret is told before it is stored: a crash between leaves a useless one, not none. */
  Future<Void> mint(Operators operators, List<KeysFile> files) {
    if (!operators.isEmpty()) {
      return Future.succeededFuture();
    }
    TokenSecret secret = TokenSecret.mint(TokenSecret.Kind.OPERATOR, random);
    OperatorToken token =
        new OperatorToken(
            secret.tokenId(),
            NAME,
            HexFormat.of().formatHex(secret.sha256()),
            "system:start",
            clock.millis(),
            null);
    return vertx
        .executeBlocking(
            () -> {
              for (KeysFile file : files) {
                file.noteOperatorToken(secret.text());
              }
              return null;
            })
        .compose(
            told ->
                database.commit(
                    List.of(AccessStore.insert(token), OperatorTokenService.minting(token)),
                    List.of(new Change(Operators.CHANGED, token.tokenId()))))
        .compose(stored -> operators.load());
  }
}
