package dev.bourse.faults;

import dev.bourse.faults.Http.Answer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Clients behind a proxy, with every method there is, of whose requests none may fail. */
final class ProxiedClients {
  /** Nothing that the other clients of a run write to. */
  private static final String CLUSTER = "acme-batch";

  /** More than nginx takes by default. */
  private static final int FILE_BYTES = 3 * TestBytes.MIB;

  private static final int REQUESTS_A_FILE = 200;

  /** Between two requests of a client, so that processes which start have room on the machine. */
  private static final long PAUSE_MILLIS = 10;

  /** A machine that is busy answers several times as many. */
  private static final int SLOWEST_A_SECOND = 5;

  private final FaultWorld world;
  private final String proxy;
  private final String memberToken;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> clients = new ArrayList<>();
  private final AtomicLong answered = new AtomicLong();
  private volatile boolean isOver;

  /**
   * @param memberToken of the member who publishes files
   */
  ProxiedClients(FaultWorld world, String proxy, String memberToken) {
    this.world = world;
    this.proxy = proxy;
    this.memberToken = memberToken;
  }

  private interface Client {
    void ask(int turn) throws IOException;
  }

  void start() throws IOException {
    String acme = world.token("acme");
    String openlab = "/api/operator/orgs/openlab";
    String capacity = "/api/vm/capacity?cluster=" + CLUSTER;
    Random random = new Random(1);
    AtomicLong version = new AtomicLong(must("GET", capacity, acme, null).getLong("version"));
    run(turn -> must("GET", turn % 2 == 0 ? capacity : "/api/market/feed", acme, null));
    run(
        turn -> {
          JsonObject order =
              new JsonObject()
                  .put("cluster", CLUSTER)
                  .put("max_gpus", turn % 2 * 8)
                  .put("max_price_per_gpu_hour", 2.5)
                  .put("expected_version", version.get());
          version.set(must("PUT", "/api/vm/capacity", acme, order).getLong("version"));
        });
    run(
        turn -> {
          String keys = "/api/vm/orgs/globex/ssh-keys";
          JsonObject key =
              new JsonObject().put("name", "p" + turn).put("public_key", Keys.next(random));
          String id = must("POST", keys, world.token("globex"), key).getString("key_id");
          // The other process may not have heard of it yet, and does within a second.
          FaultWorld.until("the key is deleted", 30, () -> isDeleted(keys + "/" + id));
        });
    run(
        turn -> {
          JsonObject display = new JsonObject().put("display", "Open lab " + turn);
          must("PATCH", openlab, world.operatorToken(), display);
        });
    TestBytes bytes = new TestBytes(FILE_BYTES, random.nextLong());
    Path file = bytes.write(world.folder().resolve("small-file"));
    String sha256 = bytes.sha256();
    run(turn -> publish("small-" + turn, file, sha256));
  }

  /**
   * Publishes a file in one request, reads it and deletes it, once for so many other requests: a
   * disk that files fill without end lets the database's commits wait for seconds.
   */
  private void publish(String name, Path file, String sha256) throws IOException {
    long next = answered.get() + REQUESTS_A_FILE;
    FaultWorld.until(
        "requests through the proxy are answered",
        REQUESTS_A_FILE / SLOWEST_A_SECOND,
        () -> isOver || answered.get() >= next);
    JsonObject announcement =
        new JsonObject()
            .put("title", name)
            .put("filename", name)
            .put("content_type", "application/octet-stream")
            .put("bytes", Files.size(file))
            .put("visibility", "org")
            .put("upload", "direct");
    JsonObject announced = must("POST", "/api/checkpoints", memberToken, announcement);
    String item = "/api/checkpoints/" + announced.getString("id");
    String content = item + "/content";
    answered(Http.sendFile(proxy, content, memberToken, file), "PUT", content);
    String read = Http.sha256(proxy, content, memberToken);
    if (!read.equals(sha256)) {
      throw new ViolatedException(
          "GET " + content + " through the proxy shows other bytes: " + read);
    }
    answered.incrementAndGet();
    must("DELETE", item, memberToken, null);
  }

  private void run(Client client) {
    clients.add(
        threads.submit(
            () -> {
              for (int turn = 0; !isOver; turn++) {
                client.ask(turn);
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
              }
              return null;
            }));
  }

  private JsonObject must(String method, String path, String token, @Nullable JsonObject body)
      throws IOException {
    return answered(Http.send(proxy, method, path, token, body), method, path);
  }

  private boolean isDeleted(String path) {
    try {
      Answer answer = Http.send(proxy, "DELETE", path, world.token("globex"), null);
      if (answer.status() == 404) {
        return false;
      }
      answered(answer, "DELETE", path);
      return true;
    } catch (IOException e) {
      throw new ViolatedException("DELETE " + path + " through the proxy is not answered", e);
    }
  }

  private JsonObject answered(Answer answer, String method, String path) {
    if (!answer.isOk()) {
      throw new ViolatedException(method + " " + path + " through the proxy answers " + answer);
    }
    answered.incrementAndGet();
    return answer.body();
  }

  /** Waits until so many more requests are answered, and fails when one has failed. */
  void untilAnswered(int more) throws InterruptedException {
    long before = answered.get();
    FaultWorld.until(
        "requests through the proxy are answered",
        60 + more / SLOWEST_A_SECOND,
        () -> answered.get() >= before + more || clients.stream().anyMatch(Future::isDone));
    for (Future<?> client : clients) {
      if (client.isDone()) {
        end();
      }
    }
  }

  /** Has all end with the request they are at; how many were answered. */
  long end() throws InterruptedException {
    isOver = true;
    try {
      for (Future<?> client : clients) {
        client.get(2 * Http.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      return answered.get();
    } catch (ExecutionException e) {
      throw new ViolatedException("a request through the proxy failed: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new ViolatedException("a client behind the proxy has had no answer for a minute", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
