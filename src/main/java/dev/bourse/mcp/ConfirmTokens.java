package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Base64;
import java.util.random.RandomGenerator;

/**
 * Tokens that a preview issues and a confirm consumes. A token permits one call of one tool with
 * these arguments, by this member, on the previewed version of the subject, once, within five
 * minutes.
 *
 * <p>It carries its own facts and an HMAC over them and over the arguments that the confirm
 * repeats, so that nothing is stored until it is used. Its use is a row, written in the commit of
 * the permitted write, or right before it; so it works once despite crashes, on any process.
 */
public final class ConfirmTokens {
  /** Time to show a preview to the user and get an answer. */
  static final long VALID_MILLIS = 5L * 60 * 1_000;

  private static final String FORM = "c1";
  private static final int NONCE_LENGTH = 22;

  private final Signer signer;
  private final McpStore store;
  private final Clock clock;
  private final RandomGenerator random;

  /**
   * @param secret 32 bytes shared by all processes of the store
   * @param random a cryptographic source
   */
  public ConfirmTokens(byte[] secret, McpStore store, Clock clock, RandomGenerator random) {
    this.signer = new Signer(secret);
    this.store = store;
    this.clock = clock;
    this.random = random;
  }

  /**
   * The facts of a token.
   *
   * @param subject the cluster or item
   * @param version the subject's at the preview
   */
  record Confirmation(String subject, long version, long expiresAtMillis, String nonce) {
    Confirmation {
      if (subject.isEmpty() || nonce.isEmpty() || version < 0) {
        throw new IllegalArgumentException(
            "a confirmation of '%s' at version %d, used up by '%s'"
                .formatted(subject, version, nonce));
      }
    }
  }

  /** A token and its expiry. */
  record IssuedToken(String token, long expiresAtMillis) {}

  /**
   * Issues a token for the confirm of a preview.
   *
   * @param arguments of the preview; the phase is ignored
   */
  IssuedToken issue(
      Principal caller, String tool, JsonObject arguments, String subject, long version) {
    long expiresAt = clock.millis() + VALID_MILLIS;
    String facts =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(
                new JsonArray()
                    .add(subject)
                    .add(version)
                    .add(expiresAt)
                    .add(Ids.base62(random, NONCE_LENGTH))
                    .encode()
                    .getBytes(StandardCharsets.UTF_8));
    return new IssuedToken(
        FORM + '.' + facts + '.' + sign(caller, tool, arguments, facts), expiresAt);
  }

  private String sign(Principal caller, String tool, JsonObject arguments, String facts) {
    return signer.sign(parts(caller, tool, arguments, facts));
  }

  private static String[] parts(Principal caller, String tool, JsonObject arguments, String facts) {
    JsonObject repeated = arguments.copy();
    repeated.remove("phase");
    repeated.remove("confirm_token");
    return new String[] {
      FORM, tool, CanonicalJson.text(repeated), caller.org().orgId(), caller.actor(), facts
    };
  }

  /**
   * Verifies the token in a confirm's arguments, without using it up.
   *
   * <p>Fails with {@code bad-request} when there is none, with {@code conflict} and a {@code
   * reason} when it belongs to another call ({@code confirm-altered}), has expired ({@code
   * confirm-expired}) or was used ({@code confirm-used}).
   */
  Future<Confirmation> check(Principal caller, String tool, JsonObject arguments) {
    String token = arguments.getString("confirm_token");
    if (token == null) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "confirm_token is missing; expected the one that phase preview gave");
    }
    String[] pieces = token.split("\\.", -1);
    if (pieces.length != 3
        || !pieces[0].equals(FORM)
        || !signer.matches(pieces[2], parts(caller, tool, arguments, pieces[1]))) {
      throw refused(
          "confirm-altered",
          """
          confirm_token is not of this call: token, arguments or member differ from the preview's; \
          nothing was written\
          """);
    }
    Confirmation confirmation = confirmation(pieces[1]);
    if (clock.millis() >= confirmation.expiresAtMillis()) {
      throw refused(
          "confirm-expired",
          "confirm_token has expired; preview again and confirm within five minutes");
    }
    return store
        .isUsed(confirmation.nonce())
        .map(
            used -> {
              if (used) {
                throw used();
              }
              return confirmation;
            });
  }

  private static Confirmation confirmation(String facts) {
    try {
      JsonArray list =
          new JsonArray(new String(Base64.getUrlDecoder().decode(facts), StandardCharsets.UTF_8));
      return new Confirmation(
          list.getString(0), list.getLong(1), list.getLong(2), list.getString(3));
    } catch (DecodeException | IllegalArgumentException signedByUs) {
      throw new IllegalStateException("a signed token cannot be read", signedByUs);
    }
  }

  /**
   * Marks a token used, in one commit with the permitted write; fails both if it was used before.
   */
  Statement use(Confirmation confirmation) {
    return store.use(confirmation.nonce(), confirmation.expiresAtMillis(), ConfirmTokens::used);
  }

  /** Marks a token used in a commit of its own, right before the permitted write. */
  Future<Void> spend(Confirmation confirmation) {
    return store.spend(use(confirmation));
  }

  private static ApiException used() {
    return refused(
        "confirm-used",
        "confirm_token was used before, and a token allows one write; preview again for another");
  }

  private static ApiException refused(String reason, String detail) {
    return ApiException.of(ErrorCode.CONFLICT, detail).with("reason", reason);
  }
}
