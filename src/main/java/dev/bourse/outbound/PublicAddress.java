package dev.bourse.outbound;

import java.net.Inet4Address;
import java.net.InetAddress;

/** Decides which addresses are reachable from anywhere on the internet. */
public final class PublicAddress {
  private PublicAddress() {}

  /**
   * Returns true if the address is publicly routable: not this machine, not a private network and
   * not a special-purpose range (the registries of RFC 6890). A request to such an address reveals
   * nothing that only this machine can reach.
   */
  public static boolean isPublic(InetAddress address) {
    if (address.isLoopbackAddress()
        || address.isAnyLocalAddress()
        || address.isLinkLocalAddress()
        || address.isSiteLocalAddress()
        || address.isMulticastAddress()) {
      return false;
    }
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return isPublic4(bytes[0] & 0xff, bytes[1] & 0xff, bytes[2] & 0xff)
          && !isOfCloud(bytes[0] & 0xff, bytes[1] & 0xff, bytes[2] & 0xff, bytes[3] & 0xff);
    }
    return isPublic6(bytes);
  }

  private static boolean isPublic4(int a, int b, int c) {
    boolean isSpecial =
        a == 0
            || a == 10
            || a == 127
            || a >= 224
            || (a == 100 && b >= 64 && b < 128)
            || (a == 169 && b == 254)
            || (a == 172 && b >= 16 && b < 32)
            || (a == 192 && b == 168)
            || (a == 192 && b == 0 && (c == 0 || c == 2))
            || (a == 192 && b == 88 && c == 99)
            || (a == 198 && (b == 18 || b == 19))
            || (a == 198 && b == 51 && c == 100)
            || (a == 203 && b == 0 && c == 113);
    return !isSpecial;
  }

  /**
   * Addresses that the registries list as public but that a cloud serves to its own machines:
   * Azure's platform address (metadata and the agent's keys) and IBM Cloud's private endpoints. The
   * metadata addresses of other clouds are link-local (169.254.0.0/16), shared (Alibaba's
   * 100.100.100.200), in 192.0.0.0/24 (Oracle) or unique local (fd00:ec2::254, fd20:ce::254).
   */
  private static boolean isOfCloud(int a, int b, int c, int d) {
    return (a == 168 && b == 63 && c == 129 && d == 16)
        || (a == 161 && b == 26)
        || (a == 166 && b >= 8 && b < 12);
  }

  /**
   * Accepts global unicast only, without documentation ranges and ranges that embed an IPv4
   * address.
   */
  private static boolean isPublic6(byte[] bytes) {
    int first = ((bytes[0] & 0xff) << 8) | (bytes[1] & 0xff);
    int second = ((bytes[2] & 0xff) << 8) | (bytes[3] & 0xff);
    boolean isGlobal = (first & 0xe000) == 0x2000;
    boolean isTunnel = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    boolean isForDocuments = (first == 0x2001 && second == 0x0db8) || (first & 0xfff0) == 0x3ff0;
    return isGlobal && !isTunnel && !isForDocuments;
  }
}
