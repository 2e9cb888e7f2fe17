package dev.bourse.admin;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The service as one operator calls it. */
final class Service {
  /** Long enough for the slowest operation, a verification of some fifty batches. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  private final String baseUrl;
  private final String token;

  Service(String baseUrl, String token) {
    this.baseUrl = baseUrl;
    this.token = token;
  }

  /** The service did not do what was asked. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    private final ExitCode exitCode;

    Refused(ExitCode exitCode, String message) {
      super(message);
      this.exitCode = exitCode;
    }

    ExitCode exitCode() {
      return exitCode;
    }
  }

  /**
   * Calls an operation.
   *
   * @param path with its parameters, percent-encoded
   * @throws Refused saying what went wrong and what to do about it
   */
  JsonObject call(String method, String path, @Nullable JsonObject body) throws Refused {
    HttpRequest.Builder request;
    try {
      request = HttpRequest.newBuilder(URI.create(baseUrl + path));
    } catch (IllegalArgumentException e) {
      throw new Refused(ExitCode.USAGE, "--url: " + baseUrl + " is not http(s)://host[:port]");
    }
    request.timeout(TIMEOUT).header("Authorization", "Bearer " + token);
    if (body == null) {
      request.method(method, BodyPublishers.noBody());
    } else {
      request
          .method(method, BodyPublishers.ofString(body.encode()))
          .header("Content-Type", "application/json");
    }
    try {
      return answer(http.send(request.build(), BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new Refused(
          ExitCode.UNAVAILABLE,
          "cannot reach "
              + baseUrl
              + " ("
              + e.getClass().getSimpleName()
              + "); is the service up? Name another with --url or BOURSE_URL");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  private JsonObject answer(HttpResponse<String> response) throws Refused {
    JsonObject json;
    try {
      json = new JsonObject(response.body());
    } catch (DecodeException e) {
      throw new Refused(
          ExitCode.UNAVAILABLE, baseUrl + " answers, but it is not a Bourse; check --url");
    }
    int status = response.statusCode();
    if (status < 300) {
      return json;
    }
    String detail = json.getString("error") + ": " + json.getString("detail", "no detail");
    throw switch (status) {
      case 401 ->
          new Refused(
              ExitCode.REFUSED,
              detail
                  + "\nGive an operator's token in BOURSE_OPERATOR_TOKEN or a file with --token-file;"
                  + " the first one is in operator.json in the data folder");
      case 429, 503 ->
          new Refused(
              ExitCode.UNAVAILABLE,
              detail + "\nTry again in " + json.getValue("retry_after_s", 1) + " s");
      default ->
          new Refused(
              status >= 500 ? ExitCode.UNAVAILABLE : ExitCode.REFUSED,
              detail
                  + (status >= 500
                      ? "\nRequest " + response.headers().firstValue("x-request-id").orElse("?")
                      : ""));
    };
  }
}
