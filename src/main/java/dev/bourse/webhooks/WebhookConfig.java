package dev.bourse.webhooks;

import dev.bourse.core.Settings;
import dev.bourse.outbound.PublicHosts;
import java.time.Duration;
import java.util.Set;

/**
 * Settings of webhooks.
 *
 * @param privateHosts {@code webhooks.private-hosts}: hosts that may have private addresses, use
 *     any port and plain HTTP, such as those of the operator's own network
 * @param retryMillis {@code webhooks.retry-for}: how long a failing delivery is retried
 */
public record WebhookConfig(Set<String> privateHosts, long retryMillis) {
  public WebhookConfig {
    privateHosts = Set.copyOf(privateHosts);
  }

  public static WebhookConfig from(Settings settings) {
    return new WebhookConfig(
        PublicHosts.hosts(settings, "webhooks.private-hosts"),
        // Deliveries are kept for seven days, and retries must end before the record is deleted.
        settings.millis(
            "webhooks.retry-for", Duration.ofDays(3), Duration.ofSeconds(1), Duration.ofDays(6)));
  }
}
