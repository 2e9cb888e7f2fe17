package dev.bourse.edge.limits;

import dev.bourse.core.IpAddress;
import io.netty.util.NetUtil;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A network of IP addresses, written {@code 10.0.0.0/8} or {@code fd00::/8}. */
public final class IpNetwork {
  private static final Pattern FORM = Pattern.compile("([0-9a-fA-F.:]+)/([1-9][0-9]{0,2})");

  private final byte[] first;

  /** The length of the prefix: 1 to 32, or 1 to 128. */
  private final int bits;

  private IpNetwork(byte[] first, int bits) {
    this.first = first;
    this.bits = bits;
  }

  /**
   * Parses a network; empty if the text is malformed, for IPv4-mapped IPv6 addresses, which sockets
   * do not report, and for the network of all addresses, which makes no distinction.
   */
  public static Optional<IpNetwork> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    Optional<String> canonical = IpAddress.canonical(form.group(1));
    if (canonical.isEmpty() || form.group(1).contains(":") != canonical.get().contains(":")) {
      return Optional.empty();
    }
    byte[] first = NetUtil.createByteArrayFromIpAddressString(form.group(1));
    int bits = Integer.parseInt(form.group(2));
    return first == null || bits > first.length * Byte.SIZE
        ? Optional.empty()
        : Optional.of(new IpNetwork(first, bits));
  }

  /** Returns whether an address is in the network; false for text that is not an address. */
  boolean contains(String address) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
    if (bytes == null || bytes.length != first.length) {
      return false;
    }
    int whole = bits / Byte.SIZE;
    for (int i = 0; i < whole; i++) {
      if (bytes[i] != first[i]) {
        return false;
      }
    }
    int rest = bits % Byte.SIZE;
    return rest == 0 || ((bytes[whole] ^ first[whole]) & 0xff) >> (Byte.SIZE - rest) == 0;
  }
}
