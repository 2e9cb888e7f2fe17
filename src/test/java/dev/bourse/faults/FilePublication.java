package dev.bourse.faults;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A file on its way to be published, each request to the other process than the one before where
 * that is there, until it is there whatever happens to them.
 */
final class FilePublication {
  /** Two parts: a request that is interrupted lies across the end of one. */
  private static final int MOST_CHUNK = 32 * TestBytes.MIB;

  private static final int LEAST_CHUNK = TestBytes.MIB;

  /** Whoever is frozen for longer than nothing moves thaws into an upload that another has. */
  private static final long PATIENCE_MILLIS = 4_000;

  private static final long MOST_PATIENCE_MILLIS = 60_000;

  private static final HttpClient CLIENT =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  private final FaultWorld world;
  private final String token;
  private final String name;
  private final TestBytes bytes;
  private final long deadline;
  private int turn;
  private long patience = PATIENCE_MILLIS;
  private String id = "";
  private String session = "";
  private int chunk = MOST_CHUNK;
  private long acknowledged;

  /**
   * @param token of the member who publishes
   * @param name of the file
   * @param minutes how long it may take, with all faults
   */
  FilePublication(FaultWorld world, String token, String name, TestBytes bytes, int minutes) {
    this.world = world;
    this.token = token;
    this.name = name;
    this.bytes = bytes;
    turn = name.hashCode();
    deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
  }

  String id() {
    return id;
  }

  String name() {
    return name;
  }

  long length() {
    return bytes.length();
  }

  /** The path that its bytes are sent to. */
  String session() {
    return session;
  }

  void announce() throws InterruptedException {
    while (id.isEmpty()) {
      JsonObject publication =
          new JsonObject()
              .put("title", name)
              // Each try under a name of its own: an answer that was lost may have announced it.
              .put("filename", name + '-' + turn)
              .put("content_type", "application/octet-stream")
              .put("bytes", length())
              .put("visibility", "org")
              .put("upload", "resumable");
      HttpResponse<String> answer = ask("POST", "/api/checkpoints", publication);
      if (answer != null && answer.statusCode() == 201) {
        JsonObject announced = new JsonObject(answer.body());
        id = announced.getString("id");
        session = URI.create(announced.getString("session_url")).getRawPath();
      }
    }
  }

  /** Sends its bytes up to an offset. */
  void send(long until) throws InterruptedException {
    long at = 0;
    while (at < until) {
      long end = Math.min(until, at + chunk);
      TestBytes.Piece piece = bytes.stream(at, end);
      BodyPublisher body =
          BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> piece), end - at);
      OptionalLong told =
          stored(put("bytes " + at + "-" + (end - 1) + "/" + length(), body, piece));
      long now = told.isPresent() ? told.getAsLong() : stored();
      // On a slow machine processes die more often than two parts of each upload come.
      chunk = now > at ? Math.min(2 * chunk, MOST_CHUNK) : Math.max(chunk / 2, LEAST_CHUNK);
      at = now;
    }
  }

  /** How many of its bytes the service says it has; never fewer than it said before. */
  long stored() throws InterruptedException {
    OptionalLong told = OptionalLong.empty();
    while (told.isEmpty()) {
      told = stored(put("bytes */" + length(), BodyPublishers.noBody(), null));
    }
    return told.getAsLong();
  }

  private OptionalLong stored(@Nullable HttpResponse<String> answer) {
    if (answer == null || answer.statusCode() == 409 || answer.statusCode() == 503) {
      return OptionalLong.empty();
    }
    if (answer.statusCode() != 200 && answer.statusCode() != 308) {
      throw new ViolatedException(
          name + ": PUT answers " + answer.statusCode() + " " + answer.body());
    }
    String range = answer.headers().firstValue("range").orElse("bytes=0--1");
    long told =
        answer.statusCode() == 200
            ? length()
            : Long.parseLong(range.substring("bytes=0-".length())) + 1;
    if (told < acknowledged) {
      throw new ViolatedException(
          name + ": of " + acknowledged + " bytes acknowledged " + told + " remain");
    }
    acknowledged = told;
    return OptionalLong.of(told);
  }

  /** Commits it until that is acknowledged, by the commit's answer or the item's state. */
  void commit() throws InterruptedException {
    JsonObject whole = new JsonObject().put("bytes", length());
    while (true) {
      HttpResponse<String> answer = ask("POST", item() + "/commit", whole);
      if (answer != null && answer.statusCode() == 200) {
        return;
      }
      HttpResponse<String> shown = ask("GET", item(), null);
      if (shown != null
          && shown.statusCode() == 200
          && new JsonObject(shown.body()).getString("status").equals("ready")) {
        return;
      }
      if (answer != null && answer.statusCode() == 422) {
        throw new ViolatedException(name + ": the commit answers " + answer.body());
      }
    }
  }

  /** Deletes it until it is not there. */
  void delete() throws InterruptedException {
    HttpResponse<String> answer;
    do {
      answer = ask("DELETE", item(), null);
    } while (answer == null || (answer.statusCode() != 200 && answer.statusCode() != 404));
  }

  /** Every process gives back what was sent. */
  void requireReadable() throws IOException, InterruptedException {
    String expected = bytes.sha256();
    for (ServiceProcess process : world.processes()) {
      HttpResponse<InputStream> answer = content(process);
      try (InputStream body = answer.body()) {
        if (answer.statusCode() != 200 || !TestBytes.sha256(body).equals(expected)) {
          throw new ViolatedException(
              name + " was acknowledged; " + process.name() + " shows " + answer.statusCode());
        }
      }
    }
  }

  /**
   * The answer to a read of it at a process. On a busy machine a query of the process may take too
   * long, which it says by 503, and which says nothing of the file.
   */
  private HttpResponse<InputStream> content(ServiceProcess process)
      throws IOException, InterruptedException {
    HttpRequest request = to(process.baseUrl() + item() + "/content").GET().build();
    long end = System.nanoTime() + Http.PATIENCE.toNanos();
    HttpResponse<InputStream> answer = CLIENT.send(request, BodyHandlers.ofInputStream());
    while (answer.statusCode() == 503 && System.nanoTime() < end) {
      answer.body().close();
      TimeUnit.MILLISECONDS.sleep(100);
      answer = CLIENT.send(request, BodyHandlers.ofInputStream());
    }
    return answer;
  }

  private String item() {
    return "/api/checkpoints/" + id;
  }

  private HttpRequest.Builder to(String address) {
    return HttpRequest.newBuilder(URI.create(address)).header("Authorization", "Bearer " + token);
  }

  private @Nullable HttpResponse<String> ask(
      String method, String path, @Nullable JsonObject content) throws InterruptedException {
    String base = base();
    if (base == null) {
      return null;
    }
    BodyPublisher body =
        content == null
            ? BodyPublishers.noBody()
            : BodyPublishers.ofByteArray(content.toBuffer().getBytes());
    return answer(
        to(base + path).header("Content-Type", "application/json").method(method, body), null);
  }

  private @Nullable HttpResponse<String> put(
      String range, BodyPublisher body, TestBytes.@Nullable Piece sending)
      throws InterruptedException {
    String base = base();
    return base == null
        ? null
        : answer(
            HttpRequest.newBuilder(URI.create(base + session))
                .header("Content-Range", range)
                .PUT(body),
            sending);
  }

  /**
   * The process whose turn it is, or the other while that one starts: else a client whose bytes are
   * its turn would ask the other how far it is, again and again. Null when neither is there.
   */
  private @Nullable String base() throws InterruptedException {
    if (System.nanoTime() > deadline) {
      throw new ViolatedException(
          name + " is not there in time; " + acknowledged + " bytes of it are");
    }
    int one = Math.floorMod(turn++, 2);
    String base = world.process(one).baseUrl();
    if (base == null) {
      base = world.process(1 - one).baseUrl();
    }
    if (base == null) {
      TimeUnit.MILLISECONDS.sleep(50);
    }
    return base;
  }

  /** The answer; null when there is none for as long as nothing moves. */
  private @Nullable HttpResponse<String> answer(
      HttpRequest.Builder request, TestBytes.@Nullable Piece sending) throws InterruptedException {
    CompletableFuture<HttpResponse<String>> answer =
        CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
    try {
      HttpResponse<String> told = await(answer, sending);
      patience = PATIENCE_MILLIS;
      if (told.statusCode() == 503 || told.statusCode() == 409) {
        TimeUnit.MILLISECONDS.sleep(100 + ThreadLocalRandom.current().nextInt(400));
      } else if (told.statusCode() == 400 || told.statusCode() == 401) {
        throw new ViolatedException(
            name + ": " + told.request().method() + " answers " + told.body());
      }
      return told;
    } catch (TimeoutException e) {
      answer.cancel(true);
      // A machine may be slow as well.
      patience = Math.min(2 * patience, MOST_PATIENCE_MILLIS);
      return null;
    } catch (ExecutionException e) {
      TimeUnit.MILLISECONDS.sleep(50);
      return null;
    }
  }

  private HttpResponse<String> await(
      CompletableFuture<HttpResponse<String>> answer, TestBytes.@Nullable Piece sending)
      throws InterruptedException, ExecutionException, TimeoutException {
    while (true) {
      long before = sending == null ? 0 : sending.at();
      try {
        return answer.get(patience, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (sending == null || sending.at() == before) {
          throw e;
        }
      }
    }
  }
}
