package dev.bourse.admin;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The service as one operator calls it. */
final class Service {
  /** Long enough for the slowest operation, a verification of some fifty batches. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** A direct upload of the longest usual file, 32 MiB, at a tenth of a megabyte a second. */
  private static final Duration FILE_TIMEOUT = Duration.ofMinutes(10);

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
    HttpRequest.Builder request = request(path).timeout(TIMEOUT);
    if (body == null) {
      request.method(method, BodyPublishers.noBody());
    } else {
      request
          .method(method, BodyPublishers.ofString(body.encode()))
          .header("Content-Type", "application/json");
    }
    return answer(exchange(request, BodyHandlers.ofString()));
  }

  /**
   * Calls an operation whose body is a file.
   *
   * @throws Refused as {@link #call}, and when the file cannot be read
   */
  JsonObject send(String method, String path, Path file, String contentType) throws Refused {
    try {
      HttpRequest.Builder request =
          request(path)
              .timeout(FILE_TIMEOUT)
              .method(method, BodyPublishers.ofFile(file))
              .header("Content-Type", contentType);
      return answer(exchange(request, BodyHandlers.ofString()));
    } catch (FileNotFoundException e) {
      throw new Refused(ExitCode.USAGE, "--file: cannot read " + file);
    }
  }

  /**
   * Calls an operation that answers with bytes, and keeps them in a new file. What came of them is
   * deleted when the rest does not come.
   *
   * @throws Refused as {@link #call}, and when there is such a file already or it cannot be written
   */
  void fetch(String method, String path, Path file) throws Refused {
    HttpRequest.Builder request =
        request(path).timeout(TIMEOUT).method(method, BodyPublishers.noBody());
    HttpResponse<InputStream> response = exchange(request, BodyHandlers.ofInputStream());
    try (InputStream body = response.body()) {
      if (response.statusCode() >= 300) {
        throw refusal(response, new String(body.readAllBytes(), StandardCharsets.UTF_8));
      }
      try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW)) {
        try {
          body.transferTo(out);
        } catch (IOException e) {
          Files.deleteIfExists(file);
          throw e;
        }
      }
    } catch (FileAlreadyExistsException e) {
      throw new Refused(ExitCode.USAGE, "--file: there is a file " + file + " already");
    } catch (IOException e) {
      throw new Refused(ExitCode.UNAVAILABLE, "the bytes cannot be kept in " + file + ": " + e);
    }
  }

  private HttpRequest.Builder request(String path) throws Refused {
    try {
      return HttpRequest.newBuilder(URI.create(baseUrl + path))
          .header("Authorization", "Bearer " + token);
    } catch (IllegalArgumentException e) {
      throw new Refused(ExitCode.USAGE, "--url: " + baseUrl + " is not http(s)://host[:port]");
    }
  }

  private <T> HttpResponse<T> exchange(HttpRequest.Builder request, BodyHandler<T> handler)
      throws Refused {
    try {
      return http.send(request.build(), handler);
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
    if (response.statusCode() < 300) {
      return json(response.body());
    }
    throw refusal(response, response.body());
  }

  private JsonObject json(String body) throws Refused {
    try {
      return new JsonObject(body);
    } catch (DecodeException e) {
      throw new Refused(
          ExitCode.UNAVAILABLE, baseUrl + " answers, but it is not a Bourse; check --url");
    }
  }

  private Refused refusal(HttpResponse<?> response, String body) throws Refused {
    JsonObject json = json(body);
    int status = response.statusCode();
    String detail = json.getString("error") + ": " + json.getString("detail", "no detail");
    return switch (status) {
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
