package dev.bourse.oauth;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Reads and validates an application's metadata (RFC 7591, section 2). */
final class ClientMetadata {
  /** More than applications have; each is listed in a page's headers. */
  private static final int MAX_REDIRECT_URIS = 20;

  private static final int MAX_NAME = 100;

  private ClientMetadata() {}

  /**
   * The application with the given id.
   *
   * @throws OAuthException naming the field at fault
   */
  static Client read(String clientId, JsonObject metadata) {
    Object method = metadata.getValue("token_endpoint_auth_method", "none");
    if (!"none".equals(method)) {
      throw refused("token_endpoint_auth_method: expected none; clients have no secrets here");
    }
    if (metadata.containsKey("client_secret") || metadata.containsKey("client_secret_expires_at")) {
      throw refused("client_secret: clients have no secrets here");
    }
    for (String type : texts(metadata, "response_types", List.of("code"))) {
      if (!type.equals("code")) {
        throw refused(
            "response_types: %s is not supported; expected code".formatted(Text.shown(type)));
      }
    }
    Set<String> known = Set.of(Client.CODE, Client.REFRESH, Client.DEVICE);
    Set<String> grantTypes = new LinkedHashSet<>();
    for (String type : texts(metadata, "grant_types", List.of(Client.CODE))) {
      // Unsupported types are left out, as RFC 7591 allows; the answer lists the registered ones.
      if (known.contains(type)) {
        grantTypes.add(type);
      }
    }
    List<String> redirectUris = texts(metadata, "redirect_uris", List.of());
    if (redirectUris.size() > MAX_REDIRECT_URIS) {
      throw refusedUri("expected at most " + MAX_REDIRECT_URIS);
    }
    for (String uri : redirectUris) {
      RedirectUris.fault(uri)
          .ifPresent(
              fault -> {
                throw refusedUri(Text.shown(uri) + ": " + fault);
              });
    }
    if (grantTypes.isEmpty()) {
      throw refused("grant_types: expected some of " + known);
    }
    if (grantTypes.contains(Client.CODE) && redirectUris.isEmpty()) {
      throw refusedUri("expected at least one");
    }
    return new Client(clientId, name(metadata, clientId), redirectUris, grantTypes);
  }

  private static String name(JsonObject metadata, String clientId) {
    Object name = metadata.getValue("client_name", "");
    if (!(name instanceof String text) || text.length() > MAX_NAME) {
      throw refused("client_name: expected at most " + MAX_NAME + " characters");
    }
    // Characters that change the appearance of the line would let one application pass for another.
    String plain =
        text.codePoints()
            .filter(c -> !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString()
            .trim();
    if (ReservedName.isTaken(plain)) {
      throw refused(
          "client_name: %s reads as the name of this service; choose another"
              .formatted(Text.shown(plain)));
    }
    return plain.isEmpty() ? clientId : plain;
  }

  private static List<String> texts(JsonObject metadata, String field, List<String> byDefault) {
    Object value = metadata.getValue(field);
    if (value == null) {
      return byDefault;
    }
    List<String> texts = new ArrayList<>();
    if (value instanceof JsonArray array) {
      for (Object item : array) {
        if (item instanceof String text) {
          texts.add(text);
        }
      }
      if (texts.size() == array.size()) {
        return texts;
      }
    }
    throw refused(Text.folded(field) + ": expected an array of strings");
  }

  private static OAuthException refused(String description) {
    return new OAuthException(OAuthException.INVALID_CLIENT_METADATA, description);
  }

  private static OAuthException refusedUri(String description) {
    return new OAuthException(OAuthException.INVALID_REDIRECT_URI, "redirect_uris: " + description);
  }
}
