package dev.bourse.mcp;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Answers one message at a time, by the rules of its revision. */
public final class McpService {
  private static final String SERVER_INFO = "io.modelcontextprotocol/serverInfo";
  private static final String INITIALIZE = "initialize";

  private static final String INSTRUCTIONS =
      """
      Bourse is an exchange for GPU capacity. whoami names the organization's clusters and their \
      kinds; capacity_read shows what a cluster holds, market_read what capacity costs, \
      billing_read what it has cost. A tool that writes is called twice: with \
      phase=preview, whose answer the user should see, and with phase=confirm and the \
      preview's confirm_token. Shrinking releases nodes and destroys their local data. \
      A refusal names the tool that helps. \
      Prices are US dollars per GPU-hour.\
      """;

  /** Methods whose results change only with a deployment, and may be cached for some minutes. */
  private static final Set<String> CACHEABLE =
      Set.of(
          "server/discover",
          "tools/list",
          "prompts/list",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "skills/list",
          "skills/get");

  private static final long CACHEABLE_MILLIS = 300_000;

  /** A message with what its answer depends on. */
  private record Request(
      Principal caller, Toolsets toolsets, Message message, Consumer<Runnable> ifGone) {}

  private final ToolRegistry tools;
  private final Set<String> groups;
  private final Resources resources;
  private final Skills skills;
  private final Prompts prompts = new Prompts();
  private final HandshakeSessions sessions;
  private final String version;

  /**
   * @param tools in listed order
   * @param version the service's own
   * @param meeting prepares for calls about a cluster, by its name
   * @param translation makes a refusal of another package's exception
   */
  public McpService(
      List<Tool> tools,
      ServiceDescription reference,
      HandshakeSessions sessions,
      String version,
      Function<String, Future<Void>> meeting,
      Function<Throwable, Optional<ApiException>> translation) {
    this.tools = new ToolRegistry(tools, reference, meeting, translation);
    this.groups = reference.toolsets();
    this.resources = new Resources(reference);
    this.skills = new Skills(reference);
    this.sessions = sessions;
    this.version = version;
  }

  /**
   * Answers a message. Fails or throws with an {@link RpcException} when the message is not
   * acceptable, with {@link InsufficientScopeException} when the caller's token does not permit a
   * tool.
   *
   * @param toolsets the groups of tools that the address names; empty for all
   * @param ifGone accepts an action to run if the client disconnects before the answer
   */
  Future<McpReply> answer(
      Principal caller,
      McpHeaders headers,
      Optional<String> toolsets,
      Message message,
      Consumer<Runnable> ifGone) {
    Request request = new Request(caller, Toolsets.of(toolsets, groups), message, ifGone);
    boolean isStateless = StatelessRules.govern(headers, message);
    boolean standsAlone = headers.session().isEmpty() || isStateless;
    if (message.kind() == Message.Kind.RESPONSE && standsAlone) {
      throw RpcException.malformed(
          RpcException.INVALID_REQUEST,
          "this is a response, but nothing was asked; send a request");
    }
    if (message.kind() == Message.Kind.NOTIFICATION && standsAlone) {
      return Future.succeededFuture(McpReply.TAKEN);
    }
    if (isStateless) {
      StatelessRules.check(headers, message);
      return perform(ProtocolRevision.STATELESS, request);
    }
    if (message.method().equals(INITIALIZE)) {
      return Future.succeededFuture(initialize(caller, message));
    }
    String id =
        headers
            .session()
            .orElseThrow(
                () ->
                    RpcException.malformed(
                        RpcException.INVALID_REQUEST,
                        """
                        the header Mcp-Session-Id is missing; expected the one that initialize \
                        answered with, or revision %s\
                        """
                            .formatted(ProtocolRevision.STATELESS.label())));
    return sessions
        .find(caller, id)
        .compose(
            revision -> {
              requireSame(revision, headers);
              return message.kind() == Message.Kind.REQUEST
                  ? perform(revision, request)
                  : Future.succeededFuture(McpReply.TAKEN);
            });
  }

  private static void requireSame(ProtocolRevision ofSession, McpHeaders headers) {
    if (headers.revision().isPresent() && !headers.revision().get().equals(ofSession.label())) {
      throw RpcException.malformed(
          RpcException.INVALID_REQUEST,
          "MCP-Protocol-Version is %s but the session was begun with %s"
              .formatted(Text.shown(headers.revision().get()), ofSession.label()));
    }
  }

  /** Ends a session, in revisions with sessions. */
  Future<Void> end(Principal caller, McpHeaders headers) {
    return sessions.end(
        caller,
        headers
            .session()
            .orElseThrow(
                () ->
                    RpcException.malformed(
                        RpcException.INVALID_REQUEST, "the header Mcp-Session-Id is missing")));
  }

  private McpReply initialize(Principal caller, Message message) {
    String asked = message.text("protocolVersion");
    if (asked == null) {
      throw RpcException.invalidParams("params.protocolVersion is missing; expected text");
    }
    ProtocolRevision revision =
        ProtocolRevision.find(asked)
            .filter(known -> !known.isStateless())
            .orElse(ProtocolRevision.HANDSHAKE);
    JsonObject result =
        new JsonObject()
            .put("protocolVersion", revision.label())
            .put("capabilities", capabilities())
            .put("serverInfo", serverInfo())
            .put("instructions", INSTRUCTIONS);
    return new McpReply(
        200,
        message.answer(result.toBuffer()),
        Map.of("Mcp-Session-Id", sessions.begin(caller, revision)));
  }

  private static JsonObject capabilities() {
    return new JsonObject()
        .put("tools", new JsonObject())
        .put("resources", new JsonObject())
        .put("prompts", new JsonObject())
        .put("extensions", new JsonObject().put(Skills.EXTENSION, new JsonObject()));
  }

  private JsonObject serverInfo() {
    return new JsonObject().put("name", "bourse").put("title", "Bourse").put("version", version);
  }

  private Future<McpReply> perform(ProtocolRevision revision, Request request) {
    Message message = request.message();
    return encoded(revision, request)
        .map(result -> McpReply.of(message.answer(result)))
        .recover(
            e ->
                Future.failedFuture(
                    e instanceof RpcException || e instanceof InsufficientScopeException
                        ? e
                        : RpcException.internal(tools.refusalOf(e, message.method()))));
  }

  private Future<Buffer> encoded(ProtocolRevision revision, Request request) {
    Message message = request.message();
    if (!message.method().equals("tools/call")) {
      return result(revision, request)
          .map(result -> withMetadata(revision, message.method(), result).toBuffer());
    }
    return tools
        .call(request.caller(), request.toolsets(), message, request.ifGone())
        .map(called -> encoded(revision, called));
  }

  /**
   * The result contains a tool's answer twice: as text, and as structured content. The remedy of a
   * refusal is a text of its own.
   */
  private Buffer encoded(ProtocolRevision revision, ToolRegistry.Result called) {
    JsonArray content = new JsonArray().add(text(called.answer().toString()));
    called.remedy().ifPresent(remedy -> content.add(text(remedy)));
    JsonObject result = new JsonObject().put("content", content).put("isError", called.isRefusal());
    return EncodedJson.with(
        withMetadata(revision, "tools/call", result), "structuredContent", called.answer());
  }

  private static JsonObject text(String text) {
    return new JsonObject().put("type", "text").put("text", text);
  }

  private Future<JsonObject> result(ProtocolRevision revision, Request request) {
    Message message = request.message();
    return switch (message.method()) {
      case "tools/list" ->
          page(message, new JsonObject().put("tools", tools.list(request.toolsets())));
      case "resources/list" -> resources.list().compose(listed -> page(message, listed));
      case "resources/templates/list" -> page(message, resources.listTemplates());
      case "resources/read" -> resources.read(revision, message);
      case "skills/list" -> skills.list().compose(listed -> page(message, listed));
      case "skills/get" -> skills.get(message);
      case "prompts/list" -> page(message, prompts.list());
      case "prompts/get" -> Future.succeededFuture(prompts.get(message));
      default -> Future.succeededFuture(ofEra(revision, message.method()));
    };
  }

  private JsonObject ofEra(ProtocolRevision revision, String method) {
    if (revision.isStateless() && method.equals("server/discover")) {
      return new JsonObject()
          .put("supportedVersions", new JsonArray(ProtocolRevision.labels()))
          .put("capabilities", capabilities())
          .put("instructions", INSTRUCTIONS);
    }
    if (!revision.isStateless() && method.equals("ping")) {
      return new JsonObject();
    }
    throw RpcException.methodNotFound(revision, Text.shown(method));
  }

  /** Every list is one page, so no cursor was ever issued. */
  private static Future<JsonObject> page(Message message, JsonObject all) {
    if (message.params().getValue("cursor") != null) {
      throw RpcException.invalidParams("params.cursor: this list has one page and gave no cursor");
    }
    return Future.succeededFuture(all);
  }

  private JsonObject withMetadata(ProtocolRevision revision, String method, JsonObject result) {
    if (!revision.isStateless()) {
      return result;
    }
    result
        .put("resultType", "complete")
        .put("_meta", new JsonObject().put(SERVER_INFO, serverInfo()));
    return CACHEABLE.contains(method)
        ? result.put("ttlMs", CACHEABLE_MILLIS).put("cacheScope", "public")
        : result;
  }
}
