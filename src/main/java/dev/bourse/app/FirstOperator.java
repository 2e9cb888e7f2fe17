package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.OperatorReach;
import dev.bourse.access.OperatorToken;
import dev.bourse.access.OperatorTokenService;
import dev.bourse.access.Operators;
import dev.bourse.core.ApiException;
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
 * Mints an operator's token when a store has no live one with all permissions, and writes its
 * secret to a file readable only by the service's user. Operators mint further tokens with it. It
 * expires, because the file could have been copied; when no such token is live any more, the next
 * start mints another, as does a start with {@code access.mint-operator}. Each process that shares
 * secrets writes it to a file of its own.
 */
final class FirstOperator {
  private static final Logger LOG = LoggerFactory.getLogger(FirstOperator.class);

  private static final String NAME = "first";

  /**
   * Attempts to find a free name while other starting processes take names; each start takes one.
   */
  private static final int TRIES = 5;

  private static final String TOKEN = "operator_token";

  private final ServiceContext context;
  private final Database database;
  private final TokenFilePublisher publisher;

  FirstOperator(ServiceContext context, Database database) {
    this.context = context;
    this.database = database;
    this.publisher = new TokenFilePublisher(context, database);
  }

  /**
   * Writes the secret to the files before it is stored: a crash in between leaves a useless secret
   * rather than none.
   */
  Future<Void> mint(Operators operators, List<KeysFile> files) {
    if (operators.isEmpty()) {
      // Ignores the limit of tokens, because nobody could revoke one to make room.
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
              LOG.warn("access.mint-operator did not mint a token: {}", e.getMessage());
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
                e instanceof TokenNameTakenException && tries > 1
                    ? mint(files, isLimited, tries - 1)
                    : Future.failedFuture(e));
  }

  /** True if the commit was certainly rejected, so that the token is not stored. */
  private static boolean isRefusal(Throwable e) {
    return e instanceof TokenNameTakenException
        || (e instanceof ApiException error && error.code() == ErrorCode.CONFLICT);
  }

  /** {@code first}, or {@code first-2} and so on if that name is or was taken. */
  private static String freeName(Set<String> taken) {
    String name = NAME;
    for (int i = 2; taken.contains(name); i++) {
      name = NAME + '-' + i;
    }
    return name;
  }

  /** Another process took the name a moment ago. */
  private static final class TokenNameTakenException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TokenNameTakenException() {
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
            publisher.sharing(KeysFiles.OPERATOR, new JsonObject().put(TOKEN, secret.text())));
    if (isLimited) {
      statements.addAll(0, OperatorTokenService.requireRoom(now));
    }
    statements.add(AccessStore.insert(token, TokenNameTakenException::new));
    statements.add(OperatorTokenService.mintRow(token));
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
                    "operator token {} minted; it expires at {}: mint your own tokens"
                        + " with it before",
                    name,
                    Times.rfc3339(expiresAt)));
  }

  /**
   * Writes the token to the files.
   *
   * @return the previous content of each file
   */
  private Future<Map<KeysFile, JsonObject>> note(String token, List<KeysFile> files) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              Map<KeysFile, JsonObject> before = new LinkedHashMap<>();
              for (KeysFile file : files) {
                before.put(file, file.writeOperatorToken(token));
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
   * Writes the newest live shared token to each file without a token or with a shared token that is
   * no longer live. A token that an operator put into a file stays.
   */
  private Future<Void> complete(Operators operators, List<KeysFile> files) {
    return publisher
        .list(KeysFiles.OPERATOR)
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
        file.writeOperatorToken(live);
      }
    }
  }
}
