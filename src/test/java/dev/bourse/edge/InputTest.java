package dev.bourse.edge;

import static dev.bourse.edge.EdgeFixture.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Parameters and bodies: accepted inputs, and errors that name the faulty one. */
class InputTest extends EchoFixture {
  private static void query(String target, String detail) {
    refused(fixture.get(target), detail);
  }

  private static void body(String body, String detail) {
    refused(fixture.put(body), detail);
  }

  private static void refused(HttpResponse<String> answer, String detail) {
    assertEquals(422, answer.statusCode(), answer.body());
    assertEquals("bad-request", json(answer).getString("error"));
    assertEquals(detail, json(answer).getString("detail"));
  }

  @Test
  void anUnknownParameterIsNamed() {
    query(
        "/api/vm/capacity?clutser=a",
        "unknown query parameter 'clutser'; this operation takes cluster");
    query("/api/whoami?a=1", "unknown query parameter 'a'; this operation takes none");
  }

  @Test
  void aRepeatedParameterIsRefused() {
    query("/api/vm/activity?page=1&page=1", "query parameter 'page' is given twice");
  }

  @Test
  void anIntegerIsDecimalDigits() {
    assertEquals(7, json(fixture.get("/api/vm/activity?page=7")).getInteger("page"));
    for (String value :
        new String[] {"1.5", "1e2", "[1]", "x", "", "0x1", "99999999999999999999"}) {
      HttpResponse<String> answer =
          fixture.get("/api/vm/activity?page=" + value.replace("[", "%5B").replace("]", "%5D"));
      refused(
          answer, "page: " + value + " is not acceptable; expected an integer from 0 to 1000000");
    }
    query(
        "/api/vm/activity?page=-1",
        "page: -1 is not acceptable; expected an integer from 0 to 1000000");
  }

  @Test
  void aNumberIsAFiniteDecimalInRange() {
    assertEquals(1, json(fixture.get("/api/vm/history?hours=1")).getDouble("hours"));
    for (String value : new String[] {"NaN", "Infinity", "1e4", "0.4", "8760.1", "1,5"}) {
      assertEquals(422, fixture.get("/api/vm/history?hours=" + value).statusCode(), value);
    }
  }

  @Test
  void anEnumSaysItsValues() {
    query("/api/vm/activity?who=me", "who: me is not acceptable; expected one of user, system");
  }

  @Test
  void aParameterThatIsNoTextIsRefused() {
    query(
        "/api/vm/capacity?cluster=%ff",
        "cluster: %ff is not acceptable; expected percent-encoded UTF-8 without U+0000");
    assertEquals(422, fixture.get("/api/vm/capacity?cluster=%00").statusCode());
    assertEquals(422, fixture.get("/api/vm/capacity?cluster=").statusCode());
  }

  @Test
  void aMissingBodyIsSaidSo() {
    refused(
        fixture.send("PUT", "/api/vm/capacity", null, "Authorization", "Bearer all"),
        "the body is missing; expected a JSON object");
    refused(fixture.put(""), "the body is missing; expected a JSON object");
  }

  @Test
  void anotherContentTypeIsUnsupported() {
    for (String type :
        new String[] {"text/plain", "application/json; charset=latin1", "application/jsonx"}) {
      HttpResponse<String> answer =
          fixture.send(
              "PUT", "/api/vm/capacity", "{}", "Authorization", "Bearer all", "Content-Type", type);
      assertEquals(415, answer.statusCode(), type);
    }
    assertEquals(
        415,
        fixture.send("PUT", "/api/vm/capacity", "{}", "Authorization", "Bearer all").statusCode());
  }

  @Test
  void aBodyThatIsNoObjectIsRefused() {
    body("[]", "body: an array is not acceptable; expected a JSON object");
    body("null", "body: null is not acceptable; expected a JSON object");
  }

  @Test
  void aMissingFieldIsNamedWithWhatIsExpected() {
    body(
        "{\"max_price_per_gpu_hour\":1,\"expected_version\":1}",
        "max_gpus is missing; expected an integer from 0 to 1000000");
  }

  @Test
  void anUnknownFieldIsNamedWithTheKnownOnes() {
    body(
        "{\"max_gpus\":1,\"max_price_per_gpu_hour\":1,\"expected_version\":1,\"maxgpus\":1}",
        "unknown field 'maxgpus'; expected only " + String.join(", ", declarable()));
  }

  /** The fields of a declaration in the order of the contract. */
  private static List<String> declarable() {
    List<String> fields =
        List.copyOf(
            json(fixture.get("/api/vm/openapi.json"))
                .getJsonObject("components")
                .getJsonObject("schemas")
                .getJsonObject("CapacityDeclaration")
                .getJsonObject("properties")
                .fieldNames());
    assertTrue(fields.contains("max_gpus") && fields.size() > 8, fields::toString);
    return fields;
  }

  @Test
  void aWrongFieldIsNamedByItsPlace() {
    String start = "{\"max_price_per_gpu_hour\":1,\"expected_version\":1,";
    body(
        start + "\"max_gpus\":1.5}",
        "max_gpus: 1.5 is not acceptable; expected an integer from 0 to 1000000");
    body(
        start + "\"max_gpus\":-8}",
        "max_gpus: -8 is not acceptable; expected an integer from 0 to 1000000");
    body(
        start + "\"max_gpus\":8,\"release\":[\"a\",\"b\",3]}",
        "release[2]: 3 is a number; expected a non-empty string");
  }

  @Test
  void aTextThatLooksLikeANumberIsSaidToBeAText() {
    String rest = ",\"max_price_per_gpu_hour\":1,\"expected_version\":1}";
    body(
        "{\"max_gpus\":\"16\"" + rest,
        "max_gpus: \"16\" is a string; expected an integer from 0 to 1000000");
    body(
        "{\"max_gpus\":true" + rest,
        "max_gpus: true is a boolean; expected an integer from 0 to 1000000");
    body(
        "{\"max_gpus\":{\"a\":1}" + rest,
        "max_gpus: an object is not acceptable; expected an integer from 0 to 1000000");
  }

  @Test
  void itemsAreCountedBeforeTheyAreLookedAt() {
    String start =
        "{\"max_gpus\":8,\"max_price_per_gpu_hour\":1,\"expected_version\":1,\"release\":[";
    body(
        start + "1,".repeat(4_096) + "1]}",
        "release: 4097 items are not acceptable; expected an array of at most 4096 items, each a"
            + " non-empty string");
    body(
        start + "\"a\"," + "1,".repeat(4_000) + "1]}",
        "release[1]: 1 is a number; expected a non-empty string");
  }

  @Test
  void aBodyOfVeryManyValuesIsRefusedAsItIsRead() {
    body(
        "{\"release\":[" + "1,".repeat(31_000) + "1]}",
        "body: more than 8192 values; expected fewer");
    body(
        "{\"release\":[" + "[],".repeat(9_000) + "1]}",
        "body: more than 8192 values; expected fewer");
  }

  @Test
  void aBodyThatNestsTooDeepIsToldTheLimit() {
    body("[".repeat(33) + "]".repeat(33), "body: nests deeper than 32 levels at line 1, column 33");
    body(
        "{\"max_gpus\":" + "1".repeat(65) + "}",
        "body: a number of more than 64 characters, or a name of more than 1024");
  }

  @Test
  void anEndOfALineIsNoPartOfAName() {
    HttpResponse<String> answer =
        fixture.send(
            "POST",
            "/api/vm/orgs/acme/ssh-keys",
            "{\"name\":\"laptop\\n\",\"public_key\":\"k\"}",
            "Authorization",
            "Bearer all",
            "Content-Type",
            "application/json");
    refused(
        answer,
        "name: laptop? is not acceptable; expected a string of 1 to 200 characters: no control"
            + " or invisible characters");
  }

  @Test
  void aLongValueIsNotEchoedWhole() {
    String answer =
        fixture
            .put("{\"max_gpus\":\"" + "x".repeat(5_000) + "\",\"" + "y".repeat(5_000) + "\":1}")
            .body();
    assertTrue(answer.length() < 400, answer);
  }

  @Test
  void decimalsArriveExactlyAndWholeNumbersAsIntegers() {
    fixture.behave(
        call ->
            io.vertx.core.Future.succeededFuture(
                Answer.ok(
                    new io.vertx.core.json.JsonObject()
                        .put("price", type(call.body().getValue("max_price_per_gpu_hour")))
                        .put("gpus", type(call.body().getValue("max_gpus"))))));
    HttpResponse<String> answer =
        fixture.put(
            "{\"max_gpus\":8.0,\"max_price_per_gpu_hour\":0.1000000000000000055,"
                + "\"expected_version\":1e0}");
    assertEquals(200, answer.statusCode(), answer.body());
    assertEquals("BigDecimal 0.1000000000000000055", json(answer).getString("price"));
    assertEquals("Long 8", json(answer).getString("gpus"));
  }

  private static String type(Object value) {
    return value.getClass().getSimpleName() + ' ' + value;
  }
}
