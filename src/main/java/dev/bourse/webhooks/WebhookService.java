package dev.bourse.webhooks;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.TrailStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Limit;
import dev.bourse.core.Page;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.Signature;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** What members do to their organization's endpoints. */
final class WebhookService {
  /**
   * Endpoints of one organization: each event makes a row for each, and a receiver can pass on what
   * it gets to as many as it likes.
   */
  static final int MAX_ENDPOINTS = 16;

  private static final long OLD_SECRET_MILLIS = Duration.ofHours(24).toMillis();
  private static final int ID_LENGTH = 22;

  /** Attempts that members of one organization wait for: a receiver may be silent for long. */
  private static final int MOST_ASKED = 4;

  private final WebhookStore store;
  private final TrailStore trails;
  private final SigningSecrets secrets;
  private final DeliveryClient client;
  private final SignedSender sender;
  private final Courier courier;
  private final Clock clock;
  private final RandomGenerator random;
  private final Limit asked =
      Limit.of("events being sent for members", SignedSender.MAX_ASKED)
          .sharing(MOST_ASKED)
          .sharingFairly();

  WebhookService(
      WebhookStore store,
      TrailStore trails,
      SigningSecrets secrets,
      DeliveryClient client,
      Courier courier,
      Clock clock,
      RandomGenerator random) {
    this.store = store;
    this.trails = trails;
    this.secrets = secrets;
    this.client = client;
    this.sender = new SignedSender(secrets, client, clock);
    this.courier = courier;
    this.clock = clock;
    this.random = random;
  }

  /** The organization's endpoints, oldest first. */
  Future<List<WebhookEndpoint>> listWebhooks(Principal caller) {
    return store.listEndpoints(caller.org().orgId());
  }

  /** Fails with {@code not-found} for one of another organization as for none. */
  Future<WebhookEndpoint> readWebhook(Principal caller, String endpointId) {
    return store
        .findEndpoint(caller.org().orgId(), endpointId)
        .map(found -> found.orElseThrow(() -> ApiError.notFound("webhook endpoint", endpointId)));
  }

  /** An endpoint with a secret that is told once. */
  record WithSecret(WebhookEndpoint endpoint, String secret) {
    JsonObject json() {
      return endpoint.json().put("secret", secret);
    }
  }

  /** Makes an endpoint, which is told of what happens from now on. */
  Future<WithSecret> createWebhook(Principal caller, WebhookEndpoint.Settings asked) {
    secrets.requireKey("secrets of webhooks");
    String orgId = caller.org().orgId();
    byte[] secret = secrets.mint();
    long now = clock.millis();
    WebhookEndpoint endpoint =
        new WebhookEndpoint(
            Ids.next("whe", random),
            orgId,
            asked.url(),
            asked.description(),
            asked.kinds(),
            asked.clusters(),
            now,
            caller.actor(),
            null,
            null,
            1,
            null,
            1);
    return demandReachable(caller, asked.url())
        .compose(reachable -> demandClusters(orgId, asked))
        .compose(known -> Future.all(store.newestActivity(), trails.newestSettled()))
        .compose(
            from ->
                store.create(
                    endpoint,
                    MAX_ENDPOINTS,
                    from.resultAt(0),
                    from.resultAt(1),
                    List.of(secrets.storing(endpoint.endpointId(), 1, secret)),
                    row(caller, "webhook_add", endpoint.shown())))
        .onSuccess(stored -> courier.changed())
        .map(stored -> new WithSecret(endpoint, Signature.text(secret)));
  }

  private Future<Void> demandReachable(Principal caller, String url) {
    String refusal = client.refusal(url);
    if (refusal != null) {
      throw ApiError.badField("url", url, refusal);
    }
    return client
        .unreachable(caller.org().orgId(), url)
        .map(
            why -> {
              why.ifPresent(
                  fault -> {
                    throw ApiError.badField("url", url, "an address that can be called: " + fault);
                  });
              return null;
            });
  }

  private Future<Void> demandClusters(String orgId, WebhookEndpoint.Settings asked) {
    List<String> wanted = asked.clusters();
    if (wanted == null) {
      return Future.succeededFuture();
    }
    return store
        .listClusters(orgId)
        .map(
            known -> {
              for (String cluster : wanted) {
                if (!known.contains(cluster)) {
                  throw ApiError.badField(
                      "clusters", cluster, "names of clusters of " + orgId + ", not retired");
                }
              }
              return null;
            });
  }

  /** Changes what is given; refused as the making of one is. */
  Future<WebhookEndpoint> changeWebhook(
      Principal caller, String endpointId, UnaryOperator<WebhookEndpoint.Settings> change) {
    return readWebhook(caller, endpointId)
        .compose(
            before -> {
              WebhookEndpoint.Settings asked = change.apply(before.settings());
              if (asked.equals(before.settings())) {
                return Future.succeededFuture(before);
              }
              WebhookEndpoint next = before.with(asked, clock.millis());
              boolean isMoved = !asked.url().equals(before.url());
              boolean isElsewhere = !Objects.equals(asked.clusters(), before.clusters());
              return (isMoved
                      ? demandReachable(caller, asked.url())
                      : Future.<Void>succeededFuture())
                  .compose(
                      reachable ->
                          isElsewhere
                              ? demandClusters(before.orgId(), asked)
                              : Future.succeededFuture())
                  .compose(
                      known ->
                          store.update(
                              before,
                              next,
                              List.of(),
                              row(
                                  caller,
                                  "webhook_update",
                                  next.shown() + " enabled=" + next.isEnabled())))
                  .onSuccess(stored -> courier.changed())
                  .map(next);
            });
  }

  /** Makes an end of an endpoint; what waits for it is given up. */
  Future<JsonObject> deleteWebhook(Principal caller, String endpointId) {
    return readWebhook(caller, endpointId)
        .compose(
            endpoint -> {
              List<Statement> statements = new ArrayList<>(WebhookStore.deletion(endpoint));
              statements.add(secrets.deleting(endpointId, endpoint.secretVersion()));
              statements.add(secrets.deleting(endpointId, endpoint.secretVersion() - 1));
              statements.add(AuditStore.insert(row(caller, "webhook_delete", endpoint.shown())));
              return store.commit(statements);
            })
        .onSuccess(stored -> courier.changed())
        .map(stored -> new JsonObject().put("endpoint_id", endpointId));
  }

  /** Gives an endpoint a new secret; the one before signs beside it for a day. */
  Future<WithSecret> rotateWebhookSecret(Principal caller, String endpointId) {
    return readWebhook(caller, endpointId)
        .compose(
            before -> {
              secrets.requireKey("secrets of webhooks");
              byte[] secret = secrets.mint();
              WebhookEndpoint next = before.rotated(clock.millis() + OLD_SECRET_MILLIS);
              return store
                  .update(
                      before,
                      next,
                      List.of(
                          secrets.storing(endpointId, next.secretVersion(), secret),
                          secrets.deleting(endpointId, before.secretVersion() - 1)),
                      row(caller, "webhook_rotate", "endpoint_id=" + endpointId))
                  .map(stored -> new WithSecret(next, Signature.text(secret)));
            });
  }

  /** Sends an event that tells nothing, and tells what came of it. */
  Future<Delivery> testWebhook(Principal caller, String endpointId) {
    return readWebhook(caller, endpointId)
        .compose(
            endpoint -> {
              String messageId = "msg_test_" + Ids.base62(random, ID_LENGTH);
              String body =
                  WebhookEvent.body(
                      EventKind.TEST,
                      clock.millis(),
                      new JsonObject()
                          .put("endpoint_id", endpointId)
                          .put("sent_by", caller.actor()));
              return bounded(caller, () -> sender.send(endpoint, messageId, body))
                  .compose(
                      attempt ->
                          store.commit(
                              List.of(
                                  WebhookStore.tried(
                                      endpointId,
                                      messageId,
                                      EventKind.TEST,
                                      body,
                                      attempt,
                                      clock.millis()),
                                  AuditStore.insert(
                                      row(
                                          caller,
                                          "webhook_test",
                                          "endpoint_id=%s message_id=%s"
                                              .formatted(endpointId, messageId))))))
                  .compose(stored -> store.findDelivery(endpointId, messageId))
                  .map(found -> found.orElseThrow(() -> ApiError.notFound("delivery", messageId)));
            });
  }

  /** A page of the deliveries of the last seven days, the newest first. */
  Future<Page<Delivery>> listWebhookDeliveries(
      Principal caller, String endpointId, int limit, Optional<Long> after) {
    return readWebhook(caller, endpointId)
        .compose(known -> store.listDeliveries(endpointId, limit, after));
  }

  /**
   * Sends an event once more, with the same id, and tells what came of it. Refused with {@code
   * conflict} while it still waits, for then what is before it is to come first.
   */
  Future<Delivery> resendWebhookDelivery(Principal caller, String endpointId, long deliveryId) {
    return readWebhook(caller, endpointId)
        .compose(
            endpoint ->
                find(endpointId, deliveryId)
                    .compose(
                        delivery -> {
                          if (delivery.isPending()) {
                            throw ApiError.of(
                                    ErrorCode.CONFLICT,
                                    "delivery " + deliveryId + " still waits and is sent by itself")
                                .with("reason", "wrong-status");
                          }
                          return bounded(
                                  caller,
                                  () ->
                                      sender.send(endpoint, delivery.messageId(), delivery.body()))
                              .compose(attempt -> resent(caller, endpointId, delivery, attempt));
                        }));
  }

  private Future<Delivery> resent(
      Principal caller, String endpointId, Delivery delivery, Attempt attempt) {
    return store
        .commit(
            List.of(
                WebhookStore.resent(delivery, attempt, clock.millis()),
                AuditStore.insert(
                    row(
                        caller,
                        "webhook_resend",
                        "endpoint_id=%s message_id=%s"
                            .formatted(endpointId, delivery.messageId())))))
        .compose(stored -> find(endpointId, delivery.id()));
  }

  private Future<Delivery> find(String endpointId, long deliveryId) {
    return store
        .findDelivery(endpointId, deliveryId)
        .map(
            found ->
                found.orElseThrow(() -> ApiError.notFound("delivery", String.valueOf(deliveryId))));
  }

  private Future<Attempt> bounded(Principal caller, Supplier<Future<Attempt>> attempt) {
    Limit.Place place = asked.enter(caller.org().orgId());
    return attempt.get().onComplete(done -> place.close());
  }

  private AuditRow row(Principal caller, String action, String detail) {
    String orgId = caller.org().orgId();
    return new AuditRow(clock.millis(), orgId, caller.actor(), action, orgId, detail);
  }
}
