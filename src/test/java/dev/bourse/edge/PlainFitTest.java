package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.Validator;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is accepted quickly is what the library accepts. */
class PlainFitTest {
  private static final JsonObject SCHEMA =
      new JsonObject(
          """
          {"type": "object", "additionalProperties": false, "required": ["count", "price"],
           "properties": {
             "count": {"type": "integer", "minimum": 0, "maximum": 100},
             "price": {"type": "number", "minimum": 0},
             "kind": {"type": "string", "enum": ["a", "b"]},
             "name": {"type": "string", "minLength": 1, "maxLength": 3},
             "shape": {"type": "string", "pattern": "^x"},
             "list": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 2}}
           }}
          """);

  private final Random random = new Random();

  private @Nullable Object value() {
    return switch (random.nextInt(12)) {
      case 0 -> null;
      case 1 -> random.nextInt(-1, 102);
      case 2 -> 5_000_000_000L;
      case 3 -> new BigDecimal(random.nextInt(-1, 5)).movePointLeft(1);
      case 4 -> "a";
      case 5 -> "xyz";
      case 6 -> "";
      case 7 -> "long text";
      case 8 -> new JsonArray().add("a").add(random.nextBoolean() ? "bb" : "ccc");
      case 9 -> new JsonArray().add("a").add("a").add("a");
      case 10 -> true;
      default -> new JsonObject().put("a", 1);
    };
  }

  private JsonObject object() {
    JsonObject object = new JsonObject();
    List<String> names = new ArrayList<>(SCHEMA.getJsonObject("properties").fieldNames());
    names.add("unknown");
    for (String name : names) {
      if (random.nextInt(3) > 0 || (name.equals("count") || name.equals("price"))) {
        boolean isNumeric = name.equals("count") || name.equals("price");
        object.put(name, isNumeric && random.nextInt(4) > 0 ? random.nextInt(-1, 102) : value());
      }
    }
    if (random.nextInt(3) > 0) {
      object.remove("unknown");
    }
    return object;
  }

  @Test
  void whatIsAcceptedTheLibraryAccepts() {
    long seed = random.nextLong();
    random.setSeed(seed);
    Validator library =
        Validator.create(
            JsonSchema.of(SCHEMA.copy()),
            new JsonSchemaOptions()
                .setDraft(Draft.DRAFT202012)
                .setBaseUri("app://test")
                .setOutputFormat(OutputFormat.Flag));
    PlainFit fit = new PlainFit(SCHEMA);
    int accepted = 0;
    for (int i = 0; i < 200_000; i++) {
      JsonObject object = object();
      if (fit.accepts(object)) {
        accepted++;
        assertTrue(
            Boolean.TRUE.equals(library.validate(object).getValid()),
            () -> "seed " + seed + ": " + object.encode());
      }
    }
    assertTrue(accepted > 100, "seed " + seed + " accepted only " + accepted);
  }

  @Test
  void ordinaryBodiesAreAccepted() {
    PlainFit fit = new PlainFit(SCHEMA);
    assertTrue(fit.accepts(new JsonObject().put("count", 8).put("price", new BigDecimal("2.5"))));
    assertTrue(
        fit.accepts(
            new JsonObject()
                .put("count", 8)
                .put("price", 2)
                .put("list", new JsonArray().add("a"))));
  }

  @Test
  void whatIsNotUnderstoodIsLeftToTheLibrary() {
    PlainFit fit = new PlainFit(SCHEMA);
    assertFalse(fit.accepts(new JsonObject().put("count", 8).put("price", 2).put("shape", "x")));
    assertFalse(new PlainFit(new JsonObject().put("oneOf", new JsonArray())).accepts("x"));
    assertFalse(new PlainFit(new JsonObject().put("type", "object")).accepts(new JsonObject()));
  }
}
