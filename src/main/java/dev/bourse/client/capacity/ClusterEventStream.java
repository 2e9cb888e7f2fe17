package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A cluster's event stream (server-sent events of the HTML standard), which reconnects after each
 * lost connection without gaps.
 */
final class ClusterEventStream {
  private static final Duration HEAD = Duration.ofSeconds(30);

  /**
   * The service sends a line at least every 15 s; a connection without one for this long is dead.
   */
  private static final Duration SILENCE = Duration.ofSeconds(45);

  /** A restarting service is back within half a minute. */
  private static final long LONGEST_WAIT_SECONDS = 15;

  /** Longer than any line of the service: a state of 4,096 nodes has one megabyte. */
  private static final int LONGEST_EVENT = 8 << 20;

  private final Service service;
  private final CommandEnvironment environment;
  private final String path;
  private @Nullable String last;
  private volatile long heardAt;

  /** An event of the stream. */
  record Event(@Nullable String id, String kind, JsonObject data) {}

  ClusterEventStream(Service service, CommandEnvironment environment, String path) {
    this.service = service;
    this.environment = environment;
    this.path = path;
  }

  /**
   * Passes events on until the process ends.
   *
   * @param lost receives the reason for each lost connection
   * @throws RefusedException when the service refuses the stream
   */
  void follow(Consumer<Event> each, Consumer<String> lost) throws RefusedException {
    long wait = 1;
    while (true) {
      String before = last;
      try {
        listen(each);
        lost.accept("the service ended the stream");
      } catch (RefusedException refused) {
        if (!refused.isTransient()) {
          throw refused;
        }
        lost.accept(refused.getMessage().lines().findFirst().orElse(""));
        wait = Math.max(wait, Math.min(LONGEST_WAIT_SECONDS, refused.retryAfterSeconds()));
      } catch (IOException e) {
        lost.accept("the connection was lost");
      }
      wait = last != null && !last.equals(before) ? 1 : wait;
      environment.await(Duration.ofSeconds(wait));
      wait = Math.min(LONGEST_WAIT_SECONDS, wait * 2);
    }
  }

  private void listen(Consumer<Event> each) throws RefusedException, IOException {
    Map<String, String> headers = new HashMap<>(Map.of("Accept", "text/event-stream"));
    if (last != null) {
      headers.put("Last-Event-ID", last);
    }
    HttpResponse<InputStream> response =
        service.let(
            Service.Request.of("GET", service.baseUrl() + path, headers),
            BodyHandlers.ofInputStream(),
            HEAD);
    try (InputStream body = response.body();
        Closeable watch = closeWhenSilent(body)) {
      if (response.statusCode() >= 300) {
        throw service.refusal(
            response.statusCode(),
            response.headers(),
            new String(body.readAllBytes(), StandardCharsets.UTF_8));
      }
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      read(lines, each);
    }
  }

  /**
   * Closes the stream when it is silent for too long, because reads have no time-out of their own.
   */
  private Closeable closeWhenSilent(InputStream body) {
    heardAt = System.nanoTime();
    ScheduledExecutorService watch =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "event-watch");
              thread.setDaemon(true);
              return thread;
            });
    watch.scheduleWithFixedDelay(
        () -> {
          if (System.nanoTime() - heardAt > SILENCE.toNanos()) {
            closeQuietly(body);
          }
        },
        1,
        1,
        TimeUnit.SECONDS);
    return watch::shutdownNow;
  }

  private static void closeQuietly(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      // In either case the reader notices the end of the stream.
      return;
    }
  }

  private void read(BufferedReader lines, Consumer<Event> each) throws IOException {
    String id = null;
    String kind = "message";
    StringBuilder data = new StringBuilder();
    String line;
    while ((line = lines.readLine()) != null) {
      heardAt = System.nanoTime();
      if (line.isEmpty()) {
        if (data.length() > 0) {
          hand(id, kind, data.toString(), each);
        }
        kind = "message";
        data.setLength(0);
      } else if (line.startsWith("id:")) {
        id = line.substring(3).strip();
      } else if (line.startsWith("event:")) {
        kind = line.substring(6).strip();
      } else if (line.startsWith("data:")) {
        data.append(line, 5, line.length());
        if (data.length() > LONGEST_EVENT) {
          throw new IOException("an event is longer than " + LONGEST_EVENT + " characters");
        }
      }
    }
  }

  private void hand(@Nullable String id, String kind, String data, Consumer<Event> each)
      throws IOException {
    try {
      each.accept(new Event(id, kind, new JsonObject(data)));
    } catch (DecodeException e) {
      throw new IOException("an event is not valid JSON", e);
    }
    // Updated after the event was passed on, so that a failed one is requested again.
    last = id;
  }
}
