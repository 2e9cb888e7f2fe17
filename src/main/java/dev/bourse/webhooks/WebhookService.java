package dev.bourse.webhooks;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.TrailStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Ids;
import dev.bourse.core.Page;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.Signature;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.events.ActivityStore;
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

/** Operations of members on their organization's endpoints. */
final class WebhookService {
  /**
   * Most endpoints of one organization: each event writes a row per endpoint, and a receiver can
   * fan out further by itself.
   */
  static final int MAX_ENDPOINTS = 16;

  private static final long OLD_SECRET_MILLIS = Duration.ofHours(24).toMillis();
  private static final int ID_LENGTH = 22;

  /**
   * Concurrent attempts that members of one organization may request, because a receiver may be
   * slow.
   */
  private static final int MOST_ASKED = 4;

  private final WebhookStore store;
  private final ActivityStore activity;
  private final TrailStore trails;
  private final SigningSecrets secrets;
  private final SignedSender sender;
  private final DeliveryEngine<?> engine;
  private final Clock clock;
  private final RandomGenerator random;
  private final Bulkhead asked =
      Bulkhead.of("test and resend requests", SignedSender.MAX_ASKED)
          .sharing(MOST_ASKED)
          .sharingFairly();

  WebhookService(
      WebhookStore store,
      ActivityStore activity,
      TrailStore trails,
      SigningSecrets secrets,
      SignedSender sender,
      DeliveryEngine<?> engine,
      Clock clock,
      RandomGenerator random) {
    this.store = store;
    this.activity = activity;
    this.trails = trails;
    this.secrets = secrets;
    this.sender = sender;
    this.engine = engine;
    this.clock = clock;
    this.random = random;
  }

  /** Returns the organization's endpoints, oldest first. */
  Future<List<WebhookEndpoint>> listWebhooks(Principal caller) {
    return store.listEndpoints(caller.org().orgId());
  }

  /**
   * Returns an endpoint; fails with {@code not-found} for a missing endpoint and for another
   * organization's.
   */
  Future<WebhookEndpoint> readWebhook(Principal caller, String endpointId) {
    return store
        .findEndpoint(caller.org().orgId(), endpointId)
        .map(
            found ->
                found.orElseThrow(() -> ApiException.notFound("webhook endpoint", endpointId)));
  }

  /** An endpoint with its new secret, which is shown once. */
  record WithSecret(WebhookEndpoint endpoint, String secret) {
    JsonObject json() {
      return endpoint.json().put("secret", secret);
    }
  }

  /** Whether endpoints can be created, which takes a secret key. */
  boolean isAvailable() {
    return secrets.isAvailable();
  }

  /** Creates an endpoint, which receives events from now on. */
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
            asked.format(),
            asked.kinds(),
            asked.clusters(),
            now,
            caller.actor(),
            null,
            null,
            1,
            null,
            1);
    return requireReachable(caller, asked.url())
        .compose(reachable -> requireClusters(orgId, asked))
        .compose(known -> Future.all(activity.newestId(), trails.newestSettled()))
        .compose(
            from ->
                store.create(
                    endpoint,
                    MAX_ENDPOINTS,
                    from.resultAt(0),
                    from.resultAt(1),
                    List.of(secrets.storing(endpoint.endpointId(), 1, secret)),
                    row(caller, "webhook_add", endpoint.shown())))
        .onSuccess(stored -> engine.pollNow())
        .map(stored -> new WithSecret(endpoint, Signature.text(secret)));
  }

  private Future<Void> requireReachable(Principal caller, String url) {
    String refusal = sender.client().refusal(url);
    if (refusal != null) {
      throw ApiException.badField("url", url, refusal);
    }
    return sender
        .client()
        .findUnreachable(caller.org().orgId(), url)
        .map(
            why -> {
              why.ifPresent(
                  fault -> {
                    throw ApiException.badField("url", url, "a reachable address: " + fault);
                  });
              return null;
            });
  }

  private Future<Void> requireClusters(String orgId, WebhookEndpoint.Settings asked) {
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
                  throw ApiException.badField(
                      "clusters", cluster, "names of clusters of " + orgId + ", not retired");
                }
              }
              return null;
            });
  }

  /** Changes the given settings; validates them like {@link #createWebhook}. */
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
                      ? requireReachable(caller, asked.url())
                      : Future.<Void>succeededFuture())
                  .compose(
                      reachable ->
                          isElsewhere
                              ? requireClusters(before.orgId(), asked)
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
                  .onSuccess(stored -> engine.pollNow())
                  .map(next);
            });
  }

  /** Deletes an endpoint; its pending deliveries are given up. */
  Future<JsonObject> deleteWebhook(Principal caller, String endpointId) {
    return readWebhook(caller, endpointId)
        .compose(
            endpoint -> {
              List<Statement> statements =
                  new ArrayList<>(WebhookStore.deletion(endpoint.orgId(), endpointId));
              statements.addAll(secrets.deletingAll(endpointId, endpoint.secretVersion()));
              statements.add(AuditStore.insert(row(caller, "webhook_delete", endpoint.shown())));
              return store.commit(statements);
            })
        .onSuccess(stored -> engine.pollNow())
        .map(stored -> new JsonObject().put("endpoint_id", endpointId));
  }

  /** Rotates an endpoint's secret; the previous one signs too for a day. */
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

  /** Sends a test event, and returns the result. */
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
                                  WebhookStore.insertTried(
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
                  .map(
                      found ->
                          found.orElseThrow(() -> ApiException.notFound("delivery", messageId)));
            });
  }

  /** Returns a page of the deliveries of the last seven days, newest first. */
  Future<Page<Delivery>> listWebhookDeliveries(
      Principal caller, String endpointId, int limit, Optional<Long> after) {
    return readWebhook(caller, endpointId)
        .compose(known -> store.listDeliveries(endpointId, limit, after));
  }

  /**
   * Sends an event once more, with the same id, and returns the result. Fails with {@code conflict}
   * while the event is pending, because earlier events of its queue must come first.
   */
  Future<Delivery> resendWebhookDelivery(Principal caller, String endpointId, long deliveryId) {
    return readWebhook(caller, endpointId)
        .compose(
            endpoint ->
                find(endpointId, deliveryId)
                    .compose(
                        delivery -> {
                          if (delivery.isPending()) {
                            throw ApiException.of(
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
                WebhookStore.recordResent(delivery, attempt, clock.millis()),
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
                found.orElseThrow(
                    () -> ApiException.notFound("delivery", String.valueOf(deliveryId))));
  }

  private Future<Attempt> bounded(Principal caller, Supplier<Future<Attempt>> attempt) {
    Bulkhead.Place place = asked.enter(caller.org().orgId());
    return attempt.get().onComplete(done -> place.close());
  }

  private AuditRow row(Principal caller, String action, String detail) {
    String orgId = caller.org().orgId();
    return new AuditRow(clock.millis(), orgId, caller.actor(), action, orgId, detail);
  }
}
