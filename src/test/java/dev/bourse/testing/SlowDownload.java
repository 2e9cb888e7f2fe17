package dev.bourse.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A client that asks for a large file and hardly takes any of it. */
public final class SlowDownload implements AutoCloseable {
  /** So that little of the file is on its way, and the rest waits at the service. */
  private static final int RECEIVE_BYTES = 4_096;

  private final Socket socket = new Socket();
  private final int status;

  /**
   * Asks, and reads the answer's first line.
   *
   * @param token none for the public feed
   * @param headers further ones, each with its line end
   */
  public SlowDownload(RunningBourse bourse, String path, @Nullable String token, String headers) {
    try {
      socket.setReceiveBufferSize(RECEIVE_BYTES);
      socket.setSoTimeout(60_000);
      socket.connect(
          new InetSocketAddress(
              InetAddress.getLoopbackAddress(), URI.create(bourse.service().baseUrl()).getPort()));
      String request =
          "GET "
              + path
              + " HTTP/1.1\r\nHost: localhost\r\n"
              + (token == null ? "" : "Authorization: Bearer " + token + "\r\n")
              + headers
              + "\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      StringBuilder line = new StringBuilder();
      for (int b = take(); b != '\n'; b = take()) {
        if (b < 0) {
          throw new AssertionError("closed after " + line);
        }
        line.append((char) b);
      }
      status = Integer.parseInt(line.substring(9, 12));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int status() {
    return status;
  }

  /** The next byte; -1 once the service has ended the connection. */
  public int take() {
    try {
      return socket.getInputStream().read();
    } catch (java.net.SocketTimeoutException e) {
      throw new AssertionError("the service sends nothing and keeps the connection", e);
    } catch (IOException reset) {
      return -1;
    }
  }

  /** All that is left of so many bytes, taken as fast as they come. */
  public byte[] rest(int length) {
    try {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        head.append((char) take());
      }
      return socket.getInputStream().readNBytes(length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
