package dev.bourse.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * A network between a client and its server that does what networks do. Bytes that are held back
 * are not lost: they pass once the fault is over, as TCP would send them again.
 */
final class FaultyProxy implements AutoCloseable {
  /** What becomes of bytes. */
  enum Fault {
    NONE,
    /** Each piece waits for some time, up to {@value #MAX_DELAY_MILLIS} ms. */
    DELAY,
    /** Every now and then a connection is reset, before or after a piece has passed. */
    FLAKY,
    /** Nothing passes, and nobody is told; new connections are taken and stay silent. */
    BLACK_HOLE,
    /** What is sent to the server arrives; its answers do not. */
    HALF_OPEN,
    /** All connections are reset, and new ones too. */
    RESET
  }

  private static final int MAX_DELAY_MILLIS = 60;

  /** One piece in so many resets its connection while the network is flaky. */
  private static final int FLAKY_ONE_IN = 60;

  private static final int SEND_BUFFER = 256 * 1024;

  private final ServerSocket listening;
  private final IntSupplier target;
  private final Random random;
  private final AtomicLong toServer = new AtomicLong();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private Fault fault = Fault.NONE;
  private boolean isClosed;

  FaultyProxy(int target, long seed) throws IOException {
    this(() -> target, seed);
  }

  /**
   * @param target where a connection goes that is made now
   */
  FaultyProxy(IntSupplier target, long seed) throws IOException {
    this.target = target;
    random = new Random(seed);
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon("accept", this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** How many bytes were sent to the server. */
  long bytesToServer() {
    return toServer.get();
  }

  synchronized void set(Fault next) {
    fault = next;
    notifyAll();
    if (next == Fault.RESET) {
      open.forEach(FaultyProxy::reset);
    }
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, "proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket near = listening.accept();
        if (now() == Fault.RESET) {
          reset(near);
        } else {
          open.add(near);
          daemon("connect", () -> join(near));
        }
      } catch (IOException closed) {
        // The loop's condition tells whether that was the end.
      }
    }
  }

  private void join(Socket near) {
    try {
      awaitOpen(true);
      Socket far = new Socket();
      // So that little of what is counted as sent is on its way still.
      far.setSendBufferSize(SEND_BUFFER);
      far.connect(new InetSocketAddress("localhost", target.getAsInt()), 5_000);
      open.add(far);
      near.setTcpNoDelay(true);
      far.setTcpNoDelay(true);
      daemon("to", () -> pump(near, far, true));
      daemon("from", () -> pump(far, near, false));
    } catch (IOException | InterruptedException e) {
      reset(near);
    }
  }

  private void pump(Socket from, Socket to, boolean isToServer) {
    byte[] piece = new byte[16_384];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
        awaitOpen(isToServer);
        boolean breaks = delayOrBreak();
        if (!breaks || chance(2)) {
          out.write(piece, 0, length);
          toServer.addAndGet(isToServer ? length : 0);
        }
        if (breaks) {
          throw new IOException("the network broke");
        }
      }
    } catch (IOException | InterruptedException e) {
      // Both sides are told below.
    }
    reset(from);
    reset(to);
    open.remove(from);
    open.remove(to);
  }

  /** Waits while nothing passes in this direction. */
  private synchronized void awaitOpen(boolean isToServer) throws InterruptedException {
    while (!isClosed && (fault == Fault.BLACK_HOLE || (fault == Fault.HALF_OPEN && !isToServer))) {
      wait();
    }
  }

  private boolean delayOrBreak() throws InterruptedException {
    Fault now = now();
    if (now == Fault.DELAY) {
      TimeUnit.MILLISECONDS.sleep(number(MAX_DELAY_MILLIS));
    }
    return now == Fault.FLAKY && chance(FLAKY_ONE_IN);
  }

  private synchronized Fault now() {
    return fault;
  }

  private synchronized int number(int bound) {
    return random.nextInt(bound);
  }

  private boolean chance(int oneIn) {
    return number(oneIn) == 0;
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
    notifyAll();
    listening.close();
    open.forEach(FaultyProxy::reset);
  }
}
