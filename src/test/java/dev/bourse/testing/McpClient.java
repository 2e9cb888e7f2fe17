package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.MemberToken;
import dev.bourse.access.Scope;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A client of the MCP endpoint, of the revision in which every request stands alone. */
public final class McpClient {
  public static final String STATELESS = "2026-07-28";
  public static final String ENDPOINT = "/mcp";

  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setDraft(Draft.DRAFT202012)
          .setBaseUri("app://test")
          .setOutputFormat(OutputFormat.Basic);

  private final ApiClient caller;
  private final String address;
  private @Nullable JsonArray tools;

  public McpClient(ApiClient caller) {
    this(caller, ENDPOINT);
  }

  private McpClient(ApiClient caller, String address) {
    this.caller = caller;
    this.address = address;
  }

  /** The same member at another address of the endpoint. */
  public McpClient at(String other) {
    return new McpClient(caller, other);
  }

  /** A member who may do everything. */
  public static McpClient of(RunningBourse bourse, String org, String username) {
    return of(bourse, org, username, EnumSet.allOf(Scope.class));
  }

  public static McpClient of(RunningBourse bourse, String org, String username, Set<Scope> scopes) {
    return new McpClient(bourse.with(token(bourse, org, username, scopes)));
  }

  /** A member with this scope alone; one who may do everything else is told that it lacks. */
  public static McpClient needing(
      RunningBourse bourse, Scope scope, String tool, JsonObject arguments) {
    HttpAnswer answer =
        of(bourse, "acme", "alice", EnumSet.complementOf(EnumSet.of(scope)))
            .send("tools/call", new JsonObject().put("name", tool).put("arguments", arguments));
    answer.refused(ErrorCode.FORBIDDEN);
    assertTrue(answer.header("www-authenticate").contains(scope.label()), scope.label());
    return of(bourse, "acme", "alice", EnumSet.of(scope));
  }

  /** An access token for the endpoint. */
  public static String token(RunningBourse bourse, String org, String username, Set<Scope> scopes) {
    return bourse
        .service()
        .memberTokens()
        .issue(
            new MemberToken(
                org,
                username,
                bourse.service().baseUrl() + ENDPOINT,
                scopes,
                "client-1",
                "",
                600_000));
  }

  public ApiClient caller() {
    return caller;
  }

  public static JsonObject meta() {
    return new JsonObject()
        .put("io.modelcontextprotocol/protocolVersion", STATELESS)
        .put("io.modelcontextprotocol/clientCapabilities", new JsonObject());
  }

  /** Sends a request with the headers it needs. */
  public HttpAnswer send(String method, JsonObject params) {
    JsonObject all = params.copy().put("_meta", meta());
    List<String> headers =
        new ArrayList<>(List.of("MCP-Protocol-Version", STATELESS, "Mcp-Method", method));
    String name = params.getString("name", params.getString("uri"));
    if (name != null) {
      headers.add("Mcp-Name");
      headers.add(name);
    }
    return post(request(method, all), headers.toArray(new String[0]));
  }

  public static JsonObject request(String method, JsonObject params) {
    return new JsonObject()
        .put("jsonrpc", "2.0")
        .put("id", 7)
        .put("method", method)
        .put("params", params);
  }

  /** Sends a body as it is. */
  public HttpAnswer post(JsonObject body, String... headers) {
    List<String> all = new ArrayList<>(List.of(headers));
    all.add("Content-Type");
    all.add("application/json");
    all.add("Accept");
    all.add("application/json, text/event-stream");
    return caller.send("POST", address, body.encode(), all.toArray(new String[0]));
  }

  /** The result of a request that succeeds. */
  public JsonObject result(String method, JsonObject params) {
    JsonObject answer = send(method, params).ok();
    assertEquals(7, answer.getInteger("id"));
    assertTrue(answer.containsKey("result"), answer.encode());
    return answer.getJsonObject("result");
  }

  public JsonObject result(String method) {
    return result(method, new JsonObject());
  }

  /** The error of a request that is refused with this status and code. */
  public JsonObject error(int status, int code, String method, JsonObject params) {
    return error(status, code, send(method, params));
  }

  public static JsonObject error(int status, int code, HttpAnswer answer) {
    assertEquals(status, answer.status(), String.valueOf(answer.body()));
    JsonObject error = answer.json().getJsonObject("error");
    assertEquals(code, error.getInteger("code"), answer.json().encode());
    return error;
  }

  /** The names of the tools, in order. */
  public List<String> toolNames() {
    return ClusterClient.objects(tools()).stream().map(tool -> tool.getString("name")).toList();
  }

  public JsonArray tools() {
    JsonArray known = tools;
    if (known == null) {
      known = result("tools/list").getJsonArray("tools");
      tools = known;
    }
    return known;
  }

  /** The result of a call, held against the tool's output schema. */
  public JsonObject call(String tool, JsonObject arguments) {
    JsonObject result =
        result("tools/call", new JsonObject().put("name", tool).put("arguments", arguments));
    JsonObject structured = result.getJsonObject("structuredContent");
    assertEquals(
        structured.encode(),
        result.getJsonArray("content").getJsonObject(0).getString("text"),
        "the same for clients that read text");
    JsonObject schema =
        ClusterClient.objects(tools()).stream()
            .filter(one -> one.getString("name").equals(tool))
            .findFirst()
            .orElseThrow()
            .getJsonObject("outputSchema");
    OutputUnit outcome =
        Validator.create(JsonSchema.of(schema.copy()), OPTIONS).validate(structured);
    assertEquals(true, outcome.getValid(), structured.encode() + " " + outcome.toJson());
    return result;
  }

  /** What a tool answers that does what is asked. */
  public JsonObject ok(String tool, JsonObject arguments) {
    JsonObject result = call(tool, arguments);
    assertEquals(false, result.getBoolean("isError"), result.encode());
    return result.getJsonObject("structuredContent");
  }

  /** What a tool answers that refuses with this code. */
  public JsonObject refused(String tool, JsonObject arguments, ErrorCode code) {
    JsonObject result = call(tool, arguments);
    JsonObject refusal = result.getJsonObject("structuredContent");
    assertEquals(true, result.getBoolean("isError"), result.encode());
    assertEquals(code.code(), refusal.getString("error"), refusal.encode());
    return refusal;
  }

  /** The arguments of a preview of a bid. */
  public static JsonObject bid(String cluster, int gpus, double price) {
    return new JsonObject()
        .put("kind", "vm")
        .put("phase", "preview")
        .put("cluster", cluster)
        .put("max_gpus", gpus)
        .put("max_price_per_gpu_hour", price);
  }

  /** The arguments of the confirm that follows a preview. */
  public static JsonObject confirm(JsonObject arguments, JsonObject preview) {
    return arguments
        .copy()
        .put("phase", "confirm")
        .put("confirm_token", preview.getString("confirm_token"));
  }

  public static JsonObject read(String path) {
    return new JsonObject().put("path", path);
  }
}
