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

/** Reads what a sign-in by a provider begins with: its description and its keys. Blocks. */
public final class OidcProbe {
  private static final String DISCOVERY = "/.well-known/openid-configuration";

  /** A description has some 2 KB, and a dozen keys with their certificates 40. */
  private static final int MOST_BYTES = 1 << 20;

  private OidcProbe() {}

  /**
   * Asks a provider.
   *
   * @param timeout how long the connection, and each answer to its first byte, may take
   * @return how many keys it signs with
   * @throws IOException that says what is wrong with it
   */
  public static int look(SignInConfig.Oidc provider, Duration timeout)
      throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(timeout).build();
    String place = provider.issuer() + DISCOVERY;
    JsonObject described = read(client, place, timeout);
    Object issuer = described.getValue("issuer");
    if (!provider.issuer().equals(issuer)) {
      throw new IOException(
          "%s: it calls itself '%s', so no sign-in would be accepted".formatted(place, issuer));
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
      throw new IOException(url + " is no JSON object", notJson);
    }
  }

  /** The JDK's client says of a refused connection nothing but its class. */
  private static String reason(Exception e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
