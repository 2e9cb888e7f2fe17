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
      return isPublic4(bytes[0] & 0xff, bytes[1] & 0xff, bytes[2] & 0xff);
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
