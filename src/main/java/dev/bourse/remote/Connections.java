package dev.bourse.remote;

import java.net.http.HttpClient;
import java.time.Duration;
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

  private Connections() {}

  static synchronized HttpClient client() {
    HttpClient made = client;
    if (made == null) {
      made =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(Duration.ofSeconds(10))
              .sslContext(TlsOnDemand.context())
              .build();
      client = made;
    }
    return made;
  }

  /**
   * Closes them; the next call makes others. A JVM that exits gives threads that are in a system
   * call 0.3 s to come back, and this one would stay there: half the time that a command takes. A
   * client can be closed from Java 21 on; before, its thread ends when it is interrupted.
   */
  public static synchronized void close() {
    if (client == null) {
      return;
    }
    client = null;
    Thread[] threads = new Thread[Thread.activeCount() + 16];
    int count = Thread.enumerate(threads);
    for (int i = 0; i < count; i++) {
      if (threads[i].getName().matches(THREAD)) {
        end(threads[i]);
      }
    }
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
