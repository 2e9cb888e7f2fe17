package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Requests of attackers. After each attempt the server still serves all others. */
class HostileTest {
  private static final String PUT =
      lines(
          "PUT /api/vm/capacity HTTP/1.1",
          "Host: a",
          "Authorization: Bearer all",
          "Content-Type: application/json");
  private static final String WHOAMI =
      lines("GET /api/whoami HTTP/1.1", "Host: a", "Authorization: Bearer all");

  private static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture = new EdgeFixture(EdgeFixture.hasty());
    fixture.behave(EdgeFixture::echoBody);
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  @AfterEach
  void theServerStillServes() {
    assertEquals(404, fixture.get("/still-here").statusCode());
    String body = "{\"max_gpus\":1,\"max_price_per_gpu_hour\":1,\"expected_version\":1}";
    assertEquals(200, fixture.put(body).statusCode());
  }

  private static String lines(String... lines) {
    return String.join("\r\n", lines) + "\r\n";
  }

  private static String raw(String text) throws IOException {
    try (RawClient client = new RawClient(fixture.port())) {
      return client.send(text).untilClosed();
    }
  }

  private static void status(int expected, String answer) {
    // Undecodable bytes have no version, and are answered as 1.0.
    assertTrue(answer.matches("(?s)HTTP/1\\.[01] " + expected + " .*"), expected + "? " + answer);
  }

  private static int put(byte[] body) throws IOException {
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(PUT + "Connection: close\r\nContent-Length: " + body.length + "\r\n\r\n");
      String answer = client.send(body).untilClosed();
      assertTrue(answer.startsWith("HTTP/1.1 "), answer);
      return Integer.parseInt(answer.substring(9, 12));
    }
  }

  private static int put(String body) throws IOException {
    return put(body.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aHeadThatNeverEndsIsCutOff() throws IOException {
    assertEquals("", raw("GET /api/whoami HTTP/1.1\r\nHost:"));
  }

  @Test
  void aDribbledHeadIsCutOff() throws Exception {
    try (RawClient client = new RawClient(fixture.port())) {
      client.send("GET /api/whoami HTTP/1.1\r\n");
      long deadline = System.nanoTime() + 60_000_000_000L;
      boolean closed = false;
      while (!closed && System.nanoTime() < deadline) {
        closed = client.isClosedSoon(20);
        try {
          client.send("X-A: b\r\n");
        } catch (IOException broken) {
          closed = true;
        }
      }
      assertTrue(closed, "the connection stays open");
    }
  }

  @Test
  void aSilentConnectionIsCutOff() throws IOException {
    assertEquals("", raw(""));
  }

  @Test
  void anIdleConnectionIsClosedAfterItsAnswer() throws IOException {
    status(404, raw("GET /none HTTP/1.1\r\nHost: a\r\n\r\n"));
  }

  @Test
  void aDribbledBodyIsToldSoAndCutOff() throws IOException {
    status(408, raw(PUT + "Content-Length: 1000\r\n\r\n{"));
  }

  @Test
  void aBodyThatIsTooLongIsRefusedBeforeItIsRead() throws IOException {
    String answer = raw(PUT + "Content-Length: 1000000\r\n\r\n{");
    status(413, answer);
    assertTrue(answer.contains("too-large"));
    assertTrue(answer.toLowerCase(java.util.Locale.ROOT).contains("connection: close"));
  }

  @Test
  void aMegabyteOfBodyIsRefused() throws IOException {
    assertEquals(413, put(new byte[1_000_000]));
  }

  @Test
  void aChunkedBodyIsBoundedToo() throws IOException {
    StringBuilder chunks = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      chunks.append("1000\r\n").append(" ".repeat(0x1000)).append("\r\n");
    }
    status(413, raw(PUT + "Transfer-Encoding: chunked\r\n\r\n" + chunks));
  }

  @Test
  void aChunkedBodyIsRead() throws IOException {
    String json = "{\"max_gpus\":1,\"max_price_per_gpu_hour\":1,\"expected_version\":1}";
    status(
        200,
        raw(
            PUT
                + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                + Integer.toHexString(json.length())
                + "\r\n"
                + json
                + "\r\n0\r\n\r\n"));
  }

  @Test
  void aBrokenChunkEndsTheConnection() throws IOException {
    raw(PUT + "Transfer-Encoding: chunked\r\n\r\nzz\r\n");
  }

  @Test
  void aBodyThatIsNotUtf8IsRefused() throws IOException {
    assertEquals(422, put(new byte[] {'{', '"', (byte) 0xc3, '"', ':', '1', '}'}));
  }

  @Test
  void aRepeatedKeyIsRefused() throws IOException {
    assertEquals(422, put("{\"max_gpus\":1,\"max_gpus\":2}"));
  }

  @Test
  void deepNestingIsRefused() throws IOException {
    assertEquals(422, put("[".repeat(30_000)));
    assertEquals(422, put("{\"a\":".repeat(10_000)));
  }

  @Test
  void whatIsNoJsonIsRefused() throws IOException {
    for (String body :
        new String[] {
          "{\"max_gpus\":NaN}",
          "{\"max_gpus\":+1}",
          "{\"max_gpus\":01}",
          "{\"max_gpus\":Infinity}",
          "{'max_gpus':1}",
          "{\"max_gpus\":1,}",
          "{} {}",
          "{}x",
          "\uFEFF{}",
          "nul",
          "{\"cluster\":\"a\\u0000b\"}",
          "{\"cluster\":\"\\ud800\"}",
          "// note\n{}"
        }) {
      assertEquals(422, put(body), body);
    }
  }

  @Test
  void aBodyThatNobodyAskedForDelaysNoAnswer() throws IOException {
    // The response comes after the body's end, as with an operation that reads the store.
    fixture.behave(
        call ->
            fixture.vertx.timer(50, TimeUnit.MILLISECONDS).map(EdgeFixture.encoded("{}", "\"v\"")));
    String asked = "\r\nHost: a\r\nAuthorization: Bearer all\r\nConnection: close\r\n";
    try {
      for (String request :
          new String[] {
            "GET /api/whoami HTTP/1.1" + asked,
            "DELETE /api/vm/orgs/acme/ssh-keys/k HTTP/1.1" + asked
          }) {
        status(200, raw(request + "Content-Length: 1\r\n\r\nx"));
        status(200, raw(request + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"));
      }
    } finally {
      fixture.behave(EdgeFixture::echo);
    }
  }

  @Test
  void hugeNumbersAreRefused() throws IOException {
    for (String number :
        new String[] {
          "1e999999999",
          "-1e999999999",
          "1e-999999999",
          "9".repeat(60_000),
          "1e65",
          "0.1e-65",
          "1e99999999999",
          "0e99999999999",
          "1.0e-99999999999",
          "1e-2147483648"
        }) {
      assertEquals(
          422,
          put("{\"max_gpus\":1,\"expected_version\":1,\"max_price_per_gpu_hour\":" + number + "}"));
    }
  }

  @Test
  void pathsThatAreNotNormalAreNotFound() throws IOException {
    for (String path :
        new String[] {
          "//api/whoami",
          "/api//whoami",
          "/./api/whoami",
          "/api/./whoami",
          "/x/../api/whoami",
          "/api/whoami/..",
          "/api/whoami/.",
          "/api/%2e/whoami",
          "/api/%2E%2E/api/whoami",
          "/api%2fwhoami",
          "/api/who%61mi",
          "/api/whoami%",
          "/api/whoami%zz",
          "/api/whoami/",
          "/api\\whoami",
          "*"
        }) {
      String answer =
          raw(
              "GET "
                  + path
                  + " HTTP/1.1\r\n"
                  + "Host: a\r\n"
                  + "Authorization: Bearer all\r\n"
                  + "Connection: close\r\n\r\n");
      status(404, answer);
    }
  }

  @Test
  void garbageIsAnsweredInJsonAndCutOff() throws IOException {
    String answer = raw("\u0016\u0003\u0001\u0000 garbage\r\n\r\n");
    status(400, answer);
    assertTrue(answer.contains("malformed-request"), answer);
  }

  @Test
  void pipelinedGarbageDoesNotHurtTheRequestBefore() throws IOException {
    String answer = raw("GET /api/none HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n");
    status(404, answer);
    assertTrue(answer.contains(" 400 Bad Request"), answer);
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    String answer =
        raw(
            "GET /api/a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(50)
                + "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assertEquals(51, answer.split("HTTP/1.1 404", -1).length - 1);
    assertTrue(answer.lastIndexOf("/last") > answer.lastIndexOf("/api/a"));
  }

  @Test
  void aRequestPipelinedBehindARefusedBodyIsNotServed() throws IOException {
    String answer =
        raw(
            PUT.replace("Bearer all", "Bearer none")
                + "Content-Length: 70000\r\n\r\n"
                + "x".repeat(70_000)
                + WHOAMI
                + "\r\n");
    status(401, answer);
    assertEquals(1, answer.split("x-request-id", -1).length - 1, answer);
  }

  @Test
  void lengthsThatDisagreeAreRefused() throws IOException {
    status(400, raw(PUT + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"));
    status(400, raw(PUT + "Content-Length: -1\r\n\r\n{}"));
    status(400, raw(PUT + "Content-Length: +2\r\n\r\n{}"));
    status(400, raw(PUT + "Content-Length: 2 3\r\n\r\n{}"));
    status(400, raw(PUT + "Content-Length: 99999999999999999999\r\n\r\n{}"));
  }

  @Test
  void aLengthBesideChunkedIsRefused() throws IOException {
    String answer =
        raw(
            PUT
                + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                + WHOAMI
                + "\r\n");
    status(400, answer);
    assertEquals(1, answer.split("x-request-id", -1).length - 1, answer);
  }

  @Test
  void aRequestWithoutOneHostIsRefusedInJsonAndTheConnectionServesOn() throws IOException {
    String rest = " HTTP/1.1\r\nAuthorization: Bearer all\r\n";
    for (String hosts :
        new String[] {"", "Host: a:b\r\n", "Host: a b\r\n", "Host: a\r\nHost: b\r\n"}) {
      String answer =
          raw(
              "GET /api/whoami"
                  + rest
                  + hosts
                  + "\r\nGET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      assertTrue(answer.startsWith("HTTP/1.1 400 "), hosts + answer);
      assertTrue(answer.contains("malformed-request"), answer);
      assertTrue(answer.contains("no route /last"), answer);
    }
  }

  @Test
  void aQueryThatCannotBeDecodedIsRefusedAsAnyOtherThatIsWrong() throws IOException {
    String rest = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    for (String query : new String[] {"%", "x=%", "%zz=1", "a=%00", "%c3=1"}) {
      for (String path : new String[] {"/api/whoami", "/api/vm/orgs/acme/ssh-keys"}) {
        String known =
            raw("GET " + path + '?' + query + rest + "Authorization: Bearer all\r\n\r\n");
        status(422, known);
        assertTrue(known.contains("bad-request"), known);
        status(401, raw("GET " + path + '?' + query + rest + "\r\n"));
      }
    }
  }

  @Test
  void anotherVersionOfHttpIsRefusedInJson() throws IOException {
    for (String version : new String[] {"HTTP/2.0", "HTTP/1.2", "http/1.1", "HTTP/11.1"}) {
      String answer = raw("GET /api/whoami " + version + "\r\nHost: a\r\n\r\n");
      assertTrue(answer.contains(" 400 "), version + answer);
      assertTrue(answer.contains("malformed-request"), version + answer);
    }
  }

  @Test
  void anotherTransferEncodingThanChunkedIsRefused() throws IOException {
    status(400, raw(PUT + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"));
    status(400, raw(PUT + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"));
    String both = "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n";
    status(400, raw(PUT + both));
  }

  @Test
  void aLongRequestLineIsRefusedInJson() throws IOException {
    String answer = raw("GET /" + "a".repeat(5_000) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    status(414, answer);
    assertTrue(answer.contains("uri-too-long"), answer);
  }

  @Test
  void longHeadersAreRefusedInJson() throws IOException {
    String answer = raw("GET / HTTP/1.1\r\nHost: a\r\nX: " + "a".repeat(9_000) + "\r\n\r\n");
    status(431, answer);
    assertTrue(answer.contains("headers-too-large"), answer);
  }

  @Test
  void expectContinueIsHonouredForAWelcomeBodyOnly() throws IOException {
    String json = "{\"max_gpus\":1,\"max_price_per_gpu_hour\":1,\"expected_version\":1}";
    try (RawClient client = new RawClient(fixture.port())) {
      client.send(PUT + "Expect: 100-continue\r\nContent-Length: " + json.length() + "\r\n\r\n");
      client.until("HTTP/1.1 100 Continue\r\n\r\n");
      client.send(json);
      client.until("HTTP/1.1 200");
    }
    String refused = raw(PUT + "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
    status(413, refused);
  }

  @Test
  void moreConnectionsThanTheBoundAreClosed() throws Exception {
    java.util.List<RawClient> clients = new java.util.ArrayList<>();
    try {
      for (int i = 0; i < 260; i++) {
        clients.add(new RawClient(fixture.port()));
      }
      assertEquals("", clients.get(259).untilClosed());
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
    long deadline = System.nanoTime() + 60_000_000_000L;
    HttpResponse<String> answer = null;
    while (answer == null) {
      try {
        answer = fixture.get("/still-here");
      } catch (java.io.UncheckedIOException e) {
        assertTrue(System.nanoTime() < deadline, "the server never recovers");
      }
    }
  }
}
