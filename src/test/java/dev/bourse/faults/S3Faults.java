package dev.bourse.faults;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a process and its object store, knows where a request begins and ends, and does to
 * those it is told to what networks and stores do.
 */
public final class S3Faults implements AutoCloseable {
  /** What becomes of a request. */
  public enum Fault {
    /** It passes. */
    NONE,
    /** The store says that it fails inside. */
    INTERNAL_ERROR,
    /** The store says that it is asked too much. */
    SLOW_DOWN,
    /** The connection is reset before the store sees any of it. */
    REFUSED,
    /** The connection is reset when half of what the request carries has arrived at the store. */
    RESET_IN_THE_MIDDLE,
    /** The store does it, and its answer is lost. */
    ANSWER_LOST,
    /** One byte in the middle of what the request carries arrives as another. */
    BYTE_FLIPPED,
    /** The store takes it, and answers the tag of something else. */
    OTHER_TAG,
    /** The store says that it encrypts with a key of KMS, and tags what is no part otherwise. */
    ENCRYPTED,
    /** The answer breaks off in the middle of what it carries. */
    ANSWER_CUT,
    /** A list is answered as it was the last time. */
    STALE,
    /** The connection stands, and nothing is answered until {@link #thaw} ends it. */
    SILENT,
    /** It arrives at the store once {@link #thaw} is called, though its sender may be gone. */
    FROZEN
  }

  private static final int PIECE_BYTES = 64 * 1024;
  private static final String OTHER = "\"0123456789abcdef0123456789abcdef\"";

  private final ServerSocket listening;
  private final int target;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /** How each list was answered last, by what was asked. */
  private final Map<String, byte[]> lists = new ConcurrentHashMap<>();

  // The rest is guarded by this object.
  private final List<String> seen = new ArrayList<>();
  private final List<String> answered = new ArrayList<>();
  private Predicate<String> isMeant = request -> false;
  private Fault fault = Fault.NONE;
  private int times;
  private int frozen;
  private int thaws;
  private int connections;
  private boolean isClosed;

  /** Stands before the server at this port of this machine. */
  public S3Faults(int target) throws IOException {
    this.target = target;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  public int port() {
    return listening.getLocalPort();
  }

  /**
   * Has the next requests of a kind meet a fault.
   *
   * @param isMeant is told a method, a blank, the path and the query
   */
  public synchronized void next(int count, Predicate<String> isMeant, Fault fault) {
    this.isMeant = isMeant;
    this.fault = fault;
    times = count;
  }

  /** The same for all requests from here on. */
  public void all(Fault fault) {
    next(Integer.MAX_VALUE, request -> true, fault);
  }

  /** From here on every request passes; those that are frozen go on. */
  public synchronized void thaw() {
    times = 0;
    thaws++;
    notifyAll();
  }

  /** What was asked so far: of each request the method, a blank, the path and the query. */
  public synchronized List<String> seen() {
    return List.copyOf(seen);
  }

  /** Of {@link #seen}, what the store did and answered to the end; clients ask the rest again. */
  public synchronized List<String> answered() {
    return List.copyOf(answered);
  }

  private synchronized void answered(String request) {
    answered.add(request);
  }

  /** Waits until so many requests are frozen. */
  public synchronized void awaitFrozen(int count) throws InterruptedException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (frozen < count) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(frozen + " requests are frozen, not " + count);
      }
      wait(1_000);
    }
  }

  /** How many connections were made so far. */
  public synchronized int connections() {
    return connections;
  }

  private synchronized void connected() {
    connections++;
  }

  private synchronized Fault faultOf(String request) {
    seen.add(request);
    if (times == 0 || !isMeant.test(request)) {
      return Fault.NONE;
    }
    times--;
    return fault;
  }

  private synchronized void awaitThaw() throws IOException {
    frozen++;
    notifyAll();
    int before = thaws;
    try {
      while (thaws == before && !isClosed) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    } finally {
      frozen--;
    }
  }

  private static void daemon(Runnable work) {
    Thread thread = new Thread(work, "s3-faults");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket near = listening.accept();
        open.add(near);
        connected();
        daemon(() -> serve(near));
      } catch (IOException closed) {
        // The loop's condition tells whether that was the end.
      }
    }
  }

  /** A connection of the process: one of its own to the server, and request after request. */
  private void serve(Socket near) {
    try (Socket far = new Socket(InetAddress.getLoopbackAddress(), target)) {
      open.add(far);
      near.setTcpNoDelay(true);
      far.setTcpNoDelay(true);
      InputStream asking = new BufferedInputStream(near.getInputStream());
      InputStream answering = new BufferedInputStream(far.getInputStream());
      boolean goesOn = true;
      while (goesOn) {
        Head request = Head.read(asking);
        goesOn = request != null && exchange(request, near, asking, far, answering);
      }
      open.remove(far);
    } catch (IOException e) {
      // Told below by the connection's end.
    }
    open.remove(near);
    reset(near);
  }

  /** One request and its answer; false when the connection is at its end. */
  private boolean exchange(
      Head request, Socket near, InputStream asking, Socket far, InputStream answering)
      throws IOException {
    String asked = request.first().substring(0, request.first().lastIndexOf(' '));
    Fault met = faultOf(asked);
    OutputStream toProcess = near.getOutputStream();
    if (request.says("expect", "100-continue")) {
      toProcess.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    if (met == Fault.REFUSED) {
      return false;
    }
    byte[] former = met == Fault.STALE ? lists.get(asked) : null;
    if (former != null) {
      toProcess.write(former);
      return true;
    }
    if (met == Fault.SILENT) {
      awaitThaw();
      return false;
    }
    if (met == Fault.INTERNAL_ERROR || met == Fault.SLOW_DOWN) {
      copy(asking, OutputStream.nullOutputStream(), request.bytes());
      toProcess.write(failure(met));
      return true;
    }
    byte[] held = new byte[0];
    if (met == Fault.FROZEN) {
      held = asking.readNBytes((int) request.bytes());
      awaitThaw();
    }
    OutputStream toServer = far.getOutputStream();
    toServer.write(request.without("expect"));
    toServer.write(held);
    if (met == Fault.RESET_IN_THE_MIDDLE) {
      copy(asking, toServer, request.bytes() / 2);
      toServer.flush();
      reset(far);
      return false;
    }
    long left = request.bytes() - held.length;
    if (met == Fault.BYTE_FLIPPED) {
      copy(asking, toServer, left / 2);
      toServer.write(asking.read() ^ 1);
      left -= left / 2 + 1;
    }
    copy(asking, toServer, left);
    toServer.flush();
    Head answered = Head.read(answering);
    if (answered == null) {
      return false;
    }
    Head answer =
        switch (met) {
          case OTHER_TAG -> answered.with("etag", OTHER);
          case ENCRYPTED ->
              (asked.contains("partNumber=") ? answered : answered.with("etag", OTHER))
                  .with("x-amz-server-side-encryption", "aws:kms");
          default -> answered;
        };
    boolean hasBody = !request.first().startsWith("HEAD ") && !answer.first().contains(" 204");
    boolean isList = asked.startsWith("GET ") && asked.contains("?uploads");
    ByteArrayOutputStream kept = new ByteArrayOutputStream();
    OutputStream to = met == Fault.ANSWER_LOST || isList ? kept : toProcess;
    to.write(answer.whole());
    if (hasBody && answer.isChunked()) {
      copyChunks(answering, to);
    } else if (hasBody) {
      copy(answering, to, met == Fault.ANSWER_CUT ? answer.bytes() / 2 : answer.bytes());
    }
    if (isList && met != Fault.ANSWER_LOST) {
      lists.put(asked, kept.toByteArray());
      toProcess.write(kept.toByteArray());
    }
    to.flush();
    if (met == Fault.ANSWER_LOST || met == Fault.ANSWER_CUT) {
      return false;
    }
    if (answer.first().contains(" 2")) {
      answered(asked);
    }
    return !answer.says("connection", "close");
  }

  private static byte[] failure(Fault met) {
    boolean isSlow = met == Fault.SLOW_DOWN;
    String body =
        "<Error><Code>%s</Code><Message>as told</Message></Error>"
            .formatted(isSlow ? "SlowDown" : "InternalError");
    return "HTTP/1.1 %s\r\nContent-Type: application/xml\r\nContent-Length: %s\r\n\r\n%s"
        .formatted(isSlow ? "503 Slow Down" : "500 Internal Server Error", body.length(), body)
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static void copy(InputStream from, OutputStream to, long bytes) throws IOException {
    byte[] piece = new byte[PIECE_BYTES];
    for (long left = bytes; left > 0; ) {
      int read = from.read(piece, 0, (int) Math.min(piece.length, left));
      if (read < 0) {
        throw new IOException("it ends too soon");
      }
      to.write(piece, 0, read);
      left -= read;
    }
  }

  private static void copyChunks(InputStream from, OutputStream to) throws IOException {
    long bytes;
    do {
      String line = Head.line(from);
      to.write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
      bytes = Long.parseLong(line.strip(), 16);
      // Each chunk, and the end of all, has an empty line behind it.
      copy(from, to, bytes + 2);
    } while (bytes > 0);
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It is closed.
    }
  }

  @Override
  public synchronized void close() throws IOException {
    isClosed = true;
    times = 0;
    notifyAll();
    listening.close();
    open.forEach(S3Faults::reset);
  }

  /** What a request or an answer begins with. */
  private record Head(List<String> lines) {
    static @Nullable Head read(InputStream from) throws IOException {
      List<String> lines = new ArrayList<>();
      for (String line = line(from); !line.isEmpty(); line = line(from)) {
        lines.add(line);
      }
      if (lines.isEmpty()) {
        return null;
      }
      // The server may say that it waits for what the request carries; that was said already.
      return lines.get(0).contains(" 100 ") ? read(from) : new Head(lines);
    }

    static String line(InputStream from) throws IOException {
      StringBuilder line = new StringBuilder();
      for (int one = from.read(); one >= 0 && one != '\n'; one = from.read()) {
        if (one != '\r') {
          line.append((char) one);
        }
      }
      return line.toString();
    }

    String first() {
      return lines.get(0);
    }

    String field(String name) {
      return lines.stream()
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
          .map(line -> line.substring(name.length() + 1).strip())
          .findFirst()
          .orElse("");
    }

    boolean says(String name, String value) {
      return field(name).equalsIgnoreCase(value);
    }

    boolean isChunked() {
      return says("transfer-encoding", "chunked");
    }

    long bytes() {
      String length = field("content-length");
      return length.isEmpty() ? 0 : Long.parseLong(length);
    }

    byte[] whole() {
      return (String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    byte[] without(String name) {
      return new Head(others(name).toList()).whole();
    }

    private Stream<String> others(String name) {
      return lines.stream().filter(line -> !line.toLowerCase(Locale.ROOT).startsWith(name + ":"));
    }

    Head with(String name, String value) {
      return new Head(Stream.concat(others(name), Stream.of(name + ": " + value)).toList());
    }
  }
}
