package dev.bourse.testing;

import dev.bourse.core.Ports;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A proxy of connections that lets so many bytes to the service pass and then stands still. */
public final class StallingProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final int servicePort;
  private final AtomicLong left = new AtomicLong(Long.MAX_VALUE);
  private final AtomicLong passed = new AtomicLong();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

  public StallingProxy() {
    servicePort = Ports.free();
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(this::accept);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "gate");
    thread.setDaemon(true);
    thread.start();
  }

  /** The settings of the service behind it. */
  public String[] settings() {
    return new String[] {
      "port=" + servicePort, "base-url=http://localhost:" + listening.getLocalPort()
    };
  }

  /** From now on so many bytes pass. */
  public void letPass(long bytes) {
    left.set(bytes);
  }

  /** How many bytes went to the service. */
  public long passed() {
    return passed.get();
  }

  /** Whether it stands still. */
  public boolean isShut() {
    return left.get() <= 0;
  }

  /** Ends all connections. */
  public void cut() {
    sockets.forEach(StallingProxy::close);
    sockets.clear();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket service = new Socket(InetAddress.getLoopbackAddress(), servicePort);
        sockets.add(client);
        sockets.add(service);
        start(() -> pump(client, service, true));
        start(() -> pump(service, client, false));
      } catch (IOException e) {
        // The service is away, or the gate is closed; whoever asks again is let in again.
        cut();
      }
    }
  }

  private void pump(Socket from, Socket to, boolean isCounted) {
    byte[] piece = new byte[1 << 14];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
        if (isCounted) {
          left.addAndGet(-count);
          passed.addAndGet(count);
          RunningBourse.until("it may pass or is cut", () -> !isShut() || from.isClosed());
        }
        out.write(piece, 0, count);
      }
    } catch (IOException e) {
      // Whoever is at the other end sees the end of the connection.
      close(to);
    } finally {
      close(from);
      close(to);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }
}
