package dev.bourse.remote;

import dev.bourse.pem.CertificatePair;
import dev.bourse.pem.PemException;
import dev.bourse.pem.PemFile;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The HTTP client of this process, shared by all {@link Service}s of a command. */
public final class SharedHttpClient {
  /** The JDK's name for the selector thread of a client. */
  private static final String THREAD = "HttpClient-.*-SelectorManager";

  /** An interrupted thread ends within a millisecond; one that does not only delays the exit. */
  private static final long END_MILLIS = 50;

  private static @Nullable HttpClient client;

  /** The selector threads of the client. */
  private static List<Thread> threads = List.of();

  private static @Nullable CertificatePair shown;

  private SharedHttpClient() {}

  /**
   * Sets the client certificate of all further connections, from the options {@code --cert} and
   * {@code --key} or the variables {@code BOURSE_CLIENT_CERT} and {@code BOURSE_CLIENT_KEY}.
   * Without any of them there is none.
   *
   * @throws RefusedException when one of the two is missing or cannot be used
   */
  public static void useCertificate(
      @Nullable Path certificate, @Nullable Path key, Map<String, String> environment)
      throws RefusedException {
    Path certified = given(certificate, environment.get("BOURSE_CLIENT_CERT"));
    Path secret = given(key, environment.get("BOURSE_CLIENT_KEY"));
    if (certified == null && secret == null) {
      useCertificate(null);
      return;
    }
    if (certified == null || secret == null) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--cert and --key (BOURSE_CLIENT_CERT and BOURSE_CLIENT_KEY) belong together; %s is missing"
              .formatted(certified == null ? "--cert" : "--key"));
    }
    try {
      useCertificate(
          CertificatePair.read(new PemFile("--cert", certified), new PemFile("--key", secret)));
    } catch (PemException fault) {
      throw new RefusedException(ExitCode.USAGE, fault.getMessage());
    }
  }

  private static @Nullable Path given(@Nullable Path option, @Nullable String variable) {
    return option != null
        ? option
        : variable == null || variable.isBlank() ? null : Path.of(variable.strip());
  }

  private static synchronized void useCertificate(@Nullable CertificatePair pair) {
    if (pair == null ? shown != null : shown == null || !shown.isSame(pair)) {
      // Open connections presented another certificate.
      close();
    }
    shown = pair;
  }

  static synchronized HttpClient client() {
    HttpClient made = client;
    if (made == null) {
      List<Thread> others = waiting();
      made =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(Duration.ofSeconds(10))
              .sslContext(TlsOnDemand.context(shown))
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
   * Closes the connections; the next call opens new ones. A JVM that exits waits 0.3 s for threads
   * in a system call, such as this one, which is half the time that a command takes. A client can
   * be closed from Java 21 on; before, its thread ends when it is interrupted.
   */
  public static synchronized void close() {
    client = null;
    threads.forEach(SharedHttpClient::end);
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
