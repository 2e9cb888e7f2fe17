package dev.bourse.webhooks;

import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.json.JsonObject;
import java.time.Clock;

/**
 * Sends signed events.
 *
 * @param secrets the signing keys
 * @param link the pages that messages for people lead to
 */
record SignedSender(SigningSecrets secrets, DeliveryClient client, EventLink link, Clock clock) {
  /** Prefix of the secrets in the store. */
  static final String SECRETS = "webhook/";

  /** Time-out of an attempt, from the look-up of the host to the head of the answer. */
  static final long ATTEMPT_MILLIS = 15_000;

  /** Concurrent attempts over all endpoints; at 30 KB each for TLS, a few MB. */
  static final int MAX_AT_ONCE = 256;

  /** Further attempts that members request and wait for. */
  static final int MAX_ASKED = 16;

  static DeliveryClient client(Vertx vertx, WebhookConfig config, Traces traces) {
    return new DeliveryClient(
        vertx,
        new HttpClientOptions(),
        new DeliveryClient.Terms(
            "webhooks",
            "Bourse-Webhooks/1",
            MAX_AT_ONCE,
            MAX_ASKED,
            ATTEMPT_MILLIS,
            "https://hooks.example.com/bourse"),
        config.privateHosts(),
        traces);
  }

  /**
   * Makes one attempt to deliver an event, in the format of the endpoint.
   *
   * @param body the event as {@link WebhookEvent#body} made it
   */
  Future<Attempt> send(WebhookEndpoint endpoint, String messageId, String body) {
    long now = clock.millis();
    return secrets
        .inForce(
            endpoint.endpointId(), endpoint.secretVersion(), endpoint.oldSecretUntilMillis(), now)
        .compose(
            keys -> {
              if (keys.isEmpty()) {
                return Future.succeededFuture(
                    new Attempt(null, "the endpoint's secret is lost; rotate it"));
              }
              return client.send(
                  DeliveryClient.Message.signed(
                      endpoint.url(),
                      "application/json",
                      messageId,
                      now,
                      keys,
                      Buffer.buffer(inFormatOf(endpoint, body))));
            });
  }

  /**
   * Made for each attempt, so that a delivery which another release stored, or a format that a
   * member changed, needs no change of rows.
   */
  private String inFormatOf(WebhookEndpoint endpoint, String body) {
    return switch (endpoint.format()) {
      case STANDARD -> body;
      case SLACK -> SlackMessage.of(new JsonObject(body), link);
    };
  }
}
