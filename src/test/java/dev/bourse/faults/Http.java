package dev.bourse.faults;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Requests to the service, and what comes of them. */
final class Http {
  /** Longer than any of the service's own time-outs and than a process is frozen here. */
  static final Duration PATIENCE = Duration.ofMillis((long) (30_000 * FaultWorld.PATIENCE));

  /** Between two tries of the same request. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(60))
          .build();

  private Http() {}

  /** An answer of the service. */
  record Answer(int status, JsonObject body, Optional<String> retryAfter) {
    boolean isOk() {
      return status / 100 == 2;
    }

    /** The code of a refusal. */
    String code() {
      return body.getString("error", "");
    }

    /** Whether nothing was done, and may be if it is asked for again. */
    boolean isRefusedForNow() {
      return status == 503 && !mayBeStored();
    }

    /** Whether it is no refusal of the write: that may be stored, or is without being in force. */
    boolean mayBeStored() {
      String detail = body.getString("detail", "");
      return status == 500
          || (status == 503 && (detail.contains("may be stored") || detail.contains("is stored")));
    }
  }

  /**
   * Sends a request.
   *
   * @throws ConnectException when it was not sent, for nobody listens
   * @throws IOException when it is not known what came of it
   */
  static Answer send(
      String baseUrl, String method, String path, String token, @Nullable JsonObject body)
      throws IOException {
    HttpRequest.Builder request =
        request(baseUrl, path, token)
            .method(
                method,
                body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    return send(request.build());
  }

  /** Sends a file. */
  static Answer sendFile(String baseUrl, String path, String token, Path file) throws IOException {
    return send(
        request(baseUrl, path, token)
            .header("Content-Type", "application/octet-stream")
            .PUT(BodyPublishers.ofFile(file))
            .build());
  }

  /** The digest of a file, read whole. */
  static String sha256(String baseUrl, String path, String token) throws IOException {
    try {
      HttpResponse<InputStream> response =
          CLIENT.send(
              request(baseUrl, path, token).build(), HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        return response.statusCode() == 200
            ? TestBytes.sha256(body)
            : "the answer is " + response.statusCode();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static HttpRequest.Builder request(String baseUrl, String path, String token) {
    return HttpRequest.newBuilder(URI.create(baseUrl + path))
        .timeout(PATIENCE)
        .header("Authorization", "Bearer " + token);
  }

  private static Answer send(HttpRequest request) throws IOException {
    try {
      HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
      String text = response.body();
      return new Answer(
          response.statusCode(),
          text.startsWith("{") ? new JsonObject(text) : new JsonObject(),
          response.headers().firstValue("retry-after"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * The body of an answer that must be a success. A request that is refused for now is sent again:
   * the time-outs of these services are short, and a busy machine stands still for longer at times.
   */
  static JsonObject ok(
      String baseUrl, String method, String path, String token, @Nullable JsonObject body) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    try {
      Answer answer = send(baseUrl, method, path, token, body);
      while (answer.isRefusedForNow() && System.nanoTime() < deadline) {
        LockSupport.parkNanos(PAUSE_NANOS);
        answer = send(baseUrl, method, path, token, body);
      }
      if (!answer.isOk()) {
        throw new ViolatedException(method + " " + path + " answers " + answer);
      }
      return answer.body();
    } catch (IOException e) {
      throw new ViolatedException(method + " " + path + " is not answered", e);
    }
  }
}
