package dev.bourse.remote;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The connections of this process: commands make several {@link Service}s, and share them. */
public final class Connections {
  /** How the JDK names the thread in which a client waits for its connections. */
  private static final String THREAD = "HttpClient-.*-SelectorManager";

  /**
   * An interrupted thread ends within a millisecond; one that does not only makes the exit late.
   */
  private static final long END_MILLIS = 50;

  private static @Nullable HttpClient client;

  /** Those that began with the client. */
  private static List<Thread> threads = List.of();

  private Connections() {}

  static synchronized HttpClient client() {
    HttpClient made = client;
    if (made == null) {
      List<Thread> others = waiting();
      made =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(Duration.ofSeconds(10))
              .sslContext(TlsOnDemand.context())
              .build();
      client = made;
      threads = waiting();
      threads.removeAll(others);
    }
    return made;
  }

  private static List<Thread> waiting() {
    Thread[] all = new Thread[Thread.activeCount() + 16];
    int count = Thread.enumerate(all);
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (all[i].getName().matches(THREAD)) {
        waiting.add(all[i]);
      }
    }
    return waiting;
  }

  /**
   * Closes them; the next call makes others. A JVM that exits gives threads that are in a system
   * call 0.3 s to come back, and this one would stay there: half the time that a command takes. A
   * client can be closed from Java 21 on; before, its thread ends when it is interrupted.
   */
  public static synchronized void close() {
    client = null;
    threads.forEach(Connections::end);
    threads = List.of();
  }

  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
