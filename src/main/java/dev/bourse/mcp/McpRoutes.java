package dev.bourse.mcp;

import dev.bourse.core.ApiException;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.json.StrictJson;
import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The MCP contract's operations. */
public final class McpRoutes {
  /** The longest bid names 4,096 addresses of 64 characters; this is four times as much. */
  private static final int MAX_MESSAGE_BYTES = 1_048_576;

  private final Supplier<McpService> service;

  /**
   * @param service read when requests are served
   */
  public McpRoutes(Supplier<McpService> service) {
    this.service = service;
  }

  public void bind(Operations operations) {
    operations.bind("sendMcpMessage", this::send).bind("endMcpSession", this::end);
  }

  private Future<Answer> send(Call call) {
    return call.readJson(MAX_MESSAGE_BYTES).compose(bytes -> answer(call, headers(call), bytes));
  }

  private Future<Answer> end(Call call) {
    return answering(
        null,
        () -> service.get().end(call.principal(), headers(call)).map(ended -> McpReply.NO_CONTENT));
  }

  private static McpHeaders headers(Call call) {
    return new McpHeaders(
        header(call, "MCP-Protocol-Version"),
        header(call, "Mcp-Method"),
        header(call, "Mcp-Name"),
        header(call, "Mcp-Session-Id"));
  }

  private static Optional<String> header(Call call, String name) {
    return call.header(name).map(String::strip);
  }

  private Future<Answer> answer(Call call, McpHeaders headers, byte[] bytes) {
    Object value;
    try {
      value = StrictJson.parse(bytes);
    } catch (ApiException notJson) {
      RpcException error = RpcException.malformed(RpcException.PARSE_ERROR, notJson.detail());
      return Future.succeededFuture(answer(error.reply(null)));
    }
    Object id = Message.readableId(value);
    return answering(
        id,
        () ->
            service
                .get()
                .answer(
                    call.principal(),
                    headers,
                    call.findText(Toolsets.PARAMETER),
                    Message.of(value, id),
                    call::ifGone));
  }

  /** Reports faults of a message in the protocol's format; other failures take the usual one. */
  private static Future<Answer> answering(@Nullable Object id, Supplier<Future<McpReply>> work) {
    return Future.succeededFuture()
        .compose(begun -> work.get())
        .recover(
            e ->
                e instanceof RpcException error
                    ? Future.succeededFuture(error.reply(id))
                    : Future.failedFuture(e))
        .map(McpRoutes::answer);
  }

  private static Answer answer(McpReply reply) {
    return reply.body() == null
        ? new Answer.Empty(reply.status(), reply.headers())
        : new Answer.Whole(reply.status(), reply.body(), null, reply.headers());
  }
}
