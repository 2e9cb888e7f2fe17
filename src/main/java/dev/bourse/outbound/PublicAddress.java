package dev.bourse.outbound;

import java.net.Inet4Address;
import java.net.InetAddress;

/** Which addresses anybody on the internet could reach as well as we can. */
public final class PublicAddress {
  private PublicAddress() {}

  /**
   * Whether an address is none of this machine, of a private network, or of a special purpose (the
   * registries of RFC 6890), so that fetching from it tells nobody what only we can see.
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
   * Public by the registries, and answered by the cloud a machine is in: Azure's platform address
   * (metadata and keys of the agent) and IBM Cloud's private endpoints. The metadata addresses of
   * the others are link-local (169.254.0.0/16), shared (Alibaba's 100.100.100.200), of 192.0.0.0/24
   * (Oracle) or unique local (fd00:ec2::254, fd20:ce::254).
   */
  private static boolean isOfCloud(int a, int b, int c, int d) {
    return (a == 168 && b == 63 && c == 129 && d == 16)
        || (a == 161 && b == 26)
        || (a == 166 && b >= 8 && b < 12);
  }

  /** Global unicast alone, but for what carries an IPv4 address within or is for documents. */
  private static boolean isPublic6(byte[] bytes) {
    int first = ((bytes[0] & 0xff) << 8) | (bytes[1] & 0xff);
    int second = ((bytes[2] & 0xff) << 8) | (bytes[3] & 0xff);
    boolean isGlobal = (first & 0xe000) == 0x2000;
    boolean isTunnel = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    boolean isForDocuments = (first == 0x2001 && second == 0x0db8) || (first & 0xfff0) == 0x3ff0;
    return isGlobal && !isTunnel && !isForDocuments;
  }
}
