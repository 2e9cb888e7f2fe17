package dev.bourse.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A DNS server on the loopback interface that knows TXT records only. Names without one do not
 * exist.
 */
public final class DnsServer implements AutoCloseable {
  private static final int HEADER = 12;
  private static final int TXT = 16;
  private static final int SERVFAIL = 2;
  private static final int NXDOMAIN = 3;

  private final DatagramSocket socket;
  private final Map<String, List<String>> texts = new ConcurrentHashMap<>();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile boolean isSilent;
  private volatile boolean isFailing;

  private DnsServer() throws IOException {
    socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve, "dns-server");
    thread.setDaemon(true);
    thread.start();
  }

  public static DnsServer start() {
    try {
      return new DnsServer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public InetSocketAddress address() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  /** The address as settings spell it. */
  public String setting() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  /** Publishes these TXT records, and no others, for a name. */
  public void publish(String name, String... values) {
    texts.put(name.toLowerCase(Locale.ROOT), List.of(values));
  }

  public void withdraw(String name) {
    texts.remove(name.toLowerCase(Locale.ROOT));
  }

  /** Answers nothing from now on. */
  public void silence() {
    isSilent = true;
  }

  /** Answers SERVFAIL from now on. */
  public void fail() {
    isFailing = true;
  }

  /** How many queries came. */
  public int asked() {
    return asked.get();
  }

  private void serve() {
    byte[] bytes = new byte[512];
    while (!socket.isClosed()) {
      try {
        DatagramPacket query = new DatagramPacket(bytes, bytes.length);
        socket.receive(query);
        asked.incrementAndGet();
        if (!isSilent) {
          byte[] answer = answer(bytes, query.getLength());
          socket.send(new DatagramPacket(answer, answer.length, query.getSocketAddress()));
        }
      } catch (IOException e) {
        // Closed, or a datagram that nobody waits for.
      }
    }
  }

  private byte[] answer(byte[] query, int length) {
    StringBuilder name = new StringBuilder();
    int at = HEADER;
    while (at < length && query[at] != 0) {
      name.append(name.isEmpty() ? "" : ".")
          .append(new String(query, at + 1, query[at], StandardCharsets.US_ASCII));
      at += query[at] + 1;
    }
    int endOfQuestion = at + 5;
    List<String> found = texts.get(name.toString().toLowerCase(Locale.ROOT));
    int code = isFailing ? SERVFAIL : found == null ? NXDOMAIN : 0;
    List<String> values = isFailing || found == null ? List.of() : found;
    ByteBuffer answer = ByteBuffer.allocate(2_048);
    answer.put(query, 0, endOfQuestion);
    answer.putShort(2, (short) (0x8180 | code));
    answer.putShort(6, (short) values.size());
    answer.putShort(8, (short) 0);
    answer.putShort(10, (short) 0);
    for (String value : values) {
      byte[] text = value.getBytes(StandardCharsets.US_ASCII);
      answer.putShort((short) (0xC000 | HEADER)).putShort((short) TXT).putShort((short) 1);
      answer.putInt(60).putShort((short) (text.length + 1)).put((byte) text.length).put(text);
    }
    byte[] bytes = new byte[answer.position()];
    answer.flip().get(bytes);
    return bytes;
  }

  @Override
  public void close() {
    socket.close();
  }
}
