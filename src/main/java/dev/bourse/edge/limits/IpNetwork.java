package dev.bourse.edge.limits;

import dev.bourse.core.IpAddress;
import io.netty.util.NetUtil;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The addresses that begin with the same bits, written {@code 10.0.0.0/8} or {@code fd00::/8}. */
public final class IpNetwork {
  private static final Pattern FORM = Pattern.compile("([0-9a-fA-F.:]+)/([1-9][0-9]{0,2})");

  private final byte[] first;

  /** How many bits the addresses share: 1 to 32, or 1 to 128. */
  private final int bits;

  private IpNetwork(byte[] first, int bits) {
    this.first = first;
    this.bits = bits;
  }

  /**
   * The network of that name; empty for what is none, for IPv4 addresses in the form of IPv6, which
   * sockets never tell, and for the network of all addresses, which nobody means who tells some
   * from others.
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

  /** Whether an address is in the network; text that is no address is not. */
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
