package dev.bourse.core;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for servers that must know theirs before they listen, or listen on one again. They are
 * below the range that systems use for outgoing connections and ephemeral ports, so that no other
 * program takes one in between; each is given out once. Concurrent test processes have separate
 * ranges.
 */
public final class Ports {
  /** The number of this test process, from 0. */
  private static final int PROCESS = Math.floorMod(Integer.getInteger("bourse.test.fork", 0), 8);

  private static final int COUNT = 2_500;
  private static final int FIRST = 12_000 + PROCESS * COUNT;

  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

  private Ports() {}

  /** A port without a listener. */
  public static int free() {
    for (int tries = 0; tries < COUNT; tries++) {
      int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), COUNT);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("0.0.0.0"))) {
        return socket.getLocalPort();
      } catch (IOException taken) {
        // The port is taken; the next one may be free.
      }
    }
    throw new AssertionError("no port is free from " + FIRST + " on");
  }
}
