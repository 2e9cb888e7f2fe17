package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.contract.StrictJson;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import dev.bourse.core.TokenSecret;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The MCP contract's operations. */
public final class McpRoutes {
  /** The longest bid names 4,096 addresses of 64 characters; four times that. */
  private static final int MAX_MESSAGE_BYTES = 1_048_576;

  private static final String BEARER = "Bearer ";
  private static final String CHALLENGE = "www-authenticate";

  private final Supplier<McpService> service;
  private final Function<String, Principal> members;
  private final Supplier<String> baseUrl;

  /**
   * @param service asked for once requests are served
   * @param members the member an access token for this endpoint stands for; throws {@code
   *     unauthorized} for any other
   * @param baseUrl what clients call the service; asked for once requests are served
   */
  public McpRoutes(
      Supplier<McpService> service, Function<String, Principal> members, Supplier<String> baseUrl) {
    this.service = service;
    this.members = members;
    this.baseUrl = baseUrl;
  }

  public void bind(Operations operations) {
    operations.bind("sendMcpMessage", this::send).bind("endMcpSession", this::end);
  }

  private Future<Answer> send(Call call) {
    return asMember(
        call,
        caller ->
            call.bytes()
                .readJson(MAX_MESSAGE_BYTES)
                .compose(bytes -> answer(caller, head(call), bytes)));
  }

  private Future<Answer> end(Call call) {
    return asMember(
        call,
        caller ->
            refusing(() -> service.get().end(caller, head(call)))
                .map(ended -> (Answer) new Answer.Empty(204, Map.of()))
                .recover(e -> refused(caller, null, e)));
  }

  /** Who calls is known, may be here, and has requests left. */
  private Future<Answer> asMember(Call call, Function<Principal, Future<Answer>> then) {
    Optional<String> origin = call.header("Origin");
    if (origin.isPresent() && !Origins.isOwn(origin.get(), baseUrl.get())) {
      throw ApiError.of(
          ErrorCode.FORBIDDEN,
          "Origin " + Text.shown(origin.get()) + " is not this service; expected " + baseUrl.get());
    }
    String authorization = call.header("Authorization").orElse("");
    Principal caller;
    try {
      caller = members.apply(token(authorization));
    } catch (ApiError refused) {
      if (refused.code() != ErrorCode.UNAUTHORIZED) {
        throw refused;
      }
      return Future.succeededFuture(
          challenge(401, authorization.isEmpty() ? "" : "error=\"invalid_token\", ", refused));
    }
    return call.admit(caller).compose(admitted -> then.apply(caller));
  }

  private static String token(String authorization) {
    if (!authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      throw ApiError.of(
          ErrorCode.UNAUTHORIZED,
          "missing Authorization header; expected 'Bearer <token>' with a member's token for this"
              + " endpoint");
    }
    String token = authorization.substring(BEARER.length()).trim();
    TokenSecret.parse(token)
        .ifPresent(
            ofAnotherKind -> {
              throw ApiError.of(
                  ErrorCode.UNAUTHORIZED,
                  switch (ofAnotherKind.kind()) {
                        case ORGANIZATION -> "this is an organization's API token";
                        case OPERATOR -> "this is an operator's token";
                      }
                      + ", which the HTTP interface takes; members sign in here with OAuth, which"
                      + " the header WWW-Authenticate leads to");
            });
    return token;
  }

  /** RFC 9728: how a client finds out where to get a token. */
  private Answer challenge(int status, String more, ApiError refused) {
    return new Answer.Whole(
        status,
        Tools.json(refused).toBuffer(),
        null,
        Map.of(
            CHALLENGE,
            BEARER
                + more
                + "resource_metadata=\""
                + baseUrl.get()
                + "/.well-known/oauth-protected-resource/mcp\""));
  }

  private static Head head(Call call) {
    return new Head(
        header(call, "MCP-Protocol-Version"),
        header(call, "Mcp-Method"),
        header(call, "Mcp-Name"),
        header(call, "Mcp-Session-Id"));
  }

  private static Optional<String> header(Call call, String name) {
    return call.header(name).map(String::strip);
  }

  private Future<Answer> answer(Principal caller, Head head, byte[] bytes) {
    Object value;
    try {
      value = StrictJson.parse(bytes);
    } catch (ApiError notJson) {
      return refused(caller, null, RpcError.malformed(RpcError.PARSE_ERROR, notJson.detail()));
    }
    Object id = Message.readableId(value);
    return refusing(() -> service.get().answer(caller, head, Message.of(value)))
        .map(McpRoutes::json)
        .recover(e -> refused(caller, id, e));
  }

  private static <T> Future<T> refusing(Supplier<Future<T>> work) {
    try {
      return work.get();
    } catch (RpcError | ScopeMissing refused) {
      return Future.failedFuture(refused);
    }
  }

  private static Answer json(Reply reply) {
    JsonObject body = reply.body();
    return body == null
        ? new Answer.Empty(reply.status(), reply.headers())
        : new Answer.Whole(reply.status(), body.toBuffer(), null, reply.headers());
  }

  private Future<Answer> refused(Principal caller, @Nullable Object id, Throwable failure) {
    if (failure instanceof RpcError error) {
      return Future.succeededFuture(json(new Reply(error.status(), error.json(id), Map.of())));
    }
    if (failure instanceof ScopeMissing missing) {
      // With what it has: a client that asks for these anew must not lose others by it.
      String scopes =
          Stream.concat(caller.scopes().stream(), Stream.of(missing.scope()))
              .map(Scope::label)
              .distinct()
              .sorted()
              .collect(Collectors.joining(" "));
      return Future.succeededFuture(
          challenge(
              403,
              "error=\"insufficient_scope\", scope=\"" + scopes + "\", ",
              ApiError.of(ErrorCode.FORBIDDEN, String.valueOf(missing.getMessage()))));
    }
    return Future.failedFuture(failure);
  }
}
