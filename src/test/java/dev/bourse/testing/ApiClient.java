package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A client of the service with one token, a session's cookie, or none. Holds each answer against
 * the contract.
 */
public final class ApiClient {
  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofMinutes(1))
          .build();

  /** How the worlds of these tests name nodes: the pool and five digits. */
  private static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]-\\d{5}(?!\\d)");

  private final String baseUrl;
  private final @Nullable String token;

  /** Names and values of what every request carries besides. */
  private final String[] always;

  public ApiClient(String baseUrl, @Nullable String token, String... always) {
    this.baseUrl = baseUrl;
    this.token = token;
    this.always = always.clone();
  }

  /** The public part of the token, as audit rows name it. */
  public String actor() {
    return token == null ? "" : "token:" + token.split("_", -1)[1];
  }

  public HttpAnswer get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  public HttpAnswer put(String path, JsonObject body) {
    return send("PUT", path, body.encode(), "Content-Type", "application/json");
  }

  public HttpAnswer post(String path, JsonObject body) {
    return send("POST", path, body.encode(), "Content-Type", "application/json");
  }

  public HttpAnswer patch(String path, JsonObject body) {
    return send("PATCH", path, body.encode(), "Content-Type", "application/json");
  }

  public HttpAnswer delete(String path) {
    return send("DELETE", path, null);
  }

  /** Sends what is given, whether or not it makes sense. */
  public HttpAnswer send(String method, String path, @Nullable String body, String... headers) {
    try {
      return exchange(method, path, body, headers);
    } catch (IOException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }

  /** Sends bytes; the answer is JSON or has no body. */
  public HttpAnswer sendBytes(String method, String path, byte[] body, String... headers) {
    HttpResponse<byte[]> response = fetch(method, path, BodyPublishers.ofByteArray(body), headers);
    return checked(method, path, response, new String(response.body(), StandardCharsets.UTF_8));
  }

  /** Asks for bytes, whatever they are; not held against the contract. */
  public HttpResponse<byte[]> fetch(String method, String path, String... headers) {
    return fetch(method, path, BodyPublishers.noBody(), headers);
  }

  /** Sends bytes and tells what came back; not held against the contract. */
  public HttpResponse<byte[]> fetch(String method, String path, byte[] body, String... headers) {
    return fetch(method, path, BodyPublishers.ofByteArray(body), headers);
  }

  private HttpResponse<byte[]> fetch(
      String method, String path, BodyPublisher body, String... headers) {
    try {
      return HTTP.send(
          request(method, path, body, headers), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }

  /**
   * As {@link #send}, for tests in which the service goes away.
   *
   * @throws IOException when there is no answer
   */
  public HttpAnswer exchange(String method, String path, @Nullable String body, String... headers)
      throws IOException {
    HttpResponse<String> response;
    try {
      response =
          HTTP.send(
              request(
                  method,
                  path,
                  body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body),
                  headers),
              HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return checked(method, path, response, response.body());
  }

  private HttpRequest request(String method, String path, BodyPublisher body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + path))
            .timeout(Duration.ofMinutes(1))
            .method(method, body);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    if (always.length > 0) {
      request.headers(always);
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    return request.build();
  }

  private static HttpAnswer checked(
      String method, String path, HttpResponse<?> response, String body) {
    boolean isJson =
        response.headers().firstValue("content-type").orElse("").equals("application/json")
            && !body.isEmpty();
    // Node names are the Kubernetes surface's alone.
    assertFalse(path.startsWith("/api/vm/") && NODE_NAME.matcher(body).find(), body);
    JsonObject json = isJson ? new JsonObject(body) : null;
    HttpAnswer answer = new HttpAnswer(response.statusCode(), response.headers(), json);
    assertFalse(answer.header("x-request-id").isEmpty(), path);
    // Waiting makes no room in an organization's storage.
    if (answer.status() == 429 && !"org-cap".equals(answer.json().getString("error"))) {
      assertEquals(
          answer.json().getValue("retry_after_s").toString(), answer.header("retry-after"));
    }
    ContractCheck.check(method, path, answer.status(), json);
    return answer;
  }
}
