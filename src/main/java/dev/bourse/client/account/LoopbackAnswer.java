package dev.bourse.client.account;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Secrets;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A loopback server that receives the service's answer from the browser (RFC 8252, section 7.3),
 * once, for one sign-in. Every page open in the browser, and every program on this machine, can
 * send requests to it; requests without the state of this sign-in are rejected and have no effect.
 */
final class LoopbackAnswer implements AutoCloseable {
  private static final String PATH = "/callback";

  /** Pending connections; a browser opens two or three. */
  private static final int BACKLOG = 8;

  /** Several threads, so that an idle connection does not block the browser. */
  private static final int THREADS = 4;

  /** The start of the path for the browser, followed by a secret word. */
  private static final String DOOR = "/begin/";

  /**
   * Seconds in which a request has to arrive completely; a local browser needs much less, and
   * incomplete requests of others must not block the threads. The JDK's server has no such limit by
   * default, and reads this property when the first server is created.
   */
  private static final String REQUEST_LIMIT = "sun.net.httpserver.maxReqTime";

  private static final String REQUEST_SECONDS = "5";

  private static final Duration LOOK = Duration.ofMillis(100);

  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>Bourse</title></head>
      <body><p>%s</p></body></html>
      """;

  private final HttpServer server;
  private final ExecutorService threads;
  private final String state;
  private final AtomicReference<@Nullable Map<String, String>> answer = new AtomicReference<>();
  private final AtomicReference<@Nullable EntryPoint> door = new AtomicReference<>();
  private final AtomicInteger entries = new AtomicInteger();

  /** Whether a second visitor of the door has been told so. */
  private volatile boolean isOpenedTwice;

  /** A local path that redirects to a page. */
  private record EntryPoint(String path, String page) {}

  private LoopbackAnswer(HttpServer server, String state) {
    this.server = server;
    this.state = state;
    threads =
        Executors.newFixedThreadPool(
            THREADS,
            work -> {
              Thread thread = new Thread(work, "sign-in");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Opens a free port on the loopback interface.
   *
   * @param state a secret that the answer has to carry
   */
  static LoopbackAnswer open(String state) throws RefusedException {
    if (System.getProperty(REQUEST_LIMIT) == null) {
      System.setProperty(REQUEST_LIMIT, REQUEST_SECONDS);
    }
    try {
      InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
      HttpServer server = HttpServer.create(new InetSocketAddress(loopback, 0), BACKLOG);
      LoopbackAnswer opened = new LoopbackAnswer(server, state);
      server.setExecutor(opened.threads);
      server.createContext("/", opened::take);
      server.start();
      return opened;
    } catch (IOException e) {
      throw new RefusedException(
          ExitCode.UNAVAILABLE,
          "cannot listen on 127.0.0.1 (%s); bourse login --device needs no port"
              .formatted(IoWords.of(e)));
    }
  }

  /** The redirect address for the answer. */
  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + PATH;
  }

  /**
   * Registers a local address that redirects one visitor to a page, and returns it. The browser is
   * started with this address, because command lines are visible to all users of the machine: after
   * the first visit it reveals nothing. A second visit ends the sign-in, because one of the two
   * visitors was not the browser.
   *
   * @param word a secret of letters and digits
   */
  String door(String word, String page) {
    String path = DOOR + word;
    door.set(new EntryPoint(path, page));
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /**
   * Waits for the answer; empty on time-out.
   *
   * @throws RefusedException when the browser's address was opened twice
   */
  Optional<Map<String, String>> await(CommandEnvironment environment, Duration atMost)
      throws RefusedException {
    Instant end = environment.clock().instant().plus(atMost);
    while (answer.get() == null && !isOpenedTwice && environment.clock().instant().isBefore(end)) {
      environment.await(LOOK);
    }
    if (entries.get() > 1) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "the sign-in address was opened twice, perhaps by another user of"
              + " this machine; nothing is stored; run bourse login again, or with --device");
    }
    return Optional.ofNullable(answer.get());
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      EntryPoint known = door.get();
      if (known != null && isAt(exchange, known)) {
        enter(exchange, known.page());
        return;
      }
      if (!PATH.equals(exchange.getRequestURI().getPath())) {
        show(exchange, 404, "There is nothing here.");
        return;
      }
      if (!exchange.getRequestMethod().equals("GET")) {
        show(exchange, 405, "Only a browser that follows an answer is expected here.");
        return;
      }
      Map<String, String> received = parameters(exchange.getRequestURI().getRawQuery());
      if (!Secrets.same(state, received.getOrDefault("state", ""))) {
        show(exchange, 400, "This is no answer to the sign-in that waits here.");
        return;
      }
      if (answer.get() != null) {
        show(exchange, 410, "The sign-in has been answered already.");
        return;
      }
      show(
          exchange,
          200,
          received.containsKey("code")
              ? "Go back to your terminal, which ends the sign-in. You may close this page."
              : "The sign-in was not allowed. You may close this page.");
      // Set last, because the command then continues and closes this server.
      answer.compareAndSet(null, received);
    }
  }

  private static boolean isAt(HttpExchange exchange, EntryPoint door) {
    return Secrets.same(door.path(), String.valueOf(exchange.getRequestURI().getPath()));
  }

  private void enter(HttpExchange exchange, String page) throws IOException {
    if (!exchange.getRequestMethod().equals("GET")) {
      show(exchange, 405, "Only a browser that opens the sign-in is expected here.");
      return;
    }
    if (entries.incrementAndGet() > 1) {
      try {
        show(exchange, 410, "This address was opened before. The sign-in is ended.");
      } finally {
        // Set last, because the command then ends and closes this server.
        isOpenedTwice = true;
      }
      return;
    }
    exchange.getResponseHeaders().set("Location", page);
    show(exchange, 302, "The sign-in is elsewhere.");
  }

  /** The parameters of a query; empty when it is malformed or repeats one. */
  private static Map<String, String> parameters(@Nullable String query) {
    Map<String, String> parameters = new HashMap<>();
    for (String pair : (query == null ? "" : query).split("&", -1)) {
      String[] parts = pair.split("=", 2);
      try {
        String value = parts.length < 2 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
        if (parameters.put(parts[0], value) != null) {
          return Map.of();
        }
      } catch (IllegalArgumentException e) {
        return Map.of();
      }
    }
    return parameters;
  }

  private static void show(HttpExchange exchange, int status, String text) throws IOException {
    byte[] page = PAGE.formatted(text).getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
    exchange.getResponseHeaders().set("Content-Security-Policy", "default-src 'none'");
    // The address contains the code.
    exchange.getResponseHeaders().set("Referrer-Policy", "no-referrer");
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    exchange.getResponseHeaders().set("Connection", "close");
    exchange.sendResponseHeaders(status, page.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(page);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
