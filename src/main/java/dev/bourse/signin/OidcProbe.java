package dev.bourse.signin;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Reads an identity provider's metadata and keys, with which a sign-in starts. Blocks. */
public final class OidcProbe {
  private static final String DISCOVERY = "/.well-known/openid-configuration";

  /** The metadata takes some 2 KB, and a dozen keys with their certificates 40 KB. */
  private static final int MOST_BYTES = 1 << 20;

  private OidcProbe() {}

  /**
   * Checks a provider.
   *
   * @param timeout the longest wait for the connection, and for each answer's first byte
   * @return the number of its signing keys
   * @throws IOException with the fault of the provider
   */
  public static int look(SignInConfig.Oidc provider, Duration timeout)
      throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(timeout).build();
    String place = provider.issuer() + DISCOVERY;
    JsonObject described = read(client, place, timeout);
    Object issuer = described.getValue("issuer");
    if (!provider.issuer().equals(issuer)) {
      throw new IOException(
          "%s: its issuer is '%s', so no sign-in would be accepted".formatted(place, issuer));
    }
    if (!(described.getValue("jwks_uri") instanceof String keysAt)) {
      throw new IOException(place + ": it names no jwks_uri");
    }
    Object keys = read(client, keysAt, timeout).getValue("keys");
    if (!(keys instanceof JsonArray all) || all.isEmpty()) {
      throw new IOException(keysAt + ": there is no key");
    }
    return all.size();
  }

  private static JsonObject read(HttpClient client, String url, Duration timeout)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> answer;
    try {
      answer =
          client.send(
              HttpRequest.newBuilder(URI.create(url))
                  .timeout(timeout)
                  .header("Accept", "application/json")
                  .build(),
              HttpResponse.BodyHandlers.ofInputStream());
    } catch (IOException | IllegalArgumentException e) {
      throw new IOException(url + " cannot be read: " + reason(e), e);
    }
    try (InputStream body = answer.body()) {
      if (answer.statusCode() != 200) {
        throw new IOException(url + " answers " + answer.statusCode());
      }
      byte[] bytes = body.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException(url + " has over " + MOST_BYTES + " bytes");
      }
      return new JsonObject(new String(bytes, StandardCharsets.UTF_8));
    } catch (DecodeException | ClassCastException notJson) {
      throw new IOException(url + " is not a JSON object", notJson);
    }
  }

  /** The JDK's client reports a refused connection without a message. */
  private static String reason(Exception e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
