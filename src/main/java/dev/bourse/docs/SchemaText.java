package dev.bourse.docs;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Describes JSON schemas in words. A type is a list of parts, each a text that may link to a named
 * schema of the same page; a field is a row with a name, a type and a description.
 */
final class SchemaText {
  private static final String SCHEMAS = "#/components/schemas/";

  /** The keywords that bound a value, and their descriptions. */
  private static final Map<String, String> BOUNDS = bounds();

  private final Markdown markdown;
  private final UnaryOperator<JsonObject> resolve;

  /**
   * Describes the schemas of one document.
   *
   * @param resolve replaces a reference with its target in the document
   */
  SchemaText(Markdown markdown, UnaryOperator<JsonObject> resolve) {
    this.markdown = markdown;
    this.resolve = resolve;
  }

  private static Map<String, String> bounds() {
    Map<String, String> bounds = new LinkedHashMap<>();
    bounds.put("minimum", "at least %s");
    bounds.put("maximum", "at most %s");
    bounds.put("exclusiveMinimum", "more than %s");
    bounds.put("multipleOf", "a multiple of %s");
    bounds.put("minLength", "%s or more characters");
    bounds.put("maxLength", "at most %s characters");
    bounds.put("minItems", "at least %s items");
    bounds.put("maxItems", "at most %s items");
    bounds.put("x-accepts", "%s");
    bounds.put("default", "default %s");
    return bounds;
  }

  /** A schema's type in parts. */
  List<Map<String, String>> type(JsonObject schema) {
    List<Map<String, String>> parts = new ArrayList<>();
    addType(parts, schema);
    return parts;
  }

  private void addType(List<Map<String, String>> parts, JsonObject schema) {
    String ref = schema.getString("$ref", "");
    String name = ref.startsWith(SCHEMAS) ? ref.substring(SCHEMAS.length()) : "";
    if (!name.isEmpty() && name.indexOf('/') < 0) {
      parts.add(part(name, "#" + name));
    } else if (!ref.isEmpty()) {
      addType(parts, resolve.apply(schema));
    } else if (schema.containsKey("const")) {
      parts.add(part(schema.getMap().get("const") + "", ""));
    } else if (schema.containsKey("enum")) {
      parts.add(part(joined(schema.getJsonArray("enum"), " | "), ""));
    } else if (schema.getValue("items") instanceof JsonObject items) {
      parts.add(part("list of ", ""));
      addType(parts, items);
    } else if (schema.containsKey("type")) {
      Object type = schema.getValue("type");
      String format = schema.getString("format");
      String words = type instanceof JsonArray several ? joined(several, " or ") : type.toString();
      parts.add(part(format == null ? words : words + " (" + format + ")", ""));
    } else {
      addChoices(parts, schema, "oneOf", " or ");
      addChoices(parts, schema, "anyOf", " or ");
      addChoices(parts, schema, "allOf", " and ");
    }
  }

  private void addChoices(
      List<Map<String, String>> parts, JsonObject schema, String keyword, String joint) {
    JsonArray choices = schema.getJsonArray(keyword, new JsonArray());
    for (int i = 0; i < choices.size(); i++) {
      if (i > 0) {
        parts.add(part(joint, ""));
      }
      addType(parts, choices.getJsonObject(i));
    }
  }

  /** The fields of an object, each followed by the fields of its anonymous nested objects. */
  List<Map<String, Object>> fields(JsonObject schema) {
    List<Map<String, Object>> fields = new ArrayList<>();
    addFields(fields, "", schema);
    return fields;
  }

  private void addFields(List<Map<String, Object>> fields, String prefix, JsonObject schema) {
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    JsonArray required = schema.getJsonArray("required", new JsonArray());
    for (String name : properties.fieldNames()) {
      if (properties.getValue(name) instanceof JsonObject property) {
        fields.add(field(prefix + name, required.contains(name), property, property));
        addFields(fields, prefix + name + ".", property);
        if (property.getValue("items") instanceof JsonObject items) {
          addFields(fields, prefix + name + "[].", items);
        }
      }
    }
    JsonArray parts = schema.getJsonArray("allOf", new JsonArray());
    for (int i = 0; i < parts.size(); i++) {
      addFields(fields, prefix, parts.getJsonObject(i));
    }
  }

  /** One row: a field, or a parameter, whose description is beside its schema. */
  Map<String, Object> field(
      String name, boolean required, JsonObject schema, JsonObject describedBy) {
    String description = describedBy.getString("description", "");
    return Map.of(
        "name", name,
        "required", required,
        "type", type(schema),
        "bounds", boundsOf(schema),
        "description", markdown.html(description));
  }

  private static String boundsOf(JsonObject schema) {
    return BOUNDS.entrySet().stream()
        .filter(bound -> schema.getValue(bound.getKey()) != null)
        // A missing bound needs no words.
        .filter(bound -> !"".equals(schema.getValue(bound.getKey())))
        .map(bound -> bound.getValue().formatted(schema.getValue(bound.getKey())))
        .collect(Collectors.joining(", "));
  }

  private static String joined(JsonArray values, String joint) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(joint));
  }

  private static Map<String, String> part(String text, String link) {
    return Map.of("text", text, "link", link);
  }
}
