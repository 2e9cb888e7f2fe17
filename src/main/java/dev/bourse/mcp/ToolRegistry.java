package dev.bourse.mcp;

import dev.bourse.access.InsufficientScopeException;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Text;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The registry of tools. */
final class ToolRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(ToolRegistry.class);

  /** How tools name the cluster that a call is about. */
  private static final String CLUSTER = "cluster";

  /**
   * @param toolset the group that the tool is in; empty for one that every client gets
   */
  private record RegisteredTool(
      Tool tool, Optional<String> toolset, JsonObject definition, ServiceDescription.Check check) {}

  /**
   * The result of a call.
   *
   * @param answer the tool's answer, or the refusal: a JSON object, encoded
   * @param remedy the text about a tool that helps with a refusal; empty when none does
   */
  record Result(Buffer answer, boolean isRefusal, Optional<String> remedy) {}

  private final Map<String, RegisteredTool> byName = new LinkedHashMap<>();
  private final Function<Throwable, Optional<ApiException>> translation;
  private final Function<String, Future<Void>> meeting;

  /**
   * @param tools in the order they are listed
   * @param meeting prepares for calls about a cluster, by its name
   * @param translation makes a refusal of another package's exception
   */
  ToolRegistry(
      List<Tool> tools,
      ServiceDescription reference,
      Function<String, Future<Void>> meeting,
      Function<Throwable, Optional<ApiException>> translation) {
    this.meeting = meeting;
    this.translation = translation;
    for (Tool tool : tools) {
      JsonObject said = reference.tool(tool.name());
      JsonObject input = said.getJsonObject("input");
      JsonObject definition =
          new JsonObject()
              .put("name", tool.name())
              .put("title", said.getString("title"))
              .put("description", tool.describe(said.getString("description")).strip())
              .put("inputSchema", input)
              .put("outputSchema", orRefusal(outputs(said, reference)))
              .put("annotations", said.getJsonObject("annotations"));
      byName.put(
          tool.name(),
          new RegisteredTool(
              tool,
              Optional.ofNullable(said.getString("toolset")),
              definition,
              reference.check(input)));
    }
  }

  /** The schemas of a tool's answers: its own, one of the contracts', or several. */
  private static List<JsonObject> outputs(JsonObject said, ServiceDescription reference) {
    return Stream.concat(
            said.getJsonArray("outputOf", new JsonArray()).stream()
                .map(JsonObject.class::cast)
                .map(one -> reference.schema(one.getString("contract"), one.getString("schema"))),
            Stream.ofNullable(said.getJsonObject("output")))
        .toList();
  }

  /**
   * Adds the schema of refusals, because clients validate these against a tool's output schema,
   * too.
   */
  private static JsonObject orRefusal(List<JsonObject> outputs) {
    JsonObject either = new JsonObject().put("type", "object").put("properties", new JsonObject());
    JsonArray kinds = new JsonArray();
    if (outputs.size() == 1) {
      either = outputs.get(0).copy();
      kinds.add(new JsonObject().put("required", either.getJsonArray("required", new JsonArray())));
      either.remove("required");
    } else {
      outputs.forEach(kinds::add);
    }
    either
        .getJsonObject("properties")
        .put(
            "error",
            new JsonObject().put("type", "string").put("description", "Of a refusal: its code."))
        .put(
            "detail",
            new JsonObject()
                .put("type", "string")
                .put("description", "Of a refusal: what exactly failed."));
    return either.put(
        "anyOf", kinds.add(new JsonObject().put("required", new JsonArray().add("error"))));
  }

  /** The list of tools for clients. */
  JsonArray list(Toolsets toolsets) {
    JsonArray definitions = new JsonArray();
    offered(toolsets).forEach(entry -> definitions.add(entry.definition().copy()));
    return definitions;
  }

  private Stream<RegisteredTool> offered(Toolsets toolsets) {
    return byName.values().stream().filter(entry -> toolsets.has(entry.toolset()));
  }

  /**
   * Executes a call; returns a result both for success and for a refusal by the tool.
   *
   * <p>Fails with an {@link RpcException} when there is no such tool, with {@link
   * InsufficientScopeException} when the caller's token does not permit it.
   */
  Future<Result> call(
      Principal caller, Toolsets toolsets, Message message, Consumer<Runnable> ifGone) {
    String name = message.text("name");
    if (name == null) {
      throw RpcException.invalidParams("params.name is missing; expected a tool's name");
    }
    RegisteredTool entry = byName.get(name);
    if (entry == null || !toolsets.has(entry.toolset())) {
      throw RpcException.invalidParams(
          "no tool '%s'; there are %s"
              .formatted(
                  Text.shown(name),
                  offered(toolsets)
                      .map(other -> other.tool().name())
                      .collect(Collectors.joining(", "))));
    }
    Object given = message.params().getValue("arguments");
    if (given != null && !(given instanceof JsonObject)) {
      throw RpcException.invalidParams("params.arguments: expected an object");
    }
    JsonObject arguments = given == null ? new JsonObject() : (JsonObject) given;
    try {
      entry.check().accept(arguments);
      Optional<Scope> scope = entry.tool().scope(arguments);
      if (scope.isPresent()) {
        InsufficientScopeException.require(caller, scope.get());
      }
      Future<Void> met =
          arguments.getValue(CLUSTER) instanceof String cluster
              ? meeting.apply(cluster)
              : Future.succeededFuture();
      return met.compose(ready -> entry.tool().call(caller, arguments, ifGone))
          .map(answer -> new Result(answer, false, Optional.empty()))
          .recover(e -> Future.succeededFuture(refusal(name, e)));
    } catch (ApiException refused) {
      return Future.succeededFuture(refusal(name, refused));
    }
  }

  private Result refusal(String tool, Throwable failure) {
    JsonObject refusal = new JsonObject(refusalOf(failure, tool).fields());
    return new Result(refusal.toBuffer(), true, Remedies.find(tool, refusal));
  }

  /** The failure in the form for clients, without internal details. */
  ApiException refusalOf(Throwable failure, String what) {
    if (failure instanceof ApiException refused) {
      return refused;
    }
    Optional<ApiException> translated = translation.apply(failure);
    if (translated.isEmpty()) {
      LOG.error("{} failed", what, failure);
    }
    return translated.orElseGet(() -> ApiException.of(ErrorCode.INTERNAL, "the service failed"));
  }
}
