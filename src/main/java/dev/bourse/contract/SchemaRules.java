package dev.bourse.contract;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rules for the schemas of contracts that keep their checks complete and cheap. */
public final class SchemaRules {
  /** Keywords that {@link SchemaValidator} checks. */
  private static final Set<String> CHECKED =
      Set.of(
          "type",
          "enum",
          "minimum",
          "maximum",
          "exclusiveMinimum",
          "minLength",
          "maxLength",
          "pattern",
          "minItems",
          "maxItems",
          "items",
          "minProperties",
          "maxProperties",
          "properties",
          "required",
          "propertyNames",
          "additionalProperties",
          "oneOf");

  /** Keywords that describe a value and check nothing. */
  private static final Set<String> DESCRIPTIVE =
      Set.of("description", "default", "examples", "format");

  private SchemaRules() {}

  /**
   * The faults of a schema for callers' values that holds no {@code $ref}.
   *
   * @param place the schema's name in messages
   */
  static List<String> faults(String place, JsonObject schema) {
    List<String> faults = new ArrayList<>();
    for (String keyword : schema.fieldNames()) {
      boolean isKnown =
          CHECKED.contains(keyword) || DESCRIPTIVE.contains(keyword) || keyword.startsWith("x-");
      if (!isKnown) {
        faults.add(place + " has keyword " + keyword + ", which is not checked");
      }
    }
    for (Object value : schema.getJsonArray("enum", new JsonArray())) {
      if (!(value instanceof String)) {
        faults.add(place + " has an enum of other values than texts");
      }
    }
    patternFaults(place, schema, faults);
    pieces(place, schema).forEach(piece -> faults.addAll(faults(piece.place(), piece.schema())));
    if (faults.isEmpty()
        && schema.containsKey("default")
        && !SchemaValidator.fits(schema, schema.getValue("default"))) {
      faults.add(place + " has a default that it does not accept");
    }
    return faults;
  }

  /** The faults of all patterns in a document, inside and outside of {@code $ref}s. */
  static List<String> patternFaults(String place, Object node) {
    List<String> faults = new ArrayList<>();
    if (node instanceof JsonObject object) {
      if (object.getValue("pattern") instanceof String) {
        patternFaults(place, object, faults);
      }
      object
          .fieldNames()
          .forEach(
              name -> faults.addAll(patternFaults(place + '/' + name, orNothing(object, name))));
    } else if (node instanceof JsonArray array) {
      for (int i = 0; i < array.size(); i++) {
        Object item = array.getValue(i);
        faults.addAll(patternFaults(place + '/' + i, item == null ? "" : item));
      }
    }
    return faults;
  }

  private static Object orNothing(JsonObject object, String name) {
    Object value = object.getValue(name);
    return value == null ? "" : value;
  }

  private static void patternFaults(String place, JsonObject schema, List<String> faults) {
    if (!(schema.getValue("pattern") instanceof String pattern)) {
      return;
    }
    PatternRules.contractFaults(pattern)
        .forEach(fault -> faults.add(place + ": the pattern " + pattern + ' ' + fault));
    if (!schema.containsKey("maxLength")) {
      faults.add(place + ": the pattern " + pattern + " stands without maxLength");
    }
    if (schema.getString(SchemaDescription.ACCEPTS, "").isEmpty()) {
      faults.add(
          "%s: the pattern %s stands without %s in words"
              .formatted(place, pattern, SchemaDescription.ACCEPTS));
    }
  }

  private record Piece(String place, JsonObject schema) {}

  private static List<Piece> pieces(String place, JsonObject schema) {
    List<Piece> pieces = new ArrayList<>();
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    properties
        .fieldNames()
        .forEach(name -> pieces.add(new Piece(place + '.' + name, properties.getJsonObject(name))));
    for (String keyword : List.of("items", "propertyNames", "additionalProperties")) {
      if (schema.getValue(keyword) instanceof JsonObject piece) {
        pieces.add(new Piece(place + '.' + keyword, piece));
      }
    }
    for (Object alternative : schema.getJsonArray("oneOf", new JsonArray())) {
      pieces.add(new Piece(place, (JsonObject) alternative));
    }
    return pieces;
  }
}
