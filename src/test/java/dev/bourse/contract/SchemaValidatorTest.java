package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.edge.EdgeFixture;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.Validator;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The validator accepts the values that the contract's schema accepts, and describes faults. */
@Tag("fast")
class SchemaValidatorTest {
  private static final JsonObject SCHEMA =
      new JsonObject(
          """
          {"type": "object", "additionalProperties": false, "required": ["count", "price"],
           "minProperties": 2, "properties": {
             "count": {"type": "integer", "minimum": 0, "maximum": 100},
             "price": {"type": ["number", "null"], "exclusiveMinimum": 0},
             "kind": {"type": "string", "enum": ["a", "b"]},
             "name": {"type": "string", "minLength": 1, "maxLength": 3},
             "shape": {"type": "string", "maxLength": 9, "pattern": "^x+$", "x-accepts": "some x"},
             "either": {"oneOf": [{"type": "boolean"}, {"type": "string", "maxLength": 2}]},
             "env": {"type": "object", "maxProperties": 2,
               "propertyNames": {"type": "string", "maxLength": 2},
               "additionalProperties": {"type": "string", "maxLength": 3}},
             "list": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 2}}
           }}
          """);

  private final Random random = new Random();

  private @Nullable Object value() {
    return switch (random.nextInt(15)) {
      case 0 -> null;
      case 1 -> random.nextInt(-1, 102);
      case 2 -> 5_000_000_000L;
      case 3 -> new BigDecimal(random.nextInt(-1, 5)).movePointLeft(1);
      case 4 -> "a";
      case 5 -> "xyz";
      case 6 -> "";
      case 7 -> "x".repeat(random.nextInt(12));
      case 8 -> "𝄞𝄞";
      case 9 -> new JsonArray().add("a").add(random.nextBoolean() ? "bb" : "ccc");
      case 10 -> new JsonArray().add("a").add("a").add("a");
      case 11 -> true;
      case 12 -> new JsonObject();
      case 13 -> new JsonObject().put("a", random.nextBoolean() ? "b" : 1);
      default -> new JsonObject().put("a", "b").put(random.nextBoolean() ? "bc" : "bcd", "c");
    };
  }

  /** A random value that usually fits. */
  private @Nullable Object near(JsonObject schema) {
    if (random.nextInt(12) == 0) {
      return value();
    }
    JsonArray values = schema.getJsonArray("enum");
    if (values != null) {
      return values.getValue(random.nextInt(values.size()));
    }
    JsonArray alternatives = schema.getJsonArray("oneOf");
    if (alternatives != null) {
      return near(alternatives.getJsonObject(random.nextInt(alternatives.size())));
    }
    Object type = schema.getValue("type");
    String one =
        type instanceof JsonArray several
            ? several.getString(random.nextInt(several.size()))
            : String.valueOf(type);
    return switch (one) {
      case "integer" -> schema.getLong("minimum", 0L) + random.nextInt(3);
      case "number" -> new BigDecimal(random.nextInt(-1, 30)).movePointLeft(1);
      case "string" -> "x".repeat(Math.min(70, schema.getInteger("minLength", 0) + 1));
      case "boolean" -> random.nextBoolean();
      case "array" -> {
        JsonArray items = new JsonArray();
        for (int i = random.nextInt(4); i > 0; i--) {
          items.add(near(schema.getJsonObject("items")));
        }
        yield items;
      }
      case "object" -> object(schema);
      default -> null;
    };
  }

  private JsonObject object(JsonObject schema) {
    JsonObject object = new JsonObject();
    JsonArray required = schema.getJsonArray("required", new JsonArray());
    JsonObject properties = schema.getJsonObject("properties", new JsonObject());
    for (String name : properties.fieldNames()) {
      if (random.nextInt(required.contains(name) ? 20 : 3) > 0) {
        object.put(name, near(properties.getJsonObject(name)));
      }
    }
    if (schema.getValue("additionalProperties") instanceof JsonObject others) {
      for (int i = random.nextInt(3); i > 0; i--) {
        object.put("x".repeat(i), near(others));
      }
    }
    return random.nextInt(15) == 0 ? object.put("unknown", value()) : object;
  }

  /** Each body and parameter of each contract, and a schema with every keyword. */
  private static Map<String, JsonObject> schemas() {
    Map<String, JsonObject> schemas = new LinkedHashMap<>();
    schemas.put("every keyword", SCHEMA);
    for (Contract contract : EdgeFixture.contracts()) {
      for (io.vertx.openapi.contract.Operation model : contract.model().operations()) {
        JsonObject operation = model.getOpenAPIModel();
        JsonObject content =
            operation
                .getJsonObject("requestBody", new JsonObject())
                .getJsonObject("content", new JsonObject());
        JsonObject json = content.getJsonObject(OperationContract.JSON);
        if (json != null && !operation.getBoolean("x-raw-body", false)) {
          schemas.put("body of " + model.getOperationId(), json.getJsonObject("schema"));
        }
        model
            .getParameters()
            .forEach(
                parameter ->
                    schemas.put(
                        parameter.getName() + " of " + model.getOperationId(),
                        parameter.getOpenAPIModel().getJsonObject("schema")));
      }
    }
    return schemas;
  }

  @Test
  @Slow("compares two validators on 100 values for each schema of the contracts")
  void whatIsAcceptedIsWhatTheLibraryAccepts() {
    long seed = random.nextLong();
    random.setSeed(seed);
    Map<String, JsonObject> schemas = schemas();
    assertTrue(schemas.size() > 100, () -> "found only " + schemas.keySet());
    schemas.forEach(
        (name, schema) -> {
          Validator library = library(schema, OutputFormat.Flag);
          SchemaValidator shape = new SchemaValidator(schema);
          for (int i = 0; i < (name.equals("every keyword") ? 15_000 : 100); i++) {
            Object value = near(schema);
            assertEquals(
                Boolean.TRUE.equals(library.validate(value).getValid()),
                accepts(shape, value),
                () -> "seed " + seed + ": " + name + ": " + value);
          }
        });
  }

  @Test
  void theLibraryFindsAllViolationsBeforeItNamesOneOrNamesNone() {
    JsonObject schema =
        new JsonObject(
            """
            {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 2}}
            """);
    JsonArray bad = new JsonArray();
    for (int i = 0; i < 1_000; i++) {
      bad.add("too long");
    }
    assertTrue(library(schema, OutputFormat.Basic).validate(bad).getErrors().size() > bad.size());
    assertNull(library(schema, OutputFormat.Flag).validate(bad).getErrors());
    ApiException refusal =
        assertThrows(ApiException.class, () -> new SchemaValidator(schema).check("names", bad));
    assertTrue(refusal.detail().contains("1000 items are not acceptable"), refusal.detail());
  }

  private static Validator library(JsonObject schema, OutputFormat format) {
    return Validator.create(
        JsonSchema.of(schema.copy()),
        new JsonSchemaOptions()
            .setDraft(Draft.DRAFT202012)
            .setBaseUri("app://test")
            .setOutputFormat(format));
  }

  private static boolean accepts(SchemaValidator shape, @Nullable Object value) {
    try {
      shape.check("", value);
      return true;
    } catch (ApiException refused) {
      return false;
    }
  }

  @Test
  void whatIsLeftOutIsItsDefaultAndWhatIsSentStays() {
    SchemaValidator shape =
        new SchemaValidator(
            new JsonObject(
                """
                {"type": "object", "properties": {
                   "port": {"type": "integer", "default": 22},
                   "swaps": {"type": "boolean", "default": true},
                   "memo": {"type": ["string", "null"], "default": "none"},
                   "env": {"type": "object", "default": {}},
                   "inner": {"type": "object", "properties": {
                     "kind": {"type": "string", "default": "vm"}}},
                   "name": {"type": "string"}
                 }}
                """));
    JsonObject first = new JsonObject().put("swaps", false).putNull("memo");
    shape.putDefaults(first.put("inner", new JsonObject()));
    assertEquals(
        new JsonObject(
            """
            {"port": 22, "swaps": false, "memo": null, "env": {}, "inner": {"kind": "vm"}}
            """),
        first);
    first.getJsonObject("env").put("of", "the first");
    JsonObject second = new JsonObject();
    shape.putDefaults(second);
    assertEquals(new JsonObject(), second.getJsonObject("env"));
    assertFalse(second.containsKey("inner"));
  }

  @Test
  void aDefaultIsOneOfTheValuesAccepted() {
    assertEquals(
        List.of("it.port has a default that it does not accept"),
        SchemaRules.faults(
            "it",
            new JsonObject(
                """
                {"type": "object", "properties": {"port": {"type": "integer", "default": "22"}}}
                """)));
  }

  private static void refused(String detail, JsonObject value) {
    SchemaValidator shape = new SchemaValidator(SCHEMA);
    ApiException refusal =
        assertThrows(
            ApiException.class,
            () -> shape.check("", new JsonObject().put("count", 1).put("price", 2).mergeIn(value)));
    assertEquals(detail, refusal.detail());
  }

  @Test
  void theFirstFaultIsNamedByItsPlaceAndInWords() {
    refused(
        "shape: xy is not acceptable; expected a string of at most 9 characters: some x",
        new JsonObject().put("shape", "xy"));
    refused(
        "either: too is not acceptable; expected a string of at most 2 characters",
        new JsonObject().put("either", "too"));
    refused(
        "either: 1 is a number; expected true or false or a string of at most 2 characters",
        new JsonObject().put("either", 1));
    refused(
        "env.a: 1 is a number; expected a string of at most 3 characters",
        new JsonObject().put("env", new JsonObject().put("a", 1)));
    refused(
        "env: the name abc is not acceptable; expected a string of at most 2 characters",
        new JsonObject().put("env", new JsonObject().put("abc", "x")));
    refused(
        "list[1]: abc is not acceptable; expected a string of at most 2 characters",
        new JsonObject().put("list", new JsonArray().add("ab").add("abc")));
    refused(
        "price: -1 is not acceptable; expected a number over 0 or null",
        new JsonObject().put("price", -1));
    ApiException few =
        assertThrows(
            ApiException.class, () -> new SchemaValidator(SCHEMA).check("", new JsonObject()));
    assertEquals(
        "body: 0 fields are not acceptable; expected at least 2 of count, price, kind, name, shape,"
            + " either, env, list",
        few.detail());
  }

  @Test
  void fieldsAreCountedBeforeTheyAreLookedAt() {
    JsonObject many = new JsonObject();
    for (int i = 0; i < 1_000; i++) {
      many.put("field " + i, i);
    }
    refused(
        "env: 1000 fields are not acceptable; expected at most 2",
        new JsonObject().put("env", many));
  }

  @Test
  void whatIsNotCheckedIsNotCompiled() {
    List<JsonObject> schemas = new ArrayList<>();
    schemas.add(new JsonObject().put("type", "integer").put("multipleOf", 2));
    schemas.add(new JsonObject().put("type", "string").put("pattern", "^a$"));
    schemas.add(new JsonObject().put("enum", new JsonArray().add(1)));
    for (JsonObject schema : schemas) {
      assertThrows(
          IllegalStateException.class,
          () ->
              new SchemaValidator(
                  new JsonObject()
                      .put("type", "array")
                      .put("items", new JsonObject().put("oneOf", new JsonArray().add(schema)))),
          schema::encode);
    }
  }

  @Test
  void nullIsLeftOutUnlessItHasAMeaningOrTheFieldIsNeeded() {
    SchemaValidator validator =
        new SchemaValidator(
            new JsonObject(
                """
                {"type": "object", "required": ["count"], "additionalProperties": false,
                 "properties": {
                   "count": {"type": "integer"},
                   "until": {"type": ["string", "null"]},
                   "either": {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
                   "kind": {"type": "string", "enum": ["a"], "default": "a"},
                   "inner": {"type": "object", "properties": {"name": {"type": "string"}}},
                   "list": {"type": "array", "items":
                     {"type": "object", "properties": {"name": {"type": "string"}}}}
                 }}
                """));
    JsonObject body =
        new JsonObject(
            """
            {"count": 1, "until": null, "either": null, "kind": null, "inner": {"name": null},
             "list": [{"name": null}, {"name": "x"}]}
            """);
    validator.omitNulls(body);
    validator.check("", body);
    validator.putDefaults(body);
    assertEquals(
        new JsonObject(
            """
            {"count": 1, "until": null, "kind": "a", "inner": {}, "list": [{}, {"name": "x"}]}
            """),
        body);
    for (String wrong : List.of("{\"count\": null}", "{\"count\": 1, \"other\": null}")) {
      JsonObject refused = new JsonObject(wrong);
      validator.omitNulls(refused);
      assertThrows(ApiException.class, () -> validator.check("", refused), wrong);
    }
  }
}
