package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
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
    if (operators.isEmpty()) {
      // The limit does not count here: nobody could revoke a token to make room.
      return mint(files, false, TRIES).compose(minted -> operators.load());
    }
    if (!context.config().access().mintsOperator()) {
      return complete(operators, files);
    }
    return mint(files, true, TRIES)
        .compose(minted -> operators.load())
        .recover(
            e -> {
              if (!isRefusal(e)) {
                return Future.failedFuture(e);
              }
              LOG.warn("access.mint-operator mints no token: {}", e.getMessage());
              return complete(operators, files);
            });
  }

  private Future<Void> mint(List<KeysFile> files, boolean isLimited, int tries) {
    return database
        .read(
            "SELECT name FROM operator_token WHERE name LIKE ?",
            List.of(NAME + '%'),
            row -> row.text("name"))
        .compose(taken -> mint(files, isLimited, freeName(Set.copyOf(taken))))
        .recover(
            e ->
                e instanceof NameTaken && tries > 1
                    ? mint(files, isLimited, tries - 1)
                    : Future.failedFuture(e));
  }

  /** True if the commit was refused for sure, so that the token is not stored. */
  private static boolean isRefusal(Throwable e) {
    return e instanceof NameTaken
        || (e instanceof ApiError error && error.code() == ErrorCode.CONFLICT);
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

  private Future<Void> mint(List<KeysFile> files, boolean isLimited, String name) {
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
    if (isLimited) {
      statements.addAll(0, OperatorTokenService.demandingRoom(now));
    }
    statements.add(AccessStore.insert(token, NameTaken::new));
    statements.add(OperatorTokenService.minting(token));
    return note(secret.text(), files)
        .compose(
            before ->
                database
                    .commit(statements, List.of(new Change(Operators.CHANGED, token.tokenId())))
                    .recover(
                        e ->
                            (isRefusal(e) ? restore(before) : Future.<Void>succeededFuture())
                                .compose(restored -> Future.failedFuture(e))))
        .onSuccess(
            stored ->
                LOG.info(
                    "the operator token {} is minted; it expires at {}: mint tokens of your own"
                        + " with it before",
                    name,
                    Times.rfc3339(expiresAt)));
  }

  /** Returns what each file told before. */
  private Future<Map<KeysFile, JsonObject>> note(String token, List<KeysFile> files) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              Map<KeysFile, JsonObject> before = new LinkedHashMap<>();
              for (KeysFile file : files) {
                before.put(file, file.noteOperatorToken(token));
              }
              return before;
            });
  }

  private Future<Void> restore(Map<KeysFile, JsonObject> before) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              for (Map.Entry<KeysFile, JsonObject> file : before.entrySet()) {
                file.getKey().restore(file.getValue());
              }
              return null;
            });
  }

  /**
   * Tells the newest shared token that is live in each file that tells no token, or a shared one
   * that is not live any more. A token that an operator put into a file stays.
   */
  private Future<Void> complete(Operators operators, List<KeysFile> files) {
    return told.list(KeysFiles.OPERATOR)
        .compose(
            all -> {
              List<String> shared = all.stream().map(one -> one.getString(TOKEN)).toList();
              Optional<String> live = shared.stream().filter(operators::isLive).findFirst();
              return live.isEmpty()
                  ? Future.succeededFuture()
                  : context
                      .vertx()
                      .executeBlocking(
                          () -> {
                            complete(files, live.get(), stale(operators, shared));
                            return null;
                          });
            });
  }

  private static Set<String> stale(Operators operators, List<String> shared) {
    return shared.stream()
        .filter(token -> !operators.isLive(token))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static void complete(List<KeysFile> files, String live, Set<String> stale)
      throws IOException {
    for (KeysFile file : files) {
      Optional<String> token = file.operatorToken();
      if (token.isEmpty() || stale.contains(token.get())) {
        file.noteOperatorToken(live);
      }
    }
  }
}
