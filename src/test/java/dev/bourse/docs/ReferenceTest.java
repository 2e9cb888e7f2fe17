package dev.bourse.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class ReferenceTest {
  private static final JsonObject DOCUMENT =
      new JsonObject(
          """
          {
            "info": {"description": "All of it."},
            "security": [{"apiToken": []}],
            "paths": {
              "/things/{id}": {
                "parameters": [{"$ref": "#/components/parameters/id"}],
                "put": {
                  "operationId": "writeThing",
                  "summary": "Write a thing",
                  "security": [{"apiToken": ["thing:write"]}],
                  "requestBody": {"content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/Thing"},
                    "examples": {"one": {"value": {"name": "it's"}}}}}},
                  "responses": {
                    "200": {"description": "Done.", "content": {"application/json": {
                      "schema": {"$ref": "#/components/schemas/Thing"}}}},
                    "404": {"$ref": "#/components/responses/NotFound"}}
                },
                "options": {"operationId": "preflight", "responses": {}}
              }
            },
            "components": {
              "parameters": {"id": {"name": "id", "in": "path", "required": true,
                "schema": {"type": "integer", "format": "int64", "minimum": 1, "default": 7}}},
              "responses": {"NotFound": {"description": "There is none."}},
              "schemas": {
                "Thing": {"type": "object", "required": ["name"], "properties": {
                  "name": {"type": "string"},
                  "also": {"$ref": "#/components/schemas/Thing/properties/name"},
                  "parts": {"type": "array", "items": {"type": "object", "properties": {
                    "kind": {"enum": ["a", "b"]},
                    "whole": {"oneOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}}}}}}
              }
            }
          }
          """);

  private final Reference reference =
      new Reference(DOCUMENT, "https://bourse.example", new Markdown());

  @Test
  void anOperationIsShownWithWhatItTakesAndAnswers() {
    List<Map<String, Object>> operations = reference.operations();
    assertEquals(1, operations.size());
    Map<String, Object> operation = operations.get(0);
    assertEquals("writeThing", operation.get("id"));
    assertEquals(List.of("thing:write"), operation.get("credentials"));
    assertEquals(
        """
        curl -sS -X PUT 'https://bourse.example/things/{id}' \\
          -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \\
          -d '{"name":"it'\\''s"}'\
        """,
        operation.get("command"));
    Map<String, Object> parameter = rows(operation, "parameters").get(0);
    assertEquals("id (path)", parameter.get("name"));
    assertEquals("integer (int64)", type(parameter));
    assertEquals("at least 1, default 7", parameter.get("bounds"));
    assertEquals(
        List.of("200", "404"),
        rows(operation, "answers").stream().map(answer -> answer.get("status")).toList());
  }

  @Test
  void nestedFieldsAreNamedByTheirPath() {
    Map<String, Object> thing = reference.namedSchemas().get(0);
    assertEquals(
        Map.of(
            "name", "string",
            "also", "string",
            "parts", "list of object",
            "parts[].kind", "a | b",
            "parts[].whole", "Thing or null"),
        rows(thing, "fields").stream()
            .collect(
                Collectors.toMap(row -> String.valueOf(row.get("name")), ReferenceTest::type)));
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> rows(Map<String, Object> holder, String name) {
    return (List<Map<String, Object>>) Objects.requireNonNull(holder.get(name));
  }

  private static String type(Map<String, Object> row) {
    return rows(row, "type").stream()
        .map(part -> String.valueOf(part.get("text")))
        .collect(Collectors.joining());
  }
}
