package dev.bourse.oauth;

import dev.bourse.core.Settings;
import java.util.Set;
import java.util.TreeSet;

/**
 * How applications are known.
 *
 * @param metadataHosts {@code oauth.metadata-hosts}: hosts whose client-id metadata documents are
 *     fetched although their addresses are not public, such as those of a company's own network
 */
public record OAuthConfig(Set<String> metadataHosts) {

  public OAuthConfig {
    metadataHosts = Set.copyOf(metadataHosts);
  }

  public static OAuthConfig from(Settings settings) {
    Set<String> hosts = new TreeSet<>();
    for (String host : settings.text("oauth.metadata-hosts", "").split("[, ]+", -1)) {
      if (host.matches("[a-z0-9]([a-z0-9.-]*[a-z0-9])?")) {
        hosts.add(host);
      } else if (!host.isEmpty()) {
        settings.fault("oauth.metadata-hosts", host, "host names with commas between them");
      }
    }
    return new OAuthConfig(hosts);
  }
}
