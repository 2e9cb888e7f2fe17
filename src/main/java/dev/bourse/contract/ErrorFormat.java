package dev.bourse.contract;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The formats of refusals by the operations of a contract ({@code x-errors}). */
public enum ErrorFormat {
  /** {@code {error, detail}} and the code's extras: the default. */
  JSON(""),
  /** An HTML page for clients that prefer one, else JSON. */
  PAGE("page"),
  /** {@code {error, error_description}} with the codes of RFC 6749, section 5.2. */
  OAUTH("oauth");

  /** The extension of an operation that names one of these. */
  public static final String EXTENSION = "x-errors";

  private final String label;

  ErrorFormat(String label) {
    this.label = label;
  }

  public static Optional<ErrorFormat> find(@Nullable String label) {
    String named = label == null ? "" : label;
    for (ErrorFormat refusals : values()) {
      if (refusals.label.equals(named)) {
        return Optional.of(refusals);
      }
    }
    return Optional.empty();
  }

  /** The HTTP status of a refusal. */
  public int status(ApiException error) {
    // RFC 6749 answers every malformed request with 400.
    return this == OAUTH && error.code() == ErrorCode.BAD_REQUEST ? 400 : error.code().status();
  }

  /** The refusal as JSON. */
  public JsonObject json(ApiException error) {
    if (this == OAUTH) {
      return new JsonObject()
          .put("error", oauthCode(error.code()))
          .put("error_description", plain(error.detail()));
    }
    return new JsonObject(error.fields());
  }

  private static String oauthCode(ErrorCode code) {
    return switch (code) {
      case INTERNAL -> "server_error";
      case OVERLOADED, STORAGE_FULL, RATE_LIMITED -> "temporarily_unavailable";
      default -> "invalid_request";
    };
  }

  /**
   * The detail with the characters allowed in error_description: printable ASCII except quote and
   * backslash.
   */
  private static String plain(String detail) {
    StringBuilder plain = new StringBuilder(detail.length());
    for (int i = 0; i < detail.length(); i++) {
      char c = detail.charAt(i);
      plain.append(c == '"' ? '\'' : c < ' ' || c > '~' || c == '\\' ? '?' : c);
    }
    return plain.toString();
  }
}
