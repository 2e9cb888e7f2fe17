package dev.bourse.app;

import dev.bourse.contract.Contract;
import dev.bourse.contract.SchemaValidator;
import dev.bourse.edge.Edge;
import dev.bourse.mcp.ServiceDescription;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The API's description of itself for models. */
final class ServedDescription implements ServiceDescription {
  private static final String GUIDE = "/AGENTS.md";

  /** How the Skills extension of the protocol addresses the files of skills. */
  private static final String SKILL_SCHEME = "skill://";

  private static final String SKILL_FOLDER = "/skills/";

  /** The contract hidden from models, which act for members and not for operators. */
  private static final String OF_OPERATORS = "operator";

  private final Vertx vertx;
  private final Edge edge;

  ServedDescription(Vertx vertx, Edge edge) {
    this.vertx = vertx;
    this.edge = edge;
  }

  private Contract contract(String name) {
    return edge.findContract(name)
        .orElseThrow(() -> new IllegalStateException("contract " + name + " is not served"));
  }

  @Override
  public JsonObject tool(String name) {
    return contract("mcp").piece("x-mcp-tools", name);
  }

  @Override
  public Set<String> toolsets() {
    JsonObject tools = contract("mcp").piece("x-mcp-tools");
    return tools.fieldNames().stream()
        .map(name -> tools.getJsonObject(name).getString("toolset"))
        .filter(Objects::nonNull)
        .collect(Collectors.toSet());
  }

  @Override
  public JsonObject schema(String contract, String name) {
    return contract(contract).piece("components", "schemas", name);
  }

  @Override
  public Check check(JsonObject schema) {
    SchemaValidator shape = new SchemaValidator(schema);
    return arguments -> {
      shape.omitNulls(arguments);
      shape.check("", arguments);
    };
  }

  @Override
  public List<Document> documents() {
    List<Document> documents = new ArrayList<>();
    documents.add(
        new Document(
            edge.baseUrl() + GUIDE,
            "AGENTS.md",
            "Recipes for agents",
            """
            How to preview, declare, follow and give back capacity over HTTP, and what to do \
            on each error.\
            """,
            "text/markdown"));
    for (Contract contract : edge.contracts()) {
      if (contract.name().equals(OF_OPERATORS)) {
        continue;
      }
      documents.add(
          new Document(
              edge.baseUrl() + path(contract),
              contract.name() + ".openapi.json",
              contract.title(),
              contract.summary(),
              "application/json"));
    }
    return documents;
  }

  private static String path(Contract contract) {
    return "/api/" + contract.name() + "/openapi.json";
  }

  @Override
  public Future<List<Skill>> skills() {
    return edge.skills(vertx)
        .map(
            skills ->
                skills.stream()
                    .map(
                        one ->
                            new Skill(
                                SKILL_SCHEME + one.path().substring(SKILL_FOLDER.length()),
                                one.frontmatter(),
                                one.text(),
                                one.digest(),
                                one.size()))
                    .toList());
  }

  @Override
  public Future<Optional<String>> findText(String uri) {
    String baseUrl = edge.baseUrl();
    return uri.startsWith(baseUrl)
        ? edge.findText(vertx, uri.substring(baseUrl.length()))
        : Future.succeededFuture(Optional.empty());
  }
}
