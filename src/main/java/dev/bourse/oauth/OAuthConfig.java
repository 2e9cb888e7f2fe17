package dev.bourse.oauth;

import dev.bourse.core.Settings;
import dev.bourse.outbound.PublicHosts;
import java.util.Set;

/**
 * The settings of client identification.
 *
 * @param metadataHosts {@code oauth.metadata-hosts}: hosts whose client-id metadata documents are
 *     fetched although their addresses are not public, such as those of a company's own network
 */
public record OAuthConfig(Set<String> metadataHosts) {

  public OAuthConfig {
    metadataHosts = Set.copyOf(metadataHosts);
  }

  public static OAuthConfig from(Settings settings) {
    return new OAuthConfig(PublicHosts.hosts(settings, "oauth.metadata-hosts"));
  }
}
