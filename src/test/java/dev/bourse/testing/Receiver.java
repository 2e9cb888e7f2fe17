package dev.bourse.testing;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** A receiver of webhooks, which answers as a test wants it to. */
public final class Receiver implements AutoCloseable {
  /** What has come, whatever was answered. */
  public record Received(String id, String signature, String timestamp, String text) {
    public JsonObject body() {
      return new JsonObject(text);
    }

    public String type() {
      return body().getString("type");
    }

    public JsonObject data() {
      return body().getJsonObject("data");
    }

    /** Whether the library of the specification takes it. */
    public boolean isSignedWith(String secret) {
      try {
        new Webhook(secret)
            .verify(
                text,
                new HashMap<>(
                    Map.of(
                        "webhook-id", List.of(id),
                        "webhook-timestamp", List.of(timestamp),
                        "webhook-signature", List.of(signature))));
        return true;
      } catch (WebhookVerificationException refused) {
        return false;
      }
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Received> received = new CopyOnWriteArrayList<>();
  private final List<Received> taken = new CopyOnWriteArrayList<>();
  private volatile Function<Received, Integer> answer;

  /** One that takes everything. */
  public Receiver() {
    this(message -> 204);
  }

  /**
   * @param answer the status it answers with; it may take its time
   */
  public Receiver(Function<Received, Integer> answer) {
    this(0, answer);
  }

  public Receiver(int port, Function<Received, Integer> answer) {
    this.answer = answer;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      server.createContext("/", this::take);
      server.setExecutor(threads);
      server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void take(HttpExchange exchange) throws IOException {
    String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    Received message =
        new Received(
            exchange.getRequestHeaders().getFirst("webhook-id"),
            exchange.getRequestHeaders().getFirst("webhook-signature"),
            exchange.getRequestHeaders().getFirst("webhook-timestamp"),
            text);
    received.add(message);
    int status = answer.apply(message);
    if (status >= 200 && status < 300) {
      taken.add(message);
    }
    byte[] said = ("status " + status).getBytes(StandardCharsets.UTF_8);
    if (status / 100 == 3) {
      exchange.getResponseHeaders().add("Location", url() + "/elsewhere");
    }
    exchange.sendResponseHeaders(status, status == 204 ? -1 : said.length);
    if (status != 204) {
      exchange.getResponseBody().write(said);
    }
    exchange.close();
  }

  public void answer(Function<Received, Integer> with) {
    answer = with;
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public String url() {
    return "http://localhost:" + port();
  }

  /** All that has come. */
  public List<Received> received() {
    return List.copyOf(received);
  }

  /** What was answered with success, in the order in which it was. */
  public List<Received> taken() {
    return List.copyOf(taken);
  }

  public Received await(int number) {
    RunningBourse.until(
        "message %s comes, after %s".formatted(number, received), () -> taken.size() >= number);
    return taken.get(number - 1);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
