package dev.bourse.webhooks;

import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.Signature;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Sends events signed as of now.
 *
 * @param secrets what they are signed with
 */
record SignedSender(SigningSecrets secrets, DeliveryClient client, Clock clock) {
  /** Whose secrets they are, in the store. */
  static final String SECRETS = "webhook/";

  /** From the look-up of the host to the head of the answer. */
  static final long ATTEMPT_MILLIS = 15_000;

  /** Attempts at once, of all endpoints: with 30 KB each for TLS, some MB. */
  static final int MAX_AT_ONCE = 256;

  /** Attempts beside these that members ask for and wait for. */
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

  /** One attempt to get an event to an endpoint. */
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
              long seconds = TimeUnit.MILLISECONDS.toSeconds(now);
              Buffer bytes = Buffer.buffer(body);
              return client.send(
                  new DeliveryClient.Message(
                      HttpMethod.POST,
                      endpoint.url(),
                      Map.of(
                          "content-type",
                          "application/json",
                          "webhook-id",
                          messageId,
                          "webhook-timestamp",
                          String.valueOf(seconds),
                          "webhook-signature",
                          Signature.of(keys, messageId, seconds, bytes.getBytes())),
                      bytes));
            });
  }
}
