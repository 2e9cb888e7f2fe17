package dev.bourse.oauth;

/**
 * A refusal in the form of RFC 6749: a code and a sentence. It is control flow, so it carries no
 * stack trace.
 */
final class OAuthException extends RuntimeException {
  private static final long serialVersionUID = 1;

  static final String INVALID_REQUEST = "invalid_request";
  static final String INVALID_CLIENT = "invalid_client";
  static final String INVALID_GRANT = "invalid_grant";
  static final String INVALID_SCOPE = "invalid_scope";
  static final String INVALID_TARGET = "invalid_target";
  static final String UNAUTHORIZED_CLIENT = "unauthorized_client";
  static final String UNSUPPORTED_GRANT_TYPE = "unsupported_grant_type";
  static final String UNSUPPORTED_RESPONSE_TYPE = "unsupported_response_type";
  static final String ACCESS_DENIED = "access_denied";
  static final String INVALID_REDIRECT_URI = "invalid_redirect_uri";
  static final String INVALID_CLIENT_METADATA = "invalid_client_metadata";
  static final String AUTHORIZATION_PENDING = "authorization_pending";
  static final String SLOW_DOWN = "slow_down";
  static final String EXPIRED_TOKEN = "expired_token";

  private final String code;

  OAuthException(String code, String description) {
    super(description, null, false, false);
    this.code = code;
  }

  String code() {
    return code;
  }

  /** The failure, in the characters allowed in an {@code error_description}. */
  String description() {
    StringBuilder plain = new StringBuilder();
    for (char c : String.valueOf(getMessage()).toCharArray()) {
      plain.append(c == '"' ? '\'' : c < ' ' || c > '~' || c == '\\' ? '?' : c);
    }
    return plain.toString();
  }
}
