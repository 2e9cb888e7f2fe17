package dev.bourse.notifications;

import dev.bourse.access.ServiceSecrets;
import dev.bourse.core.Secrets;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Makes and verifies the tokens of links that end a member's mails. A token names the member and
 * does nothing else, so it neither expires nor is used up: a link in an old mail must work, and to
 * repeat it changes nothing. A username is never given to another person.
 */
final class UnsubscribeToken {
  private static final String SECRET = "unsubscribe";
  private static final char SEPARATOR = '.';

  private final ServiceSecrets secrets;

  UnsubscribeToken(ServiceSecrets secrets) {
    this.secrets = secrets;
  }

  /** A member of an organization. */
  record Recipient(String orgId, String username) {}

  /** Returns the token of a member. */
  Future<String> of(Recipient recipient) {
    String payload =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(
                (recipient.orgId() + '/' + recipient.username()).getBytes(StandardCharsets.UTF_8));
    return signature(payload).map(signature -> payload + SEPARATOR + signature);
  }

  /** Returns the member that a token names; empty if the service did not make it. */
  Future<Optional<Recipient>> verify(String token) {
    int end = token.lastIndexOf(SEPARATOR);
    if (end < 0) {
      return Future.succeededFuture(Optional.empty());
    }
    String payload = token.substring(0, end);
    return signature(payload)
        .map(
            signature ->
                Secrets.same(signature, token.substring(end + 1))
                    ? Optional.of(recipient(payload))
                    : Optional.empty());
  }

  /** Only payloads with a valid signature come here, so they are well-formed. */
  private static Recipient recipient(String payload) {
    String text = new String(Base64.getUrlDecoder().decode(payload), StandardCharsets.UTF_8);
    int slash = text.indexOf('/');
    return new Recipient(text.substring(0, slash), text.substring(slash + 1));
  }

  private Future<String> signature(String payload) {
    return secrets
        .get(SECRET)
        .map(secret -> Secrets.derived(HexFormat.of().formatHex(secret), payload));
  }
}
