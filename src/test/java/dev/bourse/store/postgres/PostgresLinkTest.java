package dev.bourse.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.Ports;
import io.vertx.core.Closeable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The time that a link's attempts may take, and that nothing is left of those that failed. */
class PostgresLinkTest {
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void closeVertx() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static PostgresLink link(ContextInternal context, int port, Runnable failed) {
    // A minute, so that no time-out ends an attempt.
    return link(context, port, 60_000, cause -> failed.run());
  }

  private static PostgresLink link(
      ContextInternal context, int port, long connectMillis, Consumer<Throwable> failed) {
    PostgresConfig config =
        new PostgresConfig(
            PostgresUrl.parse("postgres://bourse@localhost:" + port + "/bourse"),
            "",
            1,
            16,
            16,
            connectMillis,
            60_000,
            60_000);
    return new PostgresLink(
        "test",
        context,
        config,
        new PrimaryHistory(),
        "",
        new Random(1),
        new PostgresLink.User() {
          @Override
          public void up(PgConnection connection) {}

          @Override
          public void down(Throwable cause, boolean isAway) {
            failed.accept(cause);
          }
        });
  }

  @Test
  void closingEndsAnAttemptThatIsUnderWayWithItsSocket() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      PostgresLink link =
          link(((VertxInternal) vertx).createEventLoopContext(), silent.getLocalPort(), () -> {});
      Future<Void> first = link.connect();
      try (Socket attempt = silent.accept()) {
        attempt.setSoTimeout(60_000);
        assertTrue(attempt.getInputStream().read() >= 0, "the client speaks first");
        await(link.close());
        assertTrue(isAtEnd(attempt));
      }
      assertTrue(!first.succeeded());
    }
  }

  private static void writeForMinute(Socket socket) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (System.nanoTime() < deadline) {
      socket.getOutputStream().write(0);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  private static boolean isAtEnd(Socket socket) {
    try {
      socket.getInputStream().readAllBytes();
      return true;
    } catch (IOException reset) {
      return !(reset instanceof SocketTimeoutException);
    }
  }

  @Test
  void theFirstAttemptMayTakeFourTimesAsLongAndSocketsOfFailedOnesAreClosed() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 16, InetAddress.getByName("localhost"))) {
      BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
      PostgresLink link =
          link(
              ((VertxInternal) vertx).createEventLoopContext(),
              silent.getLocalPort(),
              200,
              causes::add);
      link.connect();
      for (int millis : List.of(800, 200)) {
        Throwable cause = causes.poll(60, TimeUnit.SECONDS);
        assertNotNull(cause);
        assertEquals("Timeout " + millis + " (ms) fired", cause.getMessage());
      }
      // The first asked for TLS, and the second began to log in without it.
      for (int i = 0; i < 2; i++) {
        try (Socket attempt = silent.accept()) {
          attempt.setSoTimeout(60_000);
          assertTrue(isAtEnd(attempt));
          // The client's own close would end its output alone, and still take input.
          assertThrows(IOException.class, () -> writeForMinute(attempt));
        }
      }
      await(link.close());
    }
  }

  @Test
  void failedAttemptsLeaveNothingInTheCloseFutureOfTheContext() throws Exception {
    AtomicInteger kept = new AtomicInteger();
    CloseFuture counting =
        new CloseFuture() {
          @Override
          public synchronized boolean add(Closeable closeable) {
            kept.incrementAndGet();
            return super.add(closeable);
          }

          @Override
          public boolean remove(Closeable nested) {
            boolean isRemoved = super.remove(nested);
            kept.addAndGet(isRemoved ? -1 : 0);
            return isRemoved;
          }
        };
    ContextInternal context =
        ((VertxInternal) vertx).contextBuilder().withCloseFuture(counting).build();
    CountDownLatch failures = new CountDownLatch(5);
    // No other test's server can take this port meanwhile.
    PostgresLink link = link(context, Ports.free(), failures::countDown);
    link.connect();
    assertTrue(failures.await(60, TimeUnit.SECONDS));
    assertEquals(1, kept.get());
    await(link.close());
    assertEquals(0, kept.get());
  }
}
