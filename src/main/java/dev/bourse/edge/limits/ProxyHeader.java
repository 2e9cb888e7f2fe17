package dev.bourse.edge.limits;

import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * What a proxy says of a connection before its first byte: PROXY protocol 1, a line of text, or 2,
 * bytes (haproxy.org, "The PROXY protocol"). Of all that it may say only the client's address is
 * looked at.
 *
 * @param source the client's address as sockets spell it; empty when the connection is the proxy's
 *     own, such as one that checks health, or the proxy does not know
 */
record ProxyHeader(String source) {
  /** Longest line of text, with its end: the protocol's. */
  private static final int MOST_TEXT_BYTES = 107;

  /**
   * Most bytes behind the length: addresses take 216 at most; the rest is what proxies add of their
   * own, some tens of bytes a piece, and is passed over. The protocol would allow 65,535.
   */
  private static final int MOST_ADDED_BYTES = 2_048;

  private static final byte[] TEXT = "PROXY ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] BINARY = HexFormat.of().parseHex("0d0a0d0a000d0a515549540a");

  /** The signature; version and command; family and protocol; the length of the rest. */
  private static final int BINARY_BYTES = 16;

  private static final int LOCAL = 0x20;
  private static final int PROXIED = 0x21;
  private static final int UNKNOWN = 0x00;
  private static final int TCP4 = 0x11;
  private static final int TCP6 = 0x21;
  private static final int UNIX_STREAM = 0x31;

  /** Both addresses and both ports. */
  private static final int TCP4_BYTES = 12;

  private static final int TCP6_BYTES = 36;

  private static final ProxyHeader OF_THE_PROXY = new ProxyHeader("");

  /** These bytes are no such header. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    private Malformed(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Takes the header from the start of what was received, and leaves the rest.
   *
   * @return null, and nothing is taken, while there is more to come of it
   * @throws Malformed as soon as it can be told
   */
  static @Nullable ProxyHeader read(ByteBuf in) throws Malformed {
    if (begins(in, BINARY)) {
      return in.readableBytes() < BINARY_BYTES ? null : readBinary(in);
    }
    if (begins(in, TEXT)) {
      return readText(in);
    }
    throw new Malformed("it begins otherwise");
  }

  /** Whether all there is begins so, as far as there is any. */
  private static boolean begins(ByteBuf in, byte[] signature) {
    int length = Math.min(in.readableBytes(), signature.length);
    for (int i = 0; i < length; i++) {
      if (in.getByte(in.readerIndex() + i) != signature[i]) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable ProxyHeader readBinary(ByteBuf in) throws Malformed {
    int start = in.readerIndex();
    int command = in.getUnsignedByte(start + BINARY.length);
    int family = in.getUnsignedByte(start + BINARY.length + 1);
    int added = in.getUnsignedShort(start + BINARY.length + 2);
    if (command != LOCAL && command != PROXIED) {
      throw new Malformed("its version or command is unknown");
    }
    if (added > MOST_ADDED_BYTES) {
      throw new Malformed("it is too long");
    }
    if (in.readableBytes() < BINARY_BYTES + added) {
      return null;
    }
    in.skipBytes(BINARY_BYTES);
    ByteBuf rest = in.readSlice(added);
    if (command == LOCAL) {
      return OF_THE_PROXY;
    }
    return switch (family) {
      case UNKNOWN, UNIX_STREAM -> OF_THE_PROXY;
      case TCP4 -> new ProxyHeader(address(rest, 4, TCP4_BYTES));
      case TCP6 -> new ProxyHeader(address(rest, 16, TCP6_BYTES));
      default -> throw new Malformed("it is of no stream");
    };
  }

  private static String address(ByteBuf rest, int bytes, int least) throws Malformed {
    if (rest.readableBytes() < least) {
      throw new Malformed("it is too short for its addresses");
    }
    byte[] address = new byte[bytes];
    rest.readBytes(address);
    return spelled(address);
  }

  private static @Nullable ProxyHeader readText(ByteBuf in) throws Malformed {
    int end = in.bytesBefore((byte) '\n') + 1;
    if (end == 0 ? in.readableBytes() >= MOST_TEXT_BYTES : end > MOST_TEXT_BYTES) {
      throw new Malformed("it is too long");
    }
    if (end == 0) {
      return null;
    }
    String line = in.readCharSequence(end, StandardCharsets.ISO_8859_1).toString();
    if (!line.endsWith("\r\n")) {
      throw new Malformed("its line does not end with CR LF");
    }
    String[] parts = line.substring(TEXT.length, end - 2).split(" ", -1);
    if (parts[0].equals("UNKNOWN")) {
      return OF_THE_PROXY;
    }
    boolean isV4 = parts[0].equals("TCP4");
    if (parts.length != 5 || !(isV4 || parts[0].equals("TCP6"))) {
      throw new Malformed("it is not TCP4 or TCP6, two addresses and two ports");
    }
    for (int i = 1; i <= 2; i++) {
      if (isV4 ? !NetUtil.isValidIpV4Address(parts[i]) : !isV6(parts[i])) {
        throw new Malformed("it has no address of its family");
      }
    }
    for (int i = 3; i <= 4; i++) {
      if (!parts[i].matches("0|[1-9]\\d{0,4}") || Integer.parseInt(parts[i]) > 65_535) {
        throw new Malformed("it has no port");
      }
    }
    return new ProxyHeader(spelled(NetUtil.createByteArrayFromIpAddressString(parts[1])));
  }

  /** Without the name of a network interface, which means nothing on another machine. */
  private static boolean isV6(String text) {
    return text.indexOf('%') < 0 && NetUtil.isValidIpV6Address(text);
  }

  private static String spelled(byte @Nullable [] address) throws Malformed {
    try {
      if (address != null) {
        return InetAddress.getByAddress(address).getHostAddress();
      }
    } catch (UnknownHostException ofAnotherLength) {
      // Refused below, like what could not be read.
    }
    throw new Malformed("it has no address of its family");
  }
}
