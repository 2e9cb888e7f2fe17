package dev.bourse.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.faults.FaultyProxy.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each fault does what its name says, seen by a client of a server that sends back every byte. */
class FaultyProxyTest {
  /** Longer than a byte takes to come back when nothing holds it. */
  private static final int SILENCE_MILLIS = 300;

  private static final int PATIENCE_MILLIS = 60_000;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private ServerSocket server;
  private FaultyProxy proxy;

  @BeforeEach
  void start() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    threads.submit(
        () -> {
          while (true) {
            Socket one = server.accept();
            threads.submit(() -> one.getInputStream().transferTo(one.getOutputStream()));
          }
        });
    proxy = new FaultyProxy(server.getLocalPort(), 1);
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    server.close();
    threads.shutdownNow();
  }

  private Socket connected() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), proxy.port());
  }

  private static int sent(Socket socket, int value, int millis) throws IOException {
    socket.getOutputStream().write(value);
    socket.setSoTimeout(millis);
    return socket.getInputStream().read();
  }

  @Test
  void withoutAFaultAndWithDelaysBytesPass() throws IOException {
    try (Socket socket = connected()) {
      assertEquals(7, sent(socket, 7, PATIENCE_MILLIS));
      proxy.set(Fault.DELAY);
      assertEquals(8, sent(socket, 8, PATIENCE_MILLIS));
    }
  }

  @Test
  void whatIsHeldBackPassesOnceTheFaultIsOver() throws IOException {
    for (Fault fault : new Fault[] {Fault.BLACK_HOLE, Fault.HALF_OPEN}) {
      try (Socket socket = connected()) {
        assertEquals(7, sent(socket, 7, PATIENCE_MILLIS));
        proxy.set(fault);
        assertThrows(SocketTimeoutException.class, () -> sent(socket, 8, SILENCE_MILLIS));
        proxy.set(Fault.NONE);
        socket.setSoTimeout(PATIENCE_MILLIS);
        assertEquals(8, socket.getInputStream().read());
      }
    }
  }

  @Test
  void aResetEndsConnectionsAndTakesNoNewOnes() throws IOException {
    try (Socket socket = connected()) {
      assertEquals(7, sent(socket, 7, PATIENCE_MILLIS));
      proxy.set(Fault.RESET);
      assertThrows(IOException.class, () -> ended(socket));
      assertThrows(IOException.class, () -> ended(connected()));
    }
  }

  @Test
  void aFlakyNetworkBreaksSoonerOrLater() throws IOException {
    proxy.set(Fault.FLAKY);
    try (Socket socket = connected()) {
      assertThrows(
          IOException.class,
          () -> {
            for (int i = 0; i < 10_000; i++) {
              ended(socket);
            }
          });
    }
  }

  /** Sends a byte, and fails when none comes back. */
  private static void ended(Socket socket) throws IOException {
    if (sent(socket, 1, PATIENCE_MILLIS) < 0) {
      throw new IOException("the connection is at its end");
    }
  }
}
