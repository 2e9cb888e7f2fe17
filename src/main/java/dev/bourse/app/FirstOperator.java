package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Mints the first operator's token of a store that has none, and tells its secret in a file only
 * the service's user can read. Further ones are minted with it. Processes that share secrets tell
 * it each in a file of its own.
 */
final class FirstOperator {
  private static final String NAME = "first";
  private static final String TOKEN = "operator_token";

  private final ServiceContext context;
  private final Database database;
  private final ToldTokens told;

  FirstOperator(ServiceContext context, Database database) {
    this.context = context;
    this.database = database;
    this.told = new ToldTokens(context, database);
  }

  /** The secret is told before it is stored: a crash between leaves a useless one, not none. */
  Future<Void> mint(Operators operators, List<KeysFile> files) {
    if (!operators.isEmpty()) {
      return told.list(KeysFiles.OPERATOR).compose(all -> complete(files, all));
    }
    TokenSecret secret = TokenSecret.mint(TokenSecret.Kind.OPERATOR, context.random());
    OperatorToken token =
        new OperatorToken(
            secret.tokenId(),
            NAME,
            OperatorReach.ALL,
            HexFormat.of().formatHex(secret.sha256()),
            "system:start",
            context.clock().millis(),
            null);
    List<Statement> statements =
        new ArrayList<>(
            told.sharing(KeysFiles.OPERATOR, new JsonObject().put(TOKEN, secret.text())));
    statements.add(AccessStore.insert(token));
    statements.add(OperatorTokenService.minting(token));
    return note(secret.text(), files)
        .compose(
            noted ->
                database.commit(
                    statements, List.of(new Change(Operators.CHANGED, token.tokenId()))))
        .compose(stored -> operators.load());
  }

  private Future<Void> note(String token, List<KeysFile> files) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              for (KeysFile file : files) {
                file.noteOperatorToken(token);
              }
              return null;
            });
  }

  /** Tells the token where none is told; an operator may have put another one in its place. */
  private Future<Void> complete(List<KeysFile> files, List<JsonObject> shared) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              for (JsonObject one : shared) {
                for (KeysFile file : files) {
                  if (!file.tellsOperatorToken()) {
                    file.noteOperatorToken(one.getString(TOKEN));
                  }
                }
              }
              return null;
            });
  }
}
