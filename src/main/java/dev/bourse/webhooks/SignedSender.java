package dev.bourse.webhooks;

import io.vertx.core.Future;
import java.time.Clock;
import java.util.concurrent.TimeUnit;

/**
 * Sends events signed as of now.
 *
 * @param secrets what they are signed with
 */
record SignedSender(Secrets secrets, WebhookClient client, Clock clock) {
  /** One attempt to get an event to an endpoint. */
  Future<Attempt> send(WebhookEndpoint endpoint, String messageId, String body) {
    long now = clock.millis();
    return secrets
        .signing(endpoint, now)
        .compose(
            keys -> {
              if (keys.isEmpty()) {
                return Future.succeededFuture(
                    new Attempt(null, "the endpoint's secret is lost; rotate it"));
              }
              long seconds = TimeUnit.MILLISECONDS.toSeconds(now);
              return client.send(
                  endpoint.url(),
                  new WebhookClient.Message(
                      messageId, seconds, Signature.of(keys, messageId, seconds, body), body));
            });
  }
}
