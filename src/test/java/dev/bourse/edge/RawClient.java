package dev.bourse.edge;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Bytes over a socket, which an HTTP client would not send. */
public final class RawClient implements AutoCloseable {
  private final Socket socket;

  public RawClient(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** Over a socket of the test, for example one with TLS. */
  RawClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(60_000);
  }

  public RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return this;
  }

  /** Returns everything the server sends until it closes the connection; fails if it does not. */
  public String untilClosed() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try {
      int b;
      while ((b = socket.getInputStream().read()) >= 0) {
        all.write(b);
      }
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the connection stays open; so far: " + all, e);
    } catch (IOException reset) {
      // A reset closes the connection too.
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  /** Returns whether the server closes the connection within a moment. */
  public boolean isClosedSoon(int waitMillis) throws IOException {
    int patience = socket.getSoTimeout();
    socket.setSoTimeout(waitMillis);
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException open) {
      return false;
    } catch (IOException reset) {
      return true;
    } finally {
      socket.setSoTimeout(patience);
    }
  }

  /** Reads until the server closes, this many bytes at a time with pauses; returns how many. */
  long readSlowly(int restMillis, int bytes) throws IOException {
    long all = 0;
    int read;
    byte[] some = new byte[bytes];
    while ((read = read(some)) > 0) {
      all += read;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(restMillis));
    }
    return all;
  }

  private int read(byte[] some) {
    try {
      return socket.getInputStream().readNBytes(some, 0, some.length);
    } catch (IOException reset) {
      // A reset closes the connection too.
      return 0;
    }
  }

  /** Reads until the given text arrives. */
  public String until(String end) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (!all.toString(StandardCharsets.UTF_8).contains(end)) {
      int b = socket.getInputStream().read();
      if (b < 0) {
        throw new AssertionError("closed before '" + end + "'; got: " + all);
      }
      all.write(b);
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
