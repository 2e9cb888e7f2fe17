package dev.bourse.edge;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;

/** A server with one path for bytes, with a handler of each test. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
abstract class BytesFixture {
  private static final String CONTRACT =
      """
      openapi: 3.1.0
      info: {title: Bytes, version: 1.0.0, summary: Bytes.}
      servers: [{url: "https://api.bourse.dev"}]
      security: []
      paths:
        /bytes:
          get:
            operationId: getBytes
            responses: {"200": {description: Bytes.}}
          options:
            operationId: optionsOfBytes
            responses: {"204": {description: Nothing.}}
          put:
            operationId: putBytes
            requestBody: {required: true, content: {application/octet-stream: {}}}
            responses: {"200": {description: Taken.}}
      """;

  static final byte[] STORED = bytes(1_000_003);

  static EdgeFixture fixture;

  static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  static EdgeFixture serve(EdgeConfig config) {
    return new EdgeFixture(
        config, Sources.system(), null, List.of(EdgeFixture.contract("bytes", CONTRACT)));
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  static HttpResponse<byte[]> send(
      String method, HttpRequest.BodyPublisher body, String... headers) {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.port() + "/bytes"))
              .method(method, body);
      if (headers.length > 0) {
        request.headers(headers);
      }
      return fixture.client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
