package dev.bourse.contract;

import dev.bourse.access.NodeAgent;
import dev.bourse.access.Operator;
import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.Location;
import io.vertx.openapi.contract.MediaType;
import io.vertx.openapi.contract.Operation;
import io.vertx.openapi.contract.Parameter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads a contract's additions to the model of one operation: its permitted callers and its media
 * types.
 */
public final class OperationContract {
  /** The media type of bodies, and of answers unless the contract names another. */
  public static final String JSON = "application/json";

  /** The media type that marks a body of bytes; clients may send any type. */
  private static final String BYTES = "application/octet-stream";

  /** The supported security schemes; each stands for a kind of caller. */
  private static final Set<String> SCHEMES =
      Set.of(
          Principal.SCHEME,
          Principal.MEMBER_SCHEME,
          Principal.MCP_SCHEME,
          Principal.PUBLISHING_SCHEME,
          Principal.SESSION_SCHEME,
          Operator.SCHEME,
          Operator.SESSION_SCHEME,
          NodeAgent.SCHEME);

  /**
   * The schemes of browser sessions; a browser sends their cookies with requests made by any page.
   */
  static final Set<String> SESSIONS = Set.of(Principal.SESSION_SCHEME, Operator.SESSION_SCHEME);

  private static final Set<String> OPERATORS = Set.of(Operator.SCHEME, Operator.SESSION_SCHEME);

  /**
   * A header with a value that only the service's own pages know; pages of other sites cannot send
   * it.
   */
  public static final String CSRF_HEADER = "X-CSRF-Token";

  /** The extension of an operation that ignores unknown inputs instead of refusing them. */
  public static final String TOLERANT = "x-tolerant";

  /**
   * The extension of an operation that pages of other sites may not call: their browsers could
   * otherwise reach a service on the reader's machine by a name of its own (DNS rebinding).
   */
  public static final String OWN_ORIGIN = "x-own-origin";

  /**
   * The extension of an operation on a path of one segment that also answers every path under it,
   * for pages with scripts that interpret the rest of the path.
   */
  public static final String SUBTREE = "x-subtree";

  /**
   * The extension of an operation that an operator of one site may also call. Such an operator is
   * refused all other operations, and may act only on items of the operator's own site.
   */
  public static final String ONE_SITE = "x-one-site";

  /**
   * The extension of an operation that reads its body itself, although the body has a known type.
   */
  public static final String RAW_BODY = "x-raw-body";

  /** The extension of an operation with a longer body than others: its maximum in bytes. */
  public static final String BODY_BYTES = "x-body-bytes";

  /** The media type in contracts of an answer whose type depends on the request. */
  public static final String ANY_TYPE = "*/*";

  private OperationContract() {}

  /**
   * A kind of caller that may call an operation.
   *
   * @param scheme the security scheme; several schemes of one requirement, which nobody can satisfy
   *     at once, are joined into the name of a scheme that does not exist
   * @param scopes the scopes the caller must have
   */
  public record Demand(String scheme, List<String> scopes) {}

  /** The permitted callers of an operation; empty if anybody may call it. */
  public static List<Demand> demands(Operation model) {
    List<Demand> demands = new ArrayList<>();
    for (Object requirement : model.getOpenAPIModel().getJsonArray(RoutingModel.DEMANDS)) {
      JsonObject schemes = (JsonObject) requirement;
      List<String> scopes = new ArrayList<>();
      for (String scheme : schemes.fieldNames()) {
        schemes.getJsonArray(scheme).forEach(scope -> scopes.add(String.valueOf(scope)));
      }
      demands.add(new Demand(String.join("+", schemes.fieldNames()), scopes));
    }
    return demands;
  }

  /** Whether the operation accepts a browser session. */
  public static boolean takesSession(Operation model) {
    return demands(model).stream().anyMatch(demand -> SESSIONS.contains(demand.scheme()));
  }

  public static List<String> mediaTypes(Operation model) {
    Set<String> types = new LinkedHashSet<>();
    model
        .getOpenAPIModel()
        .getJsonArray(RoutingModel.ANSWERS)
        .forEach(type -> types.add(String.valueOf(type)));
    if (types.isEmpty()) {
      boolean isPage =
          ErrorFormat.PAGE.equals(
              ErrorFormat.find(model.getOpenAPIModel().getString(ErrorFormat.EXTENSION))
                  .orElse(null));
      // The answer to a CORS preflight has no body.
      boolean isPreflight = model.getHttpMethod().equals(HttpMethod.OPTIONS);
      return isPage || isPreflight ? List.of(ANY_TYPE) : List.of(JSON);
    }
    return List.copyOf(types);
  }

  /** Whether an operator of one site may call the operation. */
  public static boolean isForOneSite(Operation model) {
    return model.getOpenAPIModel().getBoolean(ONE_SITE, false);
  }

  public static boolean takesBytes(Operation model) {
    return model.getRequestBody() != null
        && (model.getOpenAPIModel().getBoolean(RAW_BODY, false)
            || model.getRequestBody().getContent().keySet().equals(Set.of(BYTES)));
  }

  public static boolean isSubtree(Operation model) {
    return model.getOpenAPIModel().getBoolean(SUBTREE, false);
  }

  /** Whether the operation answers success in JSON. */
  public static boolean answersJson(Operation model) {
    return mediaTypes(model).contains(JSON);
  }

  public static JsonObject bodySchema(Operation model) {
    MediaType json = model.getRequestBody().getContent().get(JSON);
    if (json == null) {
      throw new IllegalStateException(model.getOperationId() + " takes no " + JSON);
    }
    return json.getOpenAPIModel().getJsonObject("schema");
  }

  /** The features of an operation that this package cannot serve; empty if it can serve all. */
  public static List<String> faults(Operation model) {
    List<String> faults = new ArrayList<>();
    String id = model.getOperationId();
    String errors = model.getOpenAPIModel().getString(ErrorFormat.EXTENSION);
    if (ErrorFormat.find(errors).isEmpty()) {
      faults.add("operation " + id + " has unknown " + ErrorFormat.EXTENSION + " " + errors);
    }
    if (model.getOpenAPIModel().getBoolean(RoutingModel.FORM_BODY, false)) {
      JsonObject fields = bodySchema(model).getJsonObject("properties", new JsonObject());
      for (String field : fields.fieldNames()) {
        if (!"string".equals(fields.getJsonObject(field).getValue("type"))) {
          faults.add("operation " + id + " takes form field " + field + " that is no string");
        }
      }
    }
    if (isForOneSite(model)
        && demands(model).stream().noneMatch(demand -> OPERATORS.contains(demand.scheme()))) {
      faults.add("operation " + id + " is marked " + ONE_SITE + " and takes no operator");
    }
    for (Demand demand : demands(model)) {
      if (!SCHEMES.contains(demand.scheme())) {
        faults.add("operation " + id + " demands " + demand.scheme() + ", not one of " + SCHEMES);
        continue;
      }
      List<String> scopes = demand.scopes();
      if (scopes.isEmpty() && demand.scheme().equals(Principal.MEMBER_SCHEME)) {
        // Members grant scopes at consent; a token for an operation without a scope would permit
        // everything.
        faults.add("operation " + id + " takes " + demand.scheme() + " and names no scope");
      }
      if (scopes.size() > 1) {
        faults.add("operation " + id + " demands more than one scope of " + demand.scheme());
      }
      for (String scope : scopes) {
        if (Scope.find(scope).isEmpty()) {
          faults.add("operation " + id + " demands unknown scope " + scope);
        }
      }
    }
    for (Parameter parameter : model.getParameters()) {
      if (parameter.getIn() == Location.COOKIE) {
        faults.add("operation " + id + " takes " + parameter.getName() + " as a cookie");
      }
      switch (parameter.getSchemaType()) {
        case STRING, INTEGER, NUMBER -> {}
        case BOOLEAN, ARRAY, OBJECT ->
            faults.add("operation " + id + " takes " + parameter.getName() + " of another type");
      }
      faults.addAll(
          SchemaRules.faults(
              "parameter " + parameter.getName() + " of operation " + id,
              parameter.getOpenAPIModel().getJsonObject("schema")));
    }
    if (model.getRequestBody() != null
        && !takesBytes(model)
        && !model.getRequestBody().getContent().keySet().equals(Set.of(JSON))) {
      faults.add("operation " + id + " takes a body other than " + JSON + " or " + BYTES);
    } else if (model.getRequestBody() != null && !takesBytes(model)) {
      faults.addAll(SchemaRules.faults("the body of operation " + id, bodySchema(model)));
    }
    return faults;
  }
}
