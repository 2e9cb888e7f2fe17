package dev.bourse.webhooks;

import dev.bourse.core.ApiException;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.schemas.console.WebhookEndpointChangeJson;
import dev.bourse.schemas.console.WebhookEndpointOrderJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations of the console contract on webhooks. */
final class WebhookRoutes {
  private final WebhookService webhooks;

  WebhookRoutes(WebhookService webhooks) {
    this.webhooks = webhooks;
  }

  void bind(Operations operations) {
    operations
        .ok("listWebhooks", call -> webhooks.listWebhooks(call.principal()), this::endpoints)
        .created("createWebhook", this::create, WebhookService.WithSecret::json)
        .ok(
            "readWebhook",
            call -> webhooks.readWebhook(call.principal(), endpointId(call)),
            WebhookEndpoint::json)
        .ok("changeWebhook", this::change, WebhookEndpoint::json)
        .ok(
            "deleteWebhook",
            call -> webhooks.deleteWebhook(call.principal(), endpointId(call)),
            Function.identity())
        .ok(
            "rotateWebhookSecret",
            call -> webhooks.rotateWebhookSecret(call.principal(), endpointId(call)),
            WebhookService.WithSecret::json)
        .ok(
            "testWebhook",
            call -> webhooks.testWebhook(call.principal(), endpointId(call)),
            Delivery::json)
        .ok(
            "listWebhookDeliveries",
            call ->
                webhooks.listWebhookDeliveries(
                    call.principal(), endpointId(call), call.limit(), after(call)),
            CommonFields.page("deliveries", "delivery_id", Delivery::json))
        .ok(
            "resendWebhookDelivery",
            call ->
                webhooks.resendWebhookDelivery(
                    call.principal(), endpointId(call), deliveryId(call)),
            Delivery::json);
  }

  private static String endpointId(Call call) {
    return call.text("endpoint_id");
  }

  /** An id that is not a number names no delivery. */
  private static long deliveryId(Call call) {
    String id = call.text("delivery_id");
    return number(id).orElseThrow(() -> ApiException.notFound("delivery", id));
  }

  private static Optional<Long> after(Call call) {
    return call.findText("after")
        .map(
            id ->
                number(id)
                    .orElseThrow(
                        () -> ApiException.badField("after", id, "the next of a page before")));
  }

  private static Optional<Long> number(String id) {
    return id.matches("\\d{1,18}") ? Optional.of(Long.valueOf(id)) : Optional.empty();
  }

  private JsonObject endpoints(List<WebhookEndpoint> endpoints) {
    JsonArray each = new JsonArray();
    endpoints.forEach(endpoint -> each.add(endpoint.json()));
    return new JsonObject()
        .put("endpoints", each)
        .put("max_endpoints", WebhookService.MAX_ENDPOINTS)
        .put("available", webhooks.isAvailable());
  }

  private Future<WebhookService.WithSecret> create(Call call) {
    WebhookEndpointOrderJson sent = WebhookEndpointOrderJson.read(call.body());
    return webhooks.createWebhook(
        call.principal(),
        new WebhookEndpoint.Settings(
            sent.url(),
            sent.description(),
            EndpointFormat.of(sent.format()),
            EventKind.all(sent.kinds()),
            sent.clusters().map(WebhookRoutes::names).over(null),
            true));
  }

  private Future<WebhookEndpoint> change(Call call) {
    WebhookEndpointChangeJson sent = WebhookEndpointChangeJson.read(call.body());
    return webhooks.changeWebhook(
        call.principal(),
        endpointId(call),
        now ->
            new WebhookEndpoint.Settings(
                or(sent.url(), now.url()),
                or(sent.description(), now.description()),
                sent.format() == null ? now.format() : EndpointFormat.of(sent.format()),
                sent.kinds() == null ? now.kinds() : EventKind.all(sent.kinds()),
                sent.clusters().map(WebhookRoutes::names).over(now.clusters()),
                or(sent.enabled(), now.enabled())));
  }

  private static <T> T or(@Nullable T sent, T now) {
    return sent == null ? now : sent;
  }

  private static List<String> names(List<String> clusters) {
    return clusters.stream().distinct().sorted().toList();
  }
}
