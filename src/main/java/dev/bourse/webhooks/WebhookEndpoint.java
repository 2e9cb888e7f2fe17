package dev.bourse.webhooks;

import dev.bourse.core.Times;
import dev.bourse.delivery.MaskedUrl;
import dev.bourse.delivery.SwitchOffReason;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of an organization that receives events.
 *
 * @param format the form in which it receives events
 * @param clusters the clusters whose events it receives; null for all present and future ones
 * @param disabledAtMillis when it was switched off; null while it is enabled
 * @param secretVersion version of the signing secret
 * @param oldSecretUntilMillis until when the previous version signs too; null if it does not
 * @param revision increases with each change
 */
record WebhookEndpoint(
    String endpointId,
    String orgId,
    String url,
    String description,
    EndpointFormat format,
    Set<EventKind> kinds,
    @Nullable List<String> clusters,
    long createdAtMillis,
    String createdBy,
    @Nullable Long disabledAtMillis,
    @Nullable String disabledReason,
    int secretVersion,
    @Nullable Long oldSecretUntilMillis,
    long revision) {

  WebhookEndpoint {
    clusters = clusters == null ? null : List.copyOf(clusters);
  }

  /** The settings that a member may change. */
  record Settings(
      String url,
      String description,
      EndpointFormat format,
      Set<EventKind> kinds,
      @Nullable List<String> clusters,
      boolean enabled) {}

  boolean isEnabled() {
    return disabledAtMillis == null;
  }

  Settings settings() {
    return new Settings(url, description, format, kinds, clusters, isEnabled());
  }

  /** Returns the endpoint with other settings. */
  WebhookEndpoint with(Settings next, long nowMillis) {
    return new WebhookEndpoint(
        endpointId,
        orgId,
        next.url(),
        next.description(),
        next.format(),
        next.kinds(),
        next.clusters(),
        createdAtMillis,
        createdBy,
        next.enabled() ? null : isEnabled() ? Long.valueOf(nowMillis) : disabledAtMillis,
        next.enabled() ? null : isEnabled() ? SwitchOffReason.SWITCHED_OFF.label() : disabledReason,
        secretVersion,
        oldSecretUntilMillis,
        revision + 1);
  }

  /** Returns the endpoint with a new secret; the previous one signs too until a time. */
  WebhookEndpoint rotated(long untilMillis) {
    return new WebhookEndpoint(
        endpointId,
        orgId,
        url,
        description,
        format,
        kinds,
        clusters,
        createdAtMillis,
        createdBy,
        disabledAtMillis,
        disabledReason,
        secretVersion + 1,
        untilMillis,
        revision + 1);
  }

  /** Returns true if the endpoint subscribes to an event. */
  boolean wants(WebhookEvent event) {
    return isEnabled()
        && kinds.contains(event.kind())
        && (clusters == null || event.cluster().map(clusters::contains).orElse(true));
  }

  JsonObject json() {
    return new JsonObject()
        .put("endpoint_id", endpointId)
        .put("url", url)
        .put("description", description)
        .put("format", format.label())
        .put("kinds", new JsonArray(EventKind.labels(kinds)))
        .put("clusters", clusters == null ? null : new JsonArray(clusters))
        .put("enabled", isEnabled())
        .put("disabled_at", Times.rfc3339OrNull(disabledAtMillis))
        .put("disabled_reason", disabledReason)
        .put("old_secret_until", Times.rfc3339OrNull(oldSecretUntilMillis))
        .put("created_at", Times.rfc3339(createdAtMillis))
        .put("created_by", createdBy);
  }

  /** Returns the description for audit rows. */
  String shown() {
    return "endpoint_id=%s url=%s format=%s kinds=[%s] clusters=%s"
        .formatted(
            endpointId,
            MaskedUrl.of(url),
            format.label(),
            String.join(",", EventKind.labels(kinds)),
            clusters == null ? "all" : "[" + String.join(",", clusters) + "]");
  }
}
