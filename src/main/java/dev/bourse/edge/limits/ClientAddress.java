package dev.bourse.edge.limits;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Determines the client address that a request's budget belongs to: the IPv4 address, or the /64 of
 * an IPv6 address, because one client commonly owns a whole /64.
 */
public final class ClientAddress {
  /**
   * The longest evaluated chain in X-Forwarded-For; longer ones do not come from trusted proxies.
   */
  private static final int MAX_HOPS = 16;

  private final Set<String> trustedProxies;

  /** Proxies with changing addresses, for example those of pods. */
  private final List<IpNetwork> trustedNetworks;

  /**
   * @param trustedProxies addresses of proxies, and networks of them
   */
  public ClientAddress(Set<String> trustedProxies) {
    Set<String> spelled = new HashSet<>(trustedProxies);
    for (String proxy : trustedProxies) {
      InetAddress address = NetUtil.createInetAddressFromIpAddressString(proxy);
      if (address != null) {
        // The form that sockets use, which does not contain "::".
        spelled.add(address.getHostAddress());
      }
    }
    this.trustedProxies = Set.copyOf(spelled);
    this.trustedNetworks =
        trustedProxies.stream().map(IpNetwork::parse).flatMap(Optional::stream).toList();
  }

  /**
   * Returns the budget key of the client behind a connection.
   *
   * @param peer the connection's address
   * @param forwardedFor the X-Forwarded-For header, evaluated from the right as far as trusted
   *     proxies reach
   */
  public String key(String peer, @Nullable String forwardedFor) {
    String client = peer;
    if (forwardedFor != null && isProxy(peer)) {
      int end = forwardedFor.length();
      for (int hop = 0; hop < MAX_HOPS && end > 0 && isProxy(client); hop++) {
        int comma = forwardedFor.lastIndexOf(',', end - 1);
        String named = forwardedFor.substring(comma + 1, end).trim();
        if (!NetUtil.isValidIpV4Address(named) && !NetUtil.isValidIpV6Address(named)) {
          break;
        }
        client = named;
        end = comma;
      }
    }
    return client.indexOf(':') < 0 ? client : network(client);
  }

  /** Returns whether the address is a proxy with clients behind it. */
  boolean isProxy(String peer) {
    if (trustedProxies.contains(peer)) {
      return true;
    }
    for (IpNetwork network : trustedNetworks) {
      if (network.contains(peer)) {
        return true;
      }
    }
    return false;
  }

  private static String network(String ipv6) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(ipv6);
    if (bytes == null) {
      return ipv6;
    }
    if (bytes.length == 4) {
      return NetUtil.bytesToIpAddress(bytes);
    }
    StringBuilder network = new StringBuilder(20);
    for (int i = 0; i < 8; i += 2) {
      network
          .append(Integer.toHexString((bytes[i] & 0xff) << 8 | (bytes[i + 1] & 0xff)))
          .append(':');
    }
    return network.append(":/64").toString();
  }
}
