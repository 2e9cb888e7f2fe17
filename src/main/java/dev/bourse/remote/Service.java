package dev.bourse.remote;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An HTTP client of the service for one credential. It does not follow redirects. */
public final class Service {
  /** Long enough for the slowest operation, a verification of some fifty batches. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final String baseUrl;
  private final Credential credential;

  /**
   * @param baseUrl {@code http(s)://host[:port]}, without a slash at the end
   */
  public Service(String baseUrl, Credential credential) {
    this.baseUrl = baseUrl;
    this.credential = credential;
  }

  /** Returns true if requests carry no token. */
  public boolean isAnonymous() {
    return credential == Credential.NONE;
  }

  /**
   * Returns true if the token is a publishing credential, which other operations refuse. Its
   * audience says so.
   */
  public boolean onlyPublishes() throws RefusedException {
    String[] parts = credential.token().split("\\.", -1);
    try {
      return parts.length == 3
          && new JsonObject(
                      new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8))
                  .getValue("aud")
              instanceof String audience
          && audience.endsWith("/api/checkpoints");
    } catch (IllegalArgumentException | DecodeException other) {
      return false;
    }
  }

  /** Returns the address, without a slash at the end. */
  public String baseUrl() {
    return baseUrl;
  }

  /** Percent-encodes a part of a path or a query. */
  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** A request that may be sent more than once, so its body must be repeatable. */
  public record Request(
      String method, String url, Map<String, String> headers, BodyPublisher body) {
    public Request {
      headers = Map.copyOf(headers);
    }

    /** Returns a request without a body. */
    public static Request of(String method, String url, Map<String, String> headers) {
      return new Request(method, url, headers, BodyPublishers.noBody());
    }
  }

  /**
   * Calls an operation.
   *
   * @param path with its parameters, percent-encoded
   * @throws RefusedException with the cause and the remedy
   */
  public JsonObject call(String method, String path, @Nullable JsonObject body)
      throws RefusedException {
    return call(method, path, body, TIMEOUT);
  }

  /** Calls an operation that must answer within this time. */
  public JsonObject call(String method, String path, @Nullable JsonObject body, Duration timeout)
      throws RefusedException {
    Request request =
        body == null
            ? Request.of(method, baseUrl + path, Map.of())
            : new Request(
                method,
                baseUrl + path,
                Map.of("Content-Type", "application/json"),
                BodyPublishers.ofString(body.encode()));
    return answer(let(request, BodyHandlers.ofString(), timeout));
  }

  /** Returns the answer's JSON; throws {@link RefusedException} for a status from 300 on. */
  public JsonObject answer(HttpResponse<String> response) throws RefusedException {
    if (response.statusCode() >= 300) {
      throw refusal(response.statusCode(), response.headers(), response.body());
    }
    try {
      return new JsonObject(response.body());
    } catch (DecodeException e) {
      throw new RefusedException(
          ExitCode.UNAVAILABLE, baseUrl + " answers, but it is not a Bourse; check --url");
    }
  }

  /**
   * Sends a request with the token, and once more with a new token if this one has expired.
   *
   * @param timeout until the answer is complete; of a streamed answer, until its head
   * @return the answer, of any status
   * @throws RefusedException when there is no answer
   */
  public <T> HttpResponse<T> let(Request request, BodyHandler<T> handler, Duration timeout)
      throws RefusedException {
    if (!request.url().startsWith(baseUrl + '/')) {
      throw new IllegalArgumentException("the token is for " + baseUrl);
    }
    if (isAnonymous()) {
      return open(request, handler, timeout);
    }
    String token = credential.token();
    HttpResponse<T> response = send(request, token, handler, timeout);
    if (response.statusCode() == 401 && credential.renew(token)) {
      discard(response);
      return send(request, credential.token(), handler, timeout);
    }
    return response;
  }

  /**
   * Sends a request without a token: to an address that contains its own permission, or to an open
   * one.
   *
   * @param timeout until the answer is complete; of a streamed answer, until its head
   */
  public <T> HttpResponse<T> open(Request request, BodyHandler<T> handler, Duration timeout)
      throws RefusedException {
    return send(request, null, handler, timeout);
  }

  /** Sends a form without a token (RFC 6749); returns the answer, of any status. */
  public HttpResponse<String> form(String url, Map<String, String> fields) throws RefusedException {
    String body =
        fields.entrySet().stream()
            .map(field -> encoded(field.getKey()) + '=' + encoded(field.getValue()))
            .collect(Collectors.joining("&"));
    return open(
        new Request(
            "POST",
            url,
            Map.of("Content-Type", "application/x-www-form-urlencoded"),
            BodyPublishers.ofString(body)),
        BodyHandlers.ofString(),
        TIMEOUT);
  }

  /** Returns the JSON of an address that needs no token. */
  public JsonObject read(String url) throws RefusedException {
    return answer(
        open(
            Request.of("GET", url, Map.of("Accept", "application/json")),
            BodyHandlers.ofString(),
            TIMEOUT));
  }

  private <T> HttpResponse<T> send(
      Request request, @Nullable String token, BodyHandler<T> handler, Duration timeout)
      throws RefusedException {
    HttpRequest.Builder built;
    try {
      built = HttpRequest.newBuilder(URI.create(request.url()));
    } catch (IllegalArgumentException e) {
      throw new RefusedException(
          ExitCode.USAGE, "--url: " + baseUrl + " is not http(s)://host[:port]");
    }
    built.timeout(timeout).method(request.method(), request.body());
    request.headers().forEach(built::header);
    if (token != null) {
      built.header("Authorization", "Bearer " + token);
    }
    // The request's own time-out ends with the answer's head; the body may stall after it.
    CompletableFuture<HttpResponse<T>> answer =
        SharedHttpClient.client().sendAsync(built.build(), handler);
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw lost(new HttpTimeoutException("the answer is not whole"));
    } catch (ExecutionException e) {
      throw lost(failure(e));
    } catch (InterruptedException e) {
      answer.cancel(true);
      Thread.currentThread().interrupt();
      throw new RefusedException(ExitCode.UNAVAILABLE, "interrupted");
    }
  }

  private static IOException failure(ExecutionException e) {
    return e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
  }

  /** Returns the failure of a connection. */
  public RefusedException lost(IOException failure) {
    return new RefusedException(
        ExitCode.UNAVAILABLE,
        "cannot reach %s (%s); is the service up? Name another with --url or BOURSE_URL"
            .formatted(baseUrl, IoWords.of(failure)));
  }

  /** Returns the failure of an answer with a status from 300 on. */
  public RefusedException refusal(int status, HttpHeaders headers, String body) {
    JsonObject json;
    try {
      json = new JsonObject(body);
    } catch (DecodeException e) {
      // A proxy in front of the service answers like this, for example when it cannot reach the
      // service.
      return new RefusedException(
          status >= 500 || status == 429 ? ExitCode.UNAVAILABLE : ExitCode.REFUSED,
          baseUrl + " answers with status " + status + ", but it is not a Bourse; check --url");
    }
    String error = String.valueOf(json.getValue("error"));
    // Control characters of names and values must not reach the terminal.
    String detail =
        (error + ": " + json.getValue("detail", "no detail")).replaceAll("\\p{Cc}", "?");
    return switch (status) {
      case 401 ->
          new RefusedException(ExitCode.REFUSED, detail + '\n' + credential.advice(), status, json);
      case 429, 503 ->
          error.equals("org-cap")
              // Waiting does not free space in an organization's storage.
              ? new RefusedException(ExitCode.REFUSED, detail, status, json)
              : new RefusedException(
                  ExitCode.UNAVAILABLE,
                  detail + "\nTry again in " + json.getValue("retry_after_s", 1) + " s",
                  status,
                  json);
      case 408 ->
          new RefusedException(
              error.equals("request-timeout") ? ExitCode.UNAVAILABLE : ExitCode.REFUSED,
              detail,
              status,
              json);
      default ->
          new RefusedException(
              status >= 500 ? ExitCode.UNAVAILABLE : ExitCode.REFUSED,
              detail
                  + (status >= 500
                      ? "\nRequest " + headers.firstValue("x-request-id").orElse("?")
                      : ""),
              status,
              json);
    };
  }

  private void discard(HttpResponse<?> response) throws RefusedException {
    if (response.body() instanceof InputStream body) {
      try {
        body.close();
      } catch (IOException e) {
        throw lost(e);
      }
    }
  }
}
