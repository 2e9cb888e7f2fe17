package dev.bourse.simulation.hostile;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A client that sends raw bytes and records the answers. */
final class Wire implements AutoCloseable {
  /**
   * A service that rejects early keeps the connection open for the client to read that; this is the
   * limit.
   */
  private static final int LINGER_MILLIS = 3_000;

  /** Wait for an answer to a possibly incomplete request before the client closes. */
  private static final int MOMENT_MILLIS = 25;

  /** More answers to one request count as a fault. */
  private static final int MOST_ANSWERS = 2_000;

  private static final int MOST_BYTES = 1 << 24;

  /** An answer that did not end properly. */
  private static final class BrokenConnectionException extends Exception {
    private static final long serialVersionUID = 1;

    BrokenConnectionException(String message) {
      super(message);
    }
  }

  private final int port;
  private final int patienceMillis;
  private Socket socket;
  private InputStream in;
  private boolean isOpen;

  /**
   * @param patienceMillis time after which the service counts as dead
   */
  Wire(int port, int patienceMillis) throws IOException {
    this.port = port;
    this.patienceMillis = patienceMillis;
    this.socket = new Socket();
    this.in = InputStream.nullInputStream();
  }

  /** Sends a request and waits for the answers. */
  Outcome send(Request request) throws IOException {
    // A reused connection may be closing because of an earlier request.
    boolean reused = isOpen;
    Outcome outcome = attempt(request);
    boolean mayHaveClosedBefore = reused && outcome.answers().isEmpty() && request.isWhole();
    return mayHaveClosedBefore && outcome.fault().startsWith("closed") ? attempt(request) : outcome;
  }

  private Outcome attempt(Request request) throws IOException {
    if (!isOpen) {
      connect();
    }
    long begun = System.nanoTime();
    List<WireAnswer> answers = new ArrayList<>();
    String fault = "";
    boolean tookAll = write(request.bytes());
    boolean isHead = request.method().equals("HEAD");
    try {
      if (request.isWhole()) {
        answers.add(answer(isHead));
      } else {
        answers.addAll(untilClosed(isHead));
      }
    } catch (SocketTimeoutException silent) {
      fault = "silent for " + patienceMillis + " ms";
    } catch (BrokenConnectionException broken) {
      fault = String.valueOf(broken.getMessage());
    } catch (IOException reset) {
      fault = "closed without an answer: " + reset.getMessage();
    }
    long nanos = System.nanoTime() - begun;
    if (!tookAll && fault.startsWith("closed")) {
      // The service closed before it had received all bytes, and the reset overtook the answer.
      fault = "";
    }
    boolean goesOn =
        request.isWhole()
            && fault.isEmpty()
            && tookAll
            && answers.stream()
                .noneMatch(a -> a.header("connection").equals("close") || isStream(a));
    if (request.isWhole() && fault.isEmpty() && saysClose(answers)) {
      fault = unclosed();
    }
    if (!goesOn) {
      close();
    }
    return new Outcome(answers, fault, nanos);
  }

  private static boolean saysClose(List<WireAnswer> answers) {
    return answers.stream().anyMatch(answer -> answer.header("connection").equals("close"));
  }

  private void connect() throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(patienceMillis);
    in = new BufferedInputStream(socket.getInputStream());
    isOpen = true;
  }

  /** Returns true if all bytes were sent. */
  private boolean write(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  /** Returns the fault of a connection whose end was announced. */
  private String unclosed() {
    int millis = patienceMillis + LINGER_MILLIS;
    try {
      socket.setSoTimeout(millis);
      while (in.read() >= 0) {
        // Ignores bytes after the last answer.
      }
      return "";
    } catch (SocketTimeoutException open) {
      return "said it would close the connection, and did not within " + millis + " ms";
    } catch (IOException reset) {
      return "";
    }
  }

  /** Returns every answer until the service closes, which it must after the client has. */
  private List<WireAnswer> untilClosed(boolean isHead)
      throws IOException, BrokenConnectionException {
    List<WireAnswer> answers = new ArrayList<>();
    socket.setSoTimeout(MOMENT_MILLIS);
    boolean hasEnded = false;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(4L * patienceMillis);
    while (answers.size() < MOST_ANSWERS) {
      in.mark(1);
      int next;
      try {
        next = in.read();
      } catch (SocketTimeoutException quiet) {
        if (hasEnded) {
          throw new BrokenConnectionException(
              "open for " + patienceMillis + " ms after the client ended it");
        }
        hasEnded = true;
        socket.shutdownOutput();
        socket.setSoTimeout(patienceMillis);
        continue;
      } catch (IOException reset) {
        return answers;
      }
      if (next < 0) {
        return answers;
      }
      in.reset();
      socket.setSoTimeout(patienceMillis);
      try {
        answers.add(answer(isHead));
      } catch (SocketTimeoutException | BrokenConnectionException e) {
        // The client closed during the answer, or the previous bytes make this a body.
        if (System.nanoTime() > deadline) {
          throw new BrokenConnectionException("neither answers nor closes");
        }
        return answers;
      } catch (IOException reset) {
        return answers;
      }
      if (isStream(answers.get(answers.size() - 1))) {
        return answers;
      }
      if (!hasEnded) {
        socket.setSoTimeout(MOMENT_MILLIS);
      }
    }
    throw new BrokenConnectionException("more than " + MOST_ANSWERS + " answers");
  }

  private static boolean isStream(WireAnswer answer) {
    return answer.header("content-type").startsWith("text/event-stream");
  }

  private WireAnswer answer(boolean isHead) throws IOException, BrokenConnectionException {
    while (true) {
      String line = line();
      if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9] .*")) {
        throw new BrokenConnectionException("answers what is no status line: " + line);
      }
      int status = Integer.parseInt(line.substring(9, 12));
      Map<String, List<String>> headers = new HashMap<>();
      for (line = line(); !line.isEmpty(); line = line()) {
        int colon = line.indexOf(':');
        if (colon < 1) {
          throw new BrokenConnectionException("answers what is no header: " + line);
        }
        headers
            .computeIfAbsent(
                line.substring(0, colon).toLowerCase(Locale.ROOT), n -> new ArrayList<>())
            .add(line.substring(colon + 1).strip());
      }
      if (status >= 200) {
        WireAnswer head = new WireAnswer(status, headers, new byte[0]);
        boolean isBare = isHead || status == 204 || status == 304 || isStream(head);
        return isBare ? head : new WireAnswer(status, headers, body(head));
      }
    }
  }

  private byte[] body(WireAnswer head) throws IOException, BrokenConnectionException {
    if (head.header("transfer-encoding").equals("chunked")) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int size = size(); size > 0; size = size()) {
        all.writeBytes(bytes(size));
        line();
      }
      line();
      return all.toByteArray();
    }
    String length = head.header("content-length");
    if (length.isEmpty()) {
      // It ends with the connection.
      return in.readNBytes(MOST_BYTES);
    }
    return bytes(Integer.parseInt(length));
  }

  private int size() throws IOException, BrokenConnectionException {
    return Integer.parseInt(line().strip(), 16);
  }

  private byte[] bytes(int length) throws IOException, BrokenConnectionException {
    byte[] all = in.readNBytes(length);
    if (all.length < length) {
      throw new BrokenConnectionException(
          "an answer of " + length + " bytes ends after " + all.length);
    }
    return all;
  }

  private String line() throws IOException, BrokenConnectionException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new BrokenConnectionException(
            "closed without an answer" + (all.size() > 0 ? ", after " + all : ""));
      }
      if (all.size() > MOST_BYTES) {
        throw new BrokenConnectionException("a line without an end");
      }
      all.write(b);
    }
    return all.toString(StandardCharsets.ISO_8859_1).stripTrailing();
  }

  @Override
  public void close() throws IOException {
    isOpen = false;
    socket.close();
  }
}
