package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client of the service with one token, or none. Holds each answer against the contract. */
final class Caller {
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  private final String baseUrl;
  private final @Nullable String token;

  Caller(String baseUrl, @Nullable String token) {
    this.baseUrl = baseUrl;
    this.token = token;
  }

  /** The public part of the token, as audit rows name it. */
  String actor() {
    return token == null ? "" : "token:" + token.split("_", -1)[1];
  }

  HttpAnswer get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  HttpAnswer put(String path, JsonObject body) {
    return send("PUT", path, body.encode(), "Content-Type", "application/json");
  }

  HttpAnswer post(String path, JsonObject body) {
    return send("POST", path, body.encode(), "Content-Type", "application/json");
  }

  HttpAnswer patch(String path, JsonObject body) {
    return send("PATCH", path, body.encode(), "Content-Type", "application/json");
  }

  HttpAnswer delete(String path) {
    return send("DELETE", path, null);
  }

  /** Sends what is given, whether or not it makes sense. */
  HttpAnswer send(String method, String path, @Nullable String body, String... headers) {
    try {
      return exchange(method, path, body, headers);
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }

  /**
   * As {@link #send}, for tests in which the service goes away.
   *
   * @throws IOException when there is no answer
   */
  HttpAnswer exchange(String method, String path, @Nullable String body, String... headers)
      throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + path))
            .timeout(Duration.ofSeconds(20))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    HttpResponse<String> response;
    try {
      response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    boolean isJson =
        response.headers().firstValue("content-type").orElse("").equals("application/json")
            && !response.body().isEmpty();
    JsonObject json = isJson ? new JsonObject(response.body()) : null;
    HttpAnswer answer = new HttpAnswer(response.statusCode(), response.headers(), json);
    assertFalse(answer.header("x-request-id").isEmpty(), path);
    if (answer.status() == 429) {
      assertEquals(
          answer.json().getValue("retry_after_s").toString(), answer.header("retry-after"));
    }
    ContractCheck.check(method, path, answer.status(), json);
    return answer;
  }
}
