package dev.bourse.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long a client waits for the event loop: one connection asks for a path that is not there, the
 * least there is to answer, and asks again a millisecond after each answer. Whatever keeps the loop
 * from its work for longer than that shows as a late answer.
 *
 * <p>Arguments: the service's address, for how many seconds. Prints {@code probe <answers> <p99 ms>
 * <longest ms>}.
 */
public final class LoopProbe {
  private static final int WARM_UP = 500;
  private static final Pattern LENGTH =
      Pattern.compile("content-length: *(\\d+)", Pattern.CASE_INSENSITIVE);

  private LoopProbe() {}

  public static void main(String[] args) throws Exception {
    URI url = URI.create(args[0]);
    long[] nanos = new long[(int) TimeUnit.SECONDS.toMillis(Integer.parseInt(args[1])) + 1];
    int answers = 0;
    byte[] request =
        ("GET /not-there HTTP/1.1\r\nHost: " + url.getHost() + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setTcpNoDelay(true);
      for (int i = 0; i < WARM_UP; i++) {
        ask(socket, request);
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Integer.parseInt(args[1]));
      while (System.nanoTime() < end) {
        long begin = System.nanoTime();
        ask(socket, request);
        nanos[answers++] = System.nanoTime() - begin;
        Thread.sleep(1);
      }
    }
    long[] sorted = Arrays.stream(nanos, 0, answers).sorted().toArray();
    System.out.printf(
        "probe %d %.1f %.1f%n",
        answers, sorted[answers * 99 / 100] / 1e6, sorted[answers - 1] / 1e6);
  }

  private static void ask(Socket socket, byte[] request) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(request);
    InputStream in = socket.getInputStream();
    byte[] some = new byte[65_536];
    int length = 0;
    int whole = Integer.MAX_VALUE;
    while (length < whole) {
      int read = in.read(some, length, some.length - length);
      if (read < 0) {
        throw new EOFException("the service closed the connection");
      }
      length += read;
      whole = whole(new String(some, 0, length, StandardCharsets.ISO_8859_1));
    }
  }

  /** How long the answer is with its head; as long as can be while the head is not there. */
  private static int whole(String answer) {
    int head = answer.indexOf("\r\n\r\n");
    Matcher length = LENGTH.matcher(answer);
    return head < 0 || !length.find()
        ? Integer.MAX_VALUE
        : head + 4 + Integer.parseInt(length.group(1));
  }
}
