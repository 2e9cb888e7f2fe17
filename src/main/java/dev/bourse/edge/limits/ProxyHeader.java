package dev.bourse.edge.limits;

import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The header of the PROXY protocol at the start of a connection: version 1, a line of text, or
 * version 2, binary (haproxy.org, "The PROXY protocol"). Only the client's address is used.
 *
 * @param source the client's address in the form that sockets use; empty if the connection is the
 *     proxy's own, for example a health check, or the address is unknown
 */
record ProxyHeader(String source) {
  /** The protocol's longest line, including its end. */
  private static final int MOST_TEXT_BYTES = 107;

  /**
   * The most bytes after the length: addresses take at most 216; the rest is proxies' own additions
   * of some tens of bytes each, which are skipped. The protocol would allow 65,535.
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

  /** The bytes are not a valid header. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1;

    private MalformedException(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * Reads the header from the start of the received bytes, and leaves the rest.
   *
   * @return null if the header is incomplete; then no bytes are consumed
   * @throws MalformedException as soon as the fault is detectable
   */
  static @Nullable ProxyHeader read(ByteBuf in) throws MalformedException {
    if (begins(in, BINARY)) {
      return in.readableBytes() < BINARY_BYTES ? null : readBinary(in);
    }
    if (begins(in, TEXT)) {
      return readText(in);
    }
    throw new MalformedException("it does not start with a PROXY header");
  }

  /** Returns whether the received bytes match the signature so far. */
  private static boolean begins(ByteBuf in, byte[] signature) {
    int length = Math.min(in.readableBytes(), signature.length);
    for (int i = 0; i < length; i++) {
      if (in.getByte(in.readerIndex() + i) != signature[i]) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable ProxyHeader readBinary(ByteBuf in) throws MalformedException {
    int start = in.readerIndex();
    int command = in.getUnsignedByte(start + BINARY.length);
    int family = in.getUnsignedByte(start + BINARY.length + 1);
    int added = in.getUnsignedShort(start + BINARY.length + 2);
    if (command != LOCAL && command != PROXIED) {
      throw new MalformedException("its version or command is unknown");
    }
    if (added > MOST_ADDED_BYTES) {
      throw new MalformedException("it is too long");
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
      default -> throw new MalformedException("it is not of a stream");
    };
  }

  private static String address(ByteBuf rest, int bytes, int least) throws MalformedException {
    if (rest.readableBytes() < least) {
      throw new MalformedException("it is too short for its addresses");
    }
    byte[] address = new byte[bytes];
    rest.readBytes(address);
    return spelled(address);
  }

  private static @Nullable ProxyHeader readText(ByteBuf in) throws MalformedException {
    int end = in.bytesBefore((byte) '\n') + 1;
    if (end == 0 ? in.readableBytes() >= MOST_TEXT_BYTES : end > MOST_TEXT_BYTES) {
      throw new MalformedException("it is too long");
    }
    if (end == 0) {
      return null;
    }
    String line = in.readCharSequence(end, StandardCharsets.ISO_8859_1).toString();
    if (!line.endsWith("\r\n")) {
      throw new MalformedException("its line does not end with CR LF");
    }
    String[] parts = line.substring(TEXT.length, end - 2).split(" ", -1);
    if (parts[0].equals("UNKNOWN")) {
      return OF_THE_PROXY;
    }
    boolean isV4 = parts[0].equals("TCP4");
    if (parts.length != 5 || !(isV4 || parts[0].equals("TCP6"))) {
      throw new MalformedException("it is not TCP4 or TCP6, two addresses and two ports");
    }
    for (int i = 1; i <= 2; i++) {
      if (isV4 ? !NetUtil.isValidIpV4Address(parts[i]) : !isV6(parts[i])) {
        throw new MalformedException("its address does not match its family");
      }
    }
    for (int i = 3; i <= 4; i++) {
      if (!parts[i].matches("0|[1-9]\\d{0,4}") || Integer.parseInt(parts[i]) > 65_535) {
        throw new MalformedException("its port is not valid");
      }
    }
    return new ProxyHeader(spelled(NetUtil.createByteArrayFromIpAddressString(parts[1])));
  }

  /** Excludes an address with an interface name, which is meaningless on another machine. */
  private static boolean isV6(String text) {
    return text.indexOf('%') < 0 && NetUtil.isValidIpV6Address(text);
  }

  private static String spelled(byte @Nullable [] address) throws MalformedException {
    try {
      if (address != null) {
        return InetAddress.getByAddress(address).getHostAddress();
      }
    } catch (UnknownHostException ofAnotherLength) {
      // Rejected below, like a malformed address.
    }
    throw new MalformedException("its address does not match its family");
  }
}
