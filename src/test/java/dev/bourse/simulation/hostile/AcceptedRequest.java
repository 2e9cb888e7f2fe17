package dev.bourse.simulation.hostile;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A request that its operation accepts, the starting point of mutations.
 *
 * @param name the operation's id, with a suffix if it has several samples
 * @param values of parameters in path and query, unencoded
 * @param headers credentials, and others that the operation needs
 * @param json of an operation that takes JSON
 * @param schema of the JSON; the operation's own, or that of a tool that it calls
 * @param root where in the JSON the schema applies, as names with slashes before them
 * @param form of an operation that takes one
 * @param bytes of an operation that takes bytes
 * @param isAccepted false if the world has nothing that the operation would accept
 */
@SuppressWarnings("ArrayRecordComponent") // No two of them are compared.
public record AcceptedRequest(
    AttackedOperation operation,
    String name,
    Map<String, String> values,
    Map<String, String> headers,
    JsonObject json,
    JsonObject schema,
    String root,
    Map<String, String> form,
    byte[] bytes,
    boolean isAccepted) {

  public static AcceptedRequest of(AttackedOperation operation) {
    return new AcceptedRequest(
        operation,
        operation.id(),
        Map.of(),
        Map.of(),
        new JsonObject(),
        operation.body(),
        "",
        Map.of(),
        new byte[0],
        true);
  }

  /** Returns the request, marked as one that is rejected although it is valid. */
  public AcceptedRequest refused() {
    return new AcceptedRequest(
        operation, name, values, headers, json, schema, root, form, bytes, false);
  }

  public AcceptedRequest named(String variant) {
    return copy(operation.id() + '/' + variant, values, headers, json, form, bytes);
  }

  public AcceptedRequest value(String parameter, String value) {
    return copy(name, with(values, parameter, value), headers, json, form, bytes);
  }

  public AcceptedRequest header(String header, String value) {
    return copy(name, values, with(headers, header, value), json, form, bytes);
  }

  public AcceptedRequest json(JsonObject body) {
    return copy(name, values, headers, body, form, bytes);
  }

  public AcceptedRequest form(Map<String, String> fields) {
    return copy(name, values, headers, json, fields, bytes);
  }

  public AcceptedRequest bytes(byte[] body) {
    return copy(name, values, headers, json, form, body);
  }

  /** Returns the request with another schema, which applies at a place within the JSON. */
  public AcceptedRequest within(String place, JsonObject other) {
    return new AcceptedRequest(
        operation, name, values, headers, json, other, place, form, bytes, isAccepted);
  }

  private AcceptedRequest copy(
      String otherName,
      Map<String, String> otherValues,
      Map<String, String> otherHeaders,
      JsonObject otherJson,
      Map<String, String> otherForm,
      byte[] otherBytes) {
    return new AcceptedRequest(
        operation,
        otherName,
        otherValues,
        otherHeaders,
        otherJson,
        schema,
        root,
        otherForm,
        otherBytes,
        isAccepted);
  }

  private static Map<String, String> with(Map<String, String> all, String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(all);
    more.put(name, value);
    return more;
  }
}
