package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ErrorExample;
import io.vertx.core.json.JsonObject;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each operation has an example for each error status that it can answer. */
@Tag("fast")
class ErrorExamplesTest {
  @Test
  void eachErrorOfEachOperationHasAnExample() {
    List<String> without = new ArrayList<>();
    for (ErrorExample.Answer answer : ErrorExample.answers()) {
      if (answer.examples().isEmpty()) {
        without.add(answer.operationId() + ' ' + answer.status());
      }
    }
    assertEquals(List.of(), without);
  }

  @Test
  void anExampleIsWhatItsStatusMayAnswer() {
    List<String> faults = new ArrayList<>();
    for (ErrorExample.Answer answer : ErrorExample.answers()) {
      for (JsonObject example : answer.examples()) {
        String where = answer.operationId() + ' ' + answer.status() + ' ' + example.encode();
        if (example.encode().matches(".*\\{[a-z]+}.*")) {
          faults.add(where + ": a word was not replaced");
        }
        if (!answer.accepts(example)) {
          faults.add(where + ": not of the schema");
        }
        if (example.getValue("error") instanceof String code
            && !example.containsKey("error_description")) {
          boolean fits =
              Arrays.stream(ErrorCode.values())
                  .anyMatch(c -> c.code().equals(code) && c.status() == answer.status());
          if (!fits) {
            faults.add(where + ": no code of this status");
          }
        }
      }
    }
    assertEquals(List.of(), faults);
  }

  private static final String COMMON =
      """
      x-refusals:
        "404": { $ref: "#/components/responses/Absent" }
        "422": { $ref: "#/components/responses/Bad" }
      components:
        securitySchemes: { token: { type: http } }
        responses:
          Absent:
            content: { application/json: { examples: { one: { value: "no {absent}" } } } }
          Bad:
            content:
              application/json:
                examples:
                  parameter: { value: "it takes {parameters}" }
                  scope: { value: "it wants {scope}" }
      """;

  private static JsonObject responses(String operation) {
    String contract =
        """
        x-absent: { pool: pool 'x', other: thing }
        paths:
          /x:
            get:
              operationId: it
              responses: { x-refusals: [404, 422] }
        """;
    JsonObject whole =
        new JsonObject(ContractBundle.of(map(contract + operation.indent(6)), map(COMMON)));
    assertTrue(!whole.containsKey("x-absent"));
    JsonObject answers = new JsonObject();
    JsonObject read = whole.getJsonObject("paths").getJsonObject("/x").getJsonObject("get");
    for (String status : List.of("404", "422")) {
      JsonObject answer = read.getJsonObject("responses").getJsonObject(status);
      String ref = answer.getString("$ref", "");
      JsonObject shown =
          ref.isEmpty()
              ? answer
              : whole
                  .getJsonObject("components")
                  .getJsonObject("responses")
                  .getJsonObject(ref.replaceAll(".*/", ""));
      JsonObject examples =
          shown
              .getJsonObject("content")
              .getJsonObject("application/json")
              .getJsonObject("examples");
      answers.put(status + (ref.isEmpty() ? " own" : " shared"), examples);
    }
    return answers;
  }

  private static Map<String, Object> map(String yaml) {
    return new JsonObject(ContractFiles.json(new StringReader(yaml))).getMap();
  }

  private static JsonObject json(String yaml) {
    return new JsonObject(map(yaml));
  }

  @Test
  void aSharedExampleIsWordedForTheOperation() {
    assertEquals(
        json(
            """
            404 own: { one: { value: "no thing" } }
            422 shared: { parameter: { value: "it takes none" } }
            """),
        responses(""));
    assertEquals(
        json(
            """
            404 own: { one: { value: "no pool 'x'" } }
            422 own:
              parameter: { value: "it takes pool, limit" }
              scope: { value: "it wants pools:read" }
            """),
        responses(
            """
            security: [{ token: ["pools:read"] }]
            parameters: [{ name: pool, in: query }, { name: limit, in: query }]
            """));
  }

  @Test
  void anExampleOfTheOperationsOwnTakesItsPlace() {
    assertEquals(
        json("refused: { value: gone }"),
        responses("x-refusal-examples: { \"404\": gone }\n").getJsonObject("404 own"));
  }
}
