package dev.bourse.webhooks;

import dev.bourse.core.Settings;
import dev.bourse.outbound.PublicHosts;
import java.time.Duration;
import java.util.Set;

/**
 * How webhooks are sent.
 *
 * @param privateHosts {@code webhooks.private-hosts}: hosts that are called although their
 *     addresses are not public, at any port and without TLS too, such as those of a company's own
 *     network
 * @param retryMillis {@code webhooks.retry-for}: for how long a delivery that fails is tried
 */
public record WebhookConfig(Set<String> privateHosts, long retryMillis) {
  public WebhookConfig {
    privateHosts = Set.copyOf(privateHosts);
  }

  public static WebhookConfig from(Settings settings) {
    return new WebhookConfig(
        PublicHosts.hosts(settings, "webhooks.private-hosts"),
        // Deliveries are kept for seven days, and must not outlive their record.
        settings.millis(
            "webhooks.retry-for", Duration.ofDays(3), Duration.ofSeconds(1), Duration.ofDays(6)));
  }
}
