package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.core.Times;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mints an operator's token at the start of a store that has none in force which may do all, and
 * tells its secret in a file only the service's user can read. Further ones are minted with it. It
 * expires, because whoever copied that file would else run the platform for good; once nobody is
 * left, the next start mints another, and so does one that {@code access.mint-operator} asks to.
 * Processes that share secrets tell it each in a file of its own.
 */
final class FirstOperator {
  private static final Logger LOG = LoggerFactory.getLogger(FirstOperator.class);

  private static final String NAME = "first";

  /** Names that other processes take in the meantime; a start makes one each. */
  private static final int TRIES = 5;

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
    if (!operators.isEmpty() && !context.config().access().mintsOperator()) {
      return told.list(KeysFiles.OPERATOR).compose(all -> complete(files, all));
    }
    return mint(files, TRIES).compose(minted -> operators.load());
  }

  private Future<Void> mint(List<KeysFile> files, int tries) {
    return database
        .read(
            "SELECT name FROM operator_token WHERE name LIKE ?",
            List.of(NAME + '%'),
            row -> row.text("name"))
        .compose(taken -> mint(files, freeName(Set.copyOf(taken))))
        .recover(
            e ->
                e instanceof NameTaken && tries > 1
                    ? mint(files, tries - 1)
                    : Future.failedFuture(e));
  }

  /** {@code first}, or where that is or was a token's, {@code first-2} and so on. */
  private static String freeName(Set<String> taken) {
    String name = NAME;
    for (int i = 2; taken.contains(name); i++) {
      name = NAME + '-' + i;
    }
    return name;
  }

  /** Another process took the name a moment ago. */
  private static final class NameTaken extends RuntimeException {
    private static final long serialVersionUID = 1;

    NameTaken() {
      super("the name is another token's", null, false, false);
    }
  }

  private Future<Void> mint(List<KeysFile> files, String name) {
    long now = context.clock().millis();
    long expiresAt = now + context.config().access().firstOperatorMillis();
    TokenSecret secret = TokenSecret.mint(TokenSecret.Kind.OPERATOR, context.random());
    OperatorToken token =
        new OperatorToken(
            secret.tokenId(),
            name,
            OperatorReach.ALL,
            HexFormat.of().formatHex(secret.sha256()),
            "system:start",
            now,
            expiresAt);
    List<Statement> statements =
        new ArrayList<>(
            told.sharing(KeysFiles.OPERATOR, new JsonObject().put(TOKEN, secret.text())));
    statements.add(AccessStore.insert(token, NameTaken::new));
    statements.add(OperatorTokenService.minting(token));
    return note(secret.text(), files)
        .compose(
            noted ->
                database.commit(
                    statements, List.of(new Change(Operators.CHANGED, token.tokenId()))))
        .onSuccess(
            stored ->
                LOG.info(
                    "the operator token {} is minted; it expires at {}: mint tokens of your own"
                        + " with it before",
                    name,
                    Times.rfc3339(expiresAt)));
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
