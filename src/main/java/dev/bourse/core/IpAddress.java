package dev.bourse.core;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/** Internet addresses as text. */
public final class IpAddress {
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  /** The longest form: eight groups of four, or six and an IPv4 address. */
  private static final Pattern IPV6_LIKE =
      Pattern.compile("(?=.{2,45}$)[0-9a-fA-F.]*:[0-9a-fA-F:.]*");

  private static final int GROUPS = 8;

  private IpAddress() {}

  /**
   * The canonical form of an address, so that two spellings of it compare equal: IPv4 in four
   * decimal parts, IPv6 by RFC 5952. Empty if the text is not an address; no name server is asked.
   */
  public static Optional<String> canonical(String text) {
    if (IPV4.matcher(text).matches()) {
      return Optional.of(text);
    }
    if (!IPV6_LIKE.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      // A text with a colon is parsed as a literal and never looked up.
      InetAddress address = InetAddress.getByName(text);
      return Optional.of(
          address instanceof Inet6Address
              ? shortest(address.getAddress())
              : address.getHostAddress());
    } catch (UnknownHostException malformed) {
      return Optional.empty();
    }
  }

  /** The first of the longest runs of two or more zero groups becomes {@code ::}. */
  private static String shortest(byte[] bytes) {
    int[] groups = new int[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
      groups[i] = ((bytes[2 * i] & 0xff) << 8) | (bytes[2 * i + 1] & 0xff);
    }
    int runStart = 0;
    int runLength = 1;
    for (int i = 0; i < GROUPS; i++) {
      int length = 0;
      while (i + length < GROUPS && groups[i + length] == 0) {
        length++;
      }
      if (length > runLength) {
        runStart = i;
        runLength = length;
      }
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < GROUPS; i++) {
      if (runLength > 1 && i == runStart) {
        text.append("::");
        i += runLength - 1;
      } else {
        boolean afterGroup = text.length() > 0 && text.charAt(text.length() - 1) != ':';
        text.append(afterGroup ? ":" : "").append(Integer.toHexString(groups[i]));
      }
    }
    return text.toString();
  }
}
