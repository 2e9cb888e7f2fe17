package dev.bourse.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.vertx.core.json.JsonObject;
import java.io.StringReader;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Contracts that use parts of the common file. */
class ContractBundleTest {
  private static final String COMMON =
      """
      components:
        schemas:
          Code: { type: string }
          Fault: { properties: { code: { $ref: "#/components/schemas/Code" } } }
          Unused: { type: integer }
        securitySchemes:
          token: { type: http }
        responses:
          Gone: { content: { $ref: "#/components/schemas/Fault" } }
      x-headers:
        usual: { Id: { type: string } }
      x-refusals:
        "404": { description: common }
        "410": { $ref: "#/components/responses/Gone" }
      """;

  private static Map<String, Object> map(String yaml) {
    return new JsonObject(ContractFiles.json(new StringReader(yaml))).getMap();
  }

  private static JsonObject bundled(String contract) {
    return new JsonObject(ContractBundle.of(map(contract), map(COMMON)));
  }

  private static JsonObject json(String yaml) {
    return new JsonObject(map(yaml));
  }

  @Test
  void whatIsNeededIsCopiedAndNothingElse() {
    String contract =
        """
        security: [{ token: [] }]
        body: { $ref: "common.yaml#/components/schemas/Fault" }
        """;
    String whole =
        """
        security: [{ token: [] }]
        body: { $ref: "#/components/schemas/Fault" }
        components:
          schemas:
            Code: { type: string }
            Fault: { properties: { code: { $ref: "#/components/schemas/Code" } } }
          securitySchemes:
            token: { type: http }
        """;
    assertEquals(json(whole), bundled(contract));
    assertEquals(bundled(contract).encode(), bundled(contract).encode());
  }

  @Test
  void aContractsOwnComponentWinsOverTheCommonOne() {
    String own = "a: { $ref: \"common.yaml#/components/schemas/Fault\" }\n";
    String code = "components: { schemas: { Code: { type: number } } }\n";
    JsonObject schemas = bundled(own + code).getJsonObject("components").getJsonObject("schemas");
    assertEquals("number", schemas.getJsonObject("Code").getString("type"));
  }

  @Test
  void otherPiecesStandBesideTheirNeighbours() {
    assertEquals(
        json("headers: { Id: { type: string }, Other: { type: number } }\ncomponents: {}"),
        bundled("headers: { $ref: \"common.yaml#/x-headers/usual\", Other: { type: number } }"));
  }

  @Test
  void aStatusStandsForTheContractsAnswerElseTheCommonOne() {
    JsonObject whole =
        bundled(
            """
            x-refusals: { "404": { description: own } }
            responses: { "200": { description: fine }, x-refusals: [410, 404] }
            """);
    assertEquals(
        json(
            """
            "200": { description: fine }
            "404": { description: own }
            "410": { $ref: "#/components/responses/Gone" }
            """),
        whole.getJsonObject("responses"));
    assertEquals(false, whole.containsKey("x-refusals"));
  }

  @Test
  void refusalsOfPagesHaveATableOfTheirOwn() {
    JsonObject whole =
        bundled(
            """
            x-page-refusals: { "404": { description: page } }
            paths:
              /page: { get: { x-errors: page, responses: { x-refusals: [404] } } }
              /data: { get: { responses: { x-refusals: [404] } } }
            """);
    JsonObject paths = whole.getJsonObject("paths");
    assertEquals(
        json("\"404\": { description: page }"),
        paths.getJsonObject("/page").getJsonObject("get").getJsonObject("responses"));
    assertEquals(
        json("\"404\": { description: common }"),
        paths.getJsonObject("/data").getJsonObject("get").getJsonObject("responses"));
    assertEquals(false, whole.containsKey("x-page-refusals"));
  }

  @Test
  void whatTheCommonFileLacksIsAFault() {
    assertThrows(
        IllegalStateException.class,
        () -> bundled("a: { $ref: \"common.yaml#/components/schemas/None\" }"));
    assertThrows(IllegalStateException.class, () -> bundled("a: { x-refusals: [499] }"));
  }
}
