package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.ContractCheck;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Conventions of contracts that generated clients rely on. */
@Tag("fast")
class ContractStyleTest {
  private static final Set<String> METHODS =
      Set.of("get", "put", "post", "delete", "patch", "options");

  /** Names of fields that count micro-dollars, milliseconds or bytes, or grow for ever. */
  private static final Pattern LONG =
      Pattern.compile(
          "(.*_)?(micros|ms|millis|bytes|offset|version|id|t0|before|rows|batches|transactions)");

  private final List<String> faults = new ArrayList<>();

  /** A place in an operation of a contract. */
  private record Place(String contract, JsonObject document, JsonObject operation) {
    String name() {
      return contract + ' ' + operation.getString("operationId");
    }
  }

  private static List<Place> operations() {
    List<Place> all = new ArrayList<>();
    for (String contract : Contract.SERVED) {
      JsonObject document = Contract.load(contract).document();
      JsonObject paths = document.getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject item = paths.getJsonObject(path);
        for (String method : item.fieldNames()) {
          if (METHODS.contains(method)) {
            JsonObject operation = item.getJsonObject(method);
            JsonArray parameters = item.getJsonArray("parameters", new JsonArray()).copy();
            operation.getJsonArray("parameters", new JsonArray()).forEach(parameters::add);
            all.add(new Place(contract, document, operation.put("parameters", parameters)));
          }
        }
      }
    }
    return all;
  }

  /** The object at a place, or the target of its reference. */
  private static JsonObject followed(JsonObject document, @Nullable Object node) {
    JsonObject at = (JsonObject) Objects.requireNonNull(node);
    if (!(at.getValue("$ref") instanceof String pointer)) {
      return at;
    }
    JsonObject target = document;
    for (String step : pointer.substring(2).split("/", -1)) {
      target = target.getJsonObject(step);
    }
    return followed(document, target);
  }

  /** Visits every schema of a contract, with the name of its field. */
  private static void schemas(
      String name, @Nullable Object node, BiConsumer<String, JsonObject> shown) {
    if (node instanceof JsonArray array) {
      array.forEach(item -> schemas(name, item, shown));
    } else if (node instanceof JsonObject object) {
      if (object.containsKey("type") || object.containsKey("enum")) {
        shown.accept(name, object);
      }
      String own = object.getValue("name") instanceof String parameter ? parameter : name;
      for (String key : object.fieldNames()) {
        if (key.equals("properties") && object.getValue(key) instanceof JsonObject properties) {
          properties.fieldNames().forEach(f -> schemas(f, properties.getValue(f), shown));
        } else if (!key.equals("example") && !key.equals("examples") && !key.equals("default")) {
          schemas(
              key.equals("schema") || key.equals("oneOf") ? own : key, object.getValue(key), shown);
        }
      }
    }
  }

  private static boolean isOf(JsonObject schema, String type) {
    Object types = schema.getValue("type");
    return type.equals(types) || (types instanceof JsonArray several && several.contains(type));
  }

  private void eachSchema(BiConsumer<String, JsonObject> shown) {
    for (String contract : Contract.SERVED) {
      JsonObject document = Contract.load(contract).document();
      schemas(contract, document, (name, schema) -> shown.accept(contract + ' ' + name, schema));
    }
  }

  @Test
  void anIntegerThatCanPassTwoToTheThirtyFirstIsInt64() {
    eachSchema(
        (name, schema) -> {
          if (isOf(schema, "integer")
              && !isOf(schema, "string")
              && !"int64".equals(schema.getString("format"))) {
            long most = schema.getLong("maximum", 0L);
            boolean mayPass =
                most == 0
                    ? LONG.matcher(name.substring(name.indexOf(' ') + 1)).matches()
                    : most > Integer.MAX_VALUE;
            if (mayPass) {
              faults.add(name + ": " + schema);
            }
          }
        });
    assertEquals(List.of(), faults);
  }

  @Test
  void anExampleIsOfItsSchema() {
    for (String contract : Contract.SERVED) {
      examples(contract, Contract.resolvedDocument(contract));
    }
    assertEquals(List.of(), faults);
  }

  private void examples(String where, @Nullable Object node) {
    if (node instanceof JsonArray array) {
      array.forEach(item -> examples(where, item));
    } else if (node instanceof JsonObject object) {
      if (object.getValue("schema") instanceof JsonObject schema
          && object.getValue("examples") instanceof JsonObject shown) {
        for (String name : shown.fieldNames()) {
          Object value = shown.getJsonObject(name).getValue("value");
          if (!ContractCheck.fits(schema, value)) {
            faults.add(where + ' ' + name + ": " + value);
          }
        }
      }
      object.fieldNames().forEach(key -> examples(where + '/' + key, object.getValue(key)));
    }
  }

  @Test
  void noEnumHasANull() {
    eachSchema(
        (name, schema) -> {
          if (schema.getJsonArray("enum", new JsonArray()).contains(null)) {
            faults.add(name + ": " + schema);
          }
        });
    assertEquals(List.of(), faults);
  }

  @Test
  void objectsHaveNames() {
    for (Place place : operations()) {
      JsonObject body = place.operation().getJsonObject("requestBody", new JsonObject());
      named(place, "body", body.getJsonObject("content", new JsonObject()));
      JsonObject responses = place.operation().getJsonObject("responses");
      for (String status : responses.fieldNames()) {
        JsonObject answer = followed(place.document(), responses.getJsonObject(status));
        named(place, status, answer.getJsonObject("content", new JsonObject()));
      }
    }
    for (String contract : Contract.SERVED) {
      JsonObject document = Contract.load(contract).document();
      JsonObject components =
          document.getJsonObject("components").getJsonObject("schemas", new JsonObject());
      for (String name : components.fieldNames()) {
        JsonObject fields =
            components.getJsonObject(name).getJsonObject("properties", new JsonObject());
        for (String field : fields.fieldNames()) {
          if (fields.getValue(field) instanceof JsonObject property) {
            inner(contract + ' ' + name + '.' + field, property);
          }
        }
      }
    }
    assertEquals(List.of(), faults);
  }

  private void named(Place place, String where, JsonObject content) {
    JsonObject schema =
        content
            .getJsonObject(OperationContract.JSON, new JsonObject())
            .getJsonObject("schema", new JsonObject());
    if (schema.containsKey("properties")) {
      faults.add(place.name() + ' ' + where + " has an object without a name");
    }
  }

  private void inner(String where, JsonObject schema) {
    boolean isRequest = schema.containsKey("additionalProperties");
    if (schema.containsKey("properties") && !isRequest) {
      faults.add(where + " has an object without a name");
    }
    if (schema.getValue("items") instanceof JsonObject items && items.containsKey("properties")) {
      faults.add(where + " has items without a name");
    }
  }

  @Test
  void aPageGoesOnFromAfterAndSaysSo() {
    for (Place place : operations()) {
      JsonObject success = place.operation().getJsonObject("responses").getJsonObject("200");
      JsonObject json =
          followed(place.document(), success == null ? new JsonObject() : success)
              .getJsonObject("content", new JsonObject())
              .getJsonObject(OperationContract.JSON);
      if (json == null) {
        continue;
      }
      JsonObject page = followed(place.document(), json.getJsonObject("schema", new JsonObject()));
      JsonObject fields = page.getJsonObject("properties", new JsonObject());
      List<String> parameters = new ArrayList<>();
      String after = "";
      for (Object listed : place.operation().getJsonArray("parameters")) {
        JsonObject parameter = followed(place.document(), listed);
        parameters.add(parameter.getString("name"));
        if (parameter.getString("name").equals("after")) {
          after = parameter.getString("description");
        }
      }
      boolean hasNext = fields.containsKey("next");
      if (hasNext != parameters.contains("after")) {
        faults.add(place.name() + ": next and after do not go together");
      } else if (hasNext) {
        if (!after.contains("`next`")) {
          faults.add(place.name() + ": after does not say that it is the next of the page before");
        }
        if (!page.getJsonArray("required", new JsonArray()).contains("next")
            || !isOf(followed(place.document(), fields.getValue("next")), "null")) {
          faults.add(place.name() + ": next is not on every page, null on the last");
        }
        if (fields.containsKey("more") && !parameters.contains("limit")) {
          faults.add(place.name() + ": a page without limit");
        }
      }
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void errorsAreOfOneTypeInEachContract() {
    Set<String> types =
        Set.of(
            "#/components/schemas/ApiError",
            "#/components/schemas/OAuthError",
            "#/components/schemas/Refusal");
    for (Place place : operations()) {
      JsonObject responses = place.operation().getJsonObject("responses");
      for (String status : responses.fieldNames()) {
        JsonObject json =
            followed(place.document(), responses.getJsonObject(status))
                .getJsonObject("content", new JsonObject())
                .getJsonObject(OperationContract.JSON);
        if (Integer.parseInt(status) < 400 || json == null) {
          continue;
        }
        JsonObject schema = json.getJsonObject("schema");
        JsonArray alternatives = schema.getJsonArray("oneOf", new JsonArray().add(schema));
        for (Object alternative : alternatives) {
          if (!types.contains(((JsonObject) alternative).getString("$ref", ""))) {
            faults.add(place.name() + ' ' + status + " is of another type");
          }
        }
      }
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void whatChangesSomeOfItsFieldsHasNoDefaults() {
    for (Place place : operations()) {
      JsonObject json =
          place
              .operation()
              .getJsonObject("requestBody", new JsonObject())
              .getJsonObject("content", new JsonObject())
              .getJsonObject(OperationContract.JSON, new JsonObject());
      if (json.isEmpty()) {
        continue;
      }
      JsonObject schema = followed(place.document(), json.getJsonObject("schema"));
      JsonObject fields = schema.getJsonObject("properties", new JsonObject());
      for (String field : fields.fieldNames()) {
        if (schema.containsKey("minProperties")
            && followed(place.document(), fields.getValue(field)).containsKey("default")) {
          faults.add(place.name() + ": leaving out " + field + " would set it");
        }
      }
    }
    assertEquals(List.of(), faults);
  }

  @Test
  void everyParameterAndOperationIsDescribed() {
    for (Place place : operations()) {
      String summary = place.operation().getString("summary", "");
      if (summary.isEmpty() || summary.endsWith(".")) {
        faults.add(place.name() + ": a summary is a line without a full stop");
      }
      for (Object listed : place.operation().getJsonArray("parameters")) {
        JsonObject parameter = followed(place.document(), listed);
        if (parameter.getString("description", "").isEmpty()) {
          faults.add(place.name() + ": " + parameter.getString("name") + " has no description");
        }
      }
    }
    assertEquals(List.of(), faults);
  }
}
