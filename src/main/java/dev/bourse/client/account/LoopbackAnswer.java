package dev.bourse.client.account;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Secrets;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.Refused;
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
 * The address of this machine to which the browser brings the service's answer (RFC 8252, section
 * 7.3): one answer, of the sign-in that waits. Every page that the person has open, and every
 * program of this machine, can send a request here; one without the state of this sign-in is turned
 * away, and neither ends the wait nor is believed.
 */
final class LoopbackAnswer implements AutoCloseable {
  private static final String PATH = "/callback";

  /** Connections that wait to be taken; a browser opens two or three. */
  private static final int BACKLOG = 8;

  /** So that a connection on which nothing comes does not keep the browser out. */
  private static final int THREADS = 4;

  /** Where the browser begins, followed by a word that is told to it alone. */
  private static final String DOOR = "/begin/";

  /**
   * Seconds a request may take to come whole: a browser on this machine needs none, and threads
   * that wait for the rest of another's are free again. The JDK's server knows no such limit by
   * itself, and reads this property when the first server is made.
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
  private final AtomicReference<@Nullable Door> door = new AtomicReference<>();
  private final AtomicInteger entries = new AtomicInteger();

  /** An address of this machine that leads to a page. */
  private record Door(String path, String page) {}

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
   * Opens a port that is free, of the loopback interface alone.
   *
   * @param state a secret that the answer carries back
   */
  static LoopbackAnswer open(String state) throws Refused {
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
      throw new Refused(
          ExitCode.UNAVAILABLE,
          "cannot listen on 127.0.0.1 (%s); bourse login --device needs no port"
              .formatted(IoWords.of(e)));
    }
  }

  /** Where the answer is to be sent. */
  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + PATH;
  }

  /**
   * An address that sends one visitor on to a page. What a program is started with can be read by
   * everybody on this machine; so a browser is started with this, which tells nothing once it has
   * been there. A second visitor ends the wait: one of the two was not the browser.
   *
   * @param word a secret of letters and digits
   */
  String door(String word, String page) {
    String path = DOOR + word;
    door.set(new Door(path, page));
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  /**
   * Waits for the answer; empty when none came in time.
   *
   * @throws Refused when the browser's address was opened twice
   */
  Optional<Map<String, String>> await(CommandEnvironment environment, Duration atMost)
      throws Refused {
    Instant end = environment.clock().instant().plus(atMost);
    while (answer.get() == null
        && entries.get() < 2
        && environment.clock().instant().isBefore(end)) {
      environment.await(LOOK);
    }
    if (entries.get() > 1) {
      throw new Refused(
          ExitCode.REFUSED,
          "the address that your browser was given was opened twice, perhaps by another user of"
              + " this machine; nothing is stored; run bourse login again, or with --device");
    }
    return Optional.ofNullable(answer.get());
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      Door known = door.get();
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
      Map<String, String> told = parameters(exchange.getRequestURI().getRawQuery());
      if (!Secrets.same(state, told.getOrDefault("state", ""))) {
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
          told.containsKey("code")
              ? "Go back to your terminal, which ends the sign-in. You may close this page."
              : "The sign-in was not allowed. You may close this page.");
      // Last, for then the command goes on and ends this server.
      answer.compareAndSet(null, told);
    }
  }

  private static boolean isAt(HttpExchange exchange, Door door) {
    return Secrets.same(door.path(), String.valueOf(exchange.getRequestURI().getPath()));
  }

  private void enter(HttpExchange exchange, String page) throws IOException {
    if (!exchange.getRequestMethod().equals("GET")) {
      show(exchange, 405, "Only a browser that opens the sign-in is expected here.");
      return;
    }
    if (entries.incrementAndGet() > 1) {
      show(exchange, 410, "This address was opened before. The sign-in is ended.");
      return;
    }
    exchange.getResponseHeaders().set("Location", page);
    show(exchange, 302, "The sign-in is elsewhere.");
  }

  /** The parameters of a query; none when it cannot be read or tells one twice. */
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
    // The address holds the code.
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
