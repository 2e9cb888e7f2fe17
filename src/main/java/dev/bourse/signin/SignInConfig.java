package dev.bourse.signin;

import dev.bourse.core.Settings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The settings of members' sign-in.
 *
 * @param triesPerAddress forms and links that one client address may send in 15 minutes. A sign-in
 *     takes three, and an office has one address: the default admits a hundred people. Links cannot
 *     be guessed, and mails are limited by their recipient, so this only bounds work.
 * @param mailsPerEmail links that one client address may request in 15 minutes for one e-mail
 *     address
 * @param dnsServer the server for the DNS records that prove domains; empty for the system's server
 * @param oidc the identity provider offered beside mailed links; empty for none
 */
public record SignInConfig(
    int triesPerAddress,
    int mailsPerEmail,
    Optional<InetSocketAddress> dnsServer,
    Optional<Oidc> oidc) {
  private static final int DNS_PORT = 53;

  /**
   * An IPv4 or IPv6 address, the latter in brackets if a port follows; host names are not allowed.
   */
  private static final Pattern IP =
      Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\]");

  /** The hosts for which http is allowed: this machine. */
  private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

  /**
   * An OpenID Connect provider.
   *
   * @param issuer its URL, without a slash at its end
   * @param clientId this service's id at the provider
   * @param name the provider's name on the button
   */
  public record Oidc(String issuer, String clientId, String clientSecret, String name) {}

  /** Maps settings {@code signin.*}. Faults are recorded in the settings. */
  public static SignInConfig from(Settings settings) {
    String issuer = settings.text("signin.oidc.issuer", "");
    String clientId = settings.text("signin.oidc.client-id", "");
    String clientSecret = settings.text("signin.oidc.client-secret", "");
    String name = settings.text("signin.oidc.name", "your identity provider");
    if (!issuer.isEmpty()) {
      if (!isIssuer(issuer)) {
        settings.fault(
            "signin.oidc.issuer", issuer, "https://host[/path], or http for this machine");
      }
      if (clientId.isEmpty()) {
        settings.fault(
            "signin.oidc.client-id", clientId, "the client id registered at the provider");
      }
    }
    return new SignInConfig(
        settings.integer("signin.tries-per-address", 300, 1, 1_000_000),
        settings.integer("signin.mails-per-email", 5, 1, 1_000_000),
        dnsServer(settings),
        issuer.isEmpty()
            ? Optional.empty()
            : Optional.of(new Oidc(issuer, clientId, clientSecret, name)));
  }

  private static Optional<InetSocketAddress> dnsServer(Settings settings) {
    String text = settings.text("signin.dns-server", "");
    if (text.isEmpty()) {
      return Optional.empty();
    }
    try {
      URI uri = new URI("dns://" + text);
      String host = uri.getHost();
      if (host != null && IP.matcher(host).matches() && uri.getAuthority().equals(text)) {
        int port = uri.getPort() < 0 ? DNS_PORT : uri.getPort();
        return Optional.of(new InetSocketAddress(InetAddress.getByName(host), port));
      }
    } catch (URISyntaxException | UnknownHostException | IllegalArgumentException e) {
      // Reported below.
    }
    settings.fault(
        "signin.dns-server", text, "an IP address and, after a colon, a port; [::1]:53 for IPv6");
    return Optional.empty();
  }

  private static boolean isIssuer(String url) {
    try {
      URI uri = new URI(url);
      return uri.getHost() != null
          && uri.getQuery() == null
          && uri.getFragment() == null
          && uri.getUserInfo() == null
          && !url.endsWith("/")
          && ("https".equals(uri.getScheme())
              || ("http".equals(uri.getScheme()) && LOOPBACK.matcher(uri.getHost()).matches()));
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
