package dev.bourse.faults;

import dev.bourse.faults.Http.Answer;
import dev.bourse.history.RecordedOperation;
import dev.bourse.history.RecordedOperation.Kind;
import dev.bourse.history.RecordedOperation.Outcome;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Clients that write and read at once, each by way of one process, or of another while that one is
 * gone. What they do and see is recorded; only what was not sent at all is not.
 */
final class Writers {
  /**
   * Between two requests of a client. An answer takes a third of that, so that at any moment some
   * of the clients have a request under way, and the machine has room for what else runs.
   */
  private static final long PAUSE_MICROS = 8_000;

  /** The same where faults last for seconds: more requests would find nothing more. */
  private static final long CALM_PAUSE_MICROS = 20_000;

  /** A lie is told once in so many requests. */
  private static final int LIE_ONE_IN = 20;

  private final FaultWorld world;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> clients = new ArrayList<>();
  private final long seed;
  private long pauseMicros = PAUSE_MICROS;
  private volatile boolean isOver;

  Writers(FaultWorld world, long seed) {
    this.world = world;
    this.seed = seed;
  }

  /** Has the clients make fewer requests; before they start. */
  void calm() {
    pauseMicros = CALM_PAUSE_MICROS;
  }

  /** Two clients for each cluster, one for keys and one for tokens of each organization. */
  void start() {
    int number = 0;
    for (String cluster : FaultWorld.CLUSTERS.keySet()) {
      for (int i = 0; i < 2; i++) {
        Client client = new Client("c", number++, FaultWorld.CLUSTERS.get(cluster));
        clients.add(threads.submit(() -> declare(client, cluster)));
      }
    }
    for (String org : FaultWorld.ORGS) {
      Client keys = new Client("k", number++, org);
      clients.add(threads.submit(() -> changeKeys(keys)));
      Client tokens = new Client("t", number++, org);
      clients.add(threads.submit(() -> changeTokens(tokens)));
    }
  }

  /** Has all clients end with the request they are at. */
  void stop() throws InterruptedException {
    isOver = true;
    try {
      for (Future<?> client : clients) {
        client.get(2 * Http.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    } catch (ExecutionException e) {
      throw new ViolatedException("a client failed: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new ViolatedException("a client has had no answer for a minute", e);
    } finally {
      threads.shutdownNow();
    }
  }

  /** One client and the process it prefers. */
  private final class Client {
    final String prefix;
    final String org;
    final Random random;
    private final int number;
    private int requests;

    Client(String kind, int number, String org) {
      prefix = kind + number;
      this.number = number;
      this.org = org;
      random = new Random(seed + number);
    }

    String nextId() {
      return prefix + "-" + ++requests;
    }

    /** The process to ask; null while none answers. */
    @Nullable ServiceProcess process(int away) {
      List<ServiceProcess> all = world.processes();
      for (int i = 0; i < all.size(); i++) {
        ServiceProcess one = all.get((number + away + i) % all.size());
        if (one.baseUrl() != null) {
          return one;
        }
      }
      return null;
    }

    /** Sends a request and records it as told; null when it was not sent or not answered. */
    @Nullable Answer exchange(
        @Nullable ServiceProcess process,
        String method,
        String path,
        String token,
        @Nullable JsonObject body,
        Told told) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(pauseMicros));
      String url = process == null ? null : process.baseUrl();
      if (process == null || url == null) {
        return null;
      }
      long invoked = world.recorder().now();
      try {
        Answer answer = Http.send(url, method, path, token, body);
        if (answer.status() == 503 && answer.retryAfter().isEmpty()) {
          throw new ViolatedException(method + " " + path + " without Retry-After: " + answer);
        }
        record(process, invoked, told, answer);
        return answer;
      } catch (ConnectException nobodyListens) {
        return null;
      } catch (IOException e) {
        record(process, invoked, told, null);
        return null;
      }
    }

    private void record(ServiceProcess process, long invoked, Told told, @Nullable Answer answer) {
      Outcome outcome =
          answer == null || answer.mayBeStored()
              ? Outcome.UNKNOWN
              : told.isAnswer(answer) ? Outcome.ACKNOWLEDGED : Outcome.REFUSED;
      world
          .recorder()
          .add(
              new RecordedOperation(
                  told.id,
                  process.name(),
                  told.kind,
                  told.subject,
                  invoked,
                  world.recorder().now(),
                  told.expected,
                  told.sent,
                  outcome,
                  answer != null && outcome == Outcome.ACKNOWLEDGED ? told.version(answer) : 0,
                  answer == null ? "" : told.shown(answer, outcome)));
    }
  }

  /** What the record tells of a request, and how its answer is read. */
  private static class Told {
    final String id;
    final Kind kind;
    final String subject;
    final long expected;
    final String sent;

    Told(String id, Kind kind, String subject, long expected, String sent) {
      this.id = id;
      this.kind = kind;
      this.subject = subject;
      this.expected = expected;
      this.sent = sent;
    }

    boolean isAnswer(Answer answer) {
      return answer.isOk();
    }

    long version(Answer answer) {
      return kind == Kind.WRITE || kind == Kind.READ ? answer.body().getLong("version") : 0;
    }

    final String shown(Answer answer, Outcome outcome) {
      return outcome == Outcome.ACKNOWLEDGED ? shown(answer) : answer.code();
    }

    /** What a write shows is its version alone. */
    String shown(Answer unusedAnswer) {
      return "";
    }
  }

  /** What a capacity state declares, as the record words it. */
  static String declared(JsonObject state) {
    JsonObject declared = state.getJsonObject("declared");
    return declared == null
        ? RecordedOperation.NOTHING
        : declaration(
            declared.getInteger("max_gpus"), declared.getDouble("max_price_per_gpu_hour"));
  }

  private static String declaration(int gpus, double price) {
    return String.format(Locale.ROOT, "%d at %.2f", gpus, price);
  }

  private void declare(Client client, String cluster) {
    String token = world.token(client.org);
    long version = -1;
    JsonObject earlier = null;
    while (!isOver) {
      if (version < 0 || client.random.nextInt(3) == 0) {
        Answer read = read(client, cluster, token, earlier);
        earlier = read != null && read.isOk() ? read.body() : earlier;
        version = read != null && read.isOk() ? read.body().getLong("version") : -1;
      } else {
        version = write(client, cluster, token, version);
      }
    }
  }

  private @Nullable Answer read(
      Client client, String cluster, String token, @Nullable JsonObject earlier) {
    boolean isLie =
        world.plant() == Plant.OLD_READ
            && earlier != null
            && client.random.nextInt(LIE_ONE_IN) == 0;
    Told told =
        new Told(client.nextId(), Kind.READ, cluster, 0, "") {
          @Override
          long version(Answer answer) {
            return isLie && earlier != null ? earlier.getLong("version") : super.version(answer);
          }

          @Override
          String shown(Answer answer) {
            return declared(isLie && earlier != null ? earlier : answer.body());
          }
        };
    return client.exchange(
        client.process(0), "GET", "/api/vm/capacity?cluster=" + cluster, token, null, told);
  }

  /** The version afterwards; -1 when it has to be read. */
  private long write(Client client, String cluster, String token, long version) {
    int gpus = client.random.nextInt(4) * 8;
    double price = (200 + client.random.nextInt(800)) / 100.0;
    String id = client.nextId();
    Told told = new Told(id, Kind.WRITE, cluster, version, declaration(gpus, price));
    ServiceProcess process = client.process(0);
    if (world.plant() == Plant.LOST_WRITE
        && process != null
        && client.random.nextInt(LIE_ONE_IN) == 0) {
      JsonObject lie = new JsonObject().put("version", version + 1);
      client.record(process, world.recorder().now(), told, new Answer(200, lie, Optional.empty()));
      return -1;
    }
    JsonObject order =
        new JsonObject()
            .put("cluster", cluster)
            .put("max_gpus", gpus)
            .put("max_price_per_gpu_hour", price)
            .put("expected_version", version);
    Answer answer = client.exchange(process, "PUT", "/api/vm/capacity", token, order, told);
    return answer != null && answer.isOk() ? answer.body().getLong("version") : -1;
  }

  /** Adds a key, looks at all of them, removes it. */
  private void changeKeys(Client client) {
    String token = world.token(client.org);
    String path = "/api/vm/orgs/" + client.org + "/ssh-keys";
    String set = FaultWorld.keysOf(client.org);
    while (!isOver) {
      String id = client.nextId();
      JsonObject key = new JsonObject().put("name", id).put("public_key", Keys.next(client.random));
      Answer added =
          client.exchange(
              client.process(0), "POST", path, token, key, new Told(id, Kind.ADD, set, 0, id));
      list(client, path, token, set);
      if (added != null && added.isOk()) {
        String one = path + "/" + added.body().getString("key_id");
        client.exchange(
            client.process(0),
            "DELETE",
            one,
            token,
            null,
            new Told(client.nextId(), Kind.REMOVE, set, 0, id));
        list(client, path, token, set);
      }
    }
  }

  private void list(Client client, String path, String token, String set) {
    int away = client.random.nextInt(2);
    client.exchange(
        client.process(away),
        "GET",
        path,
        token,
        null,
        new Told(client.nextId(), Kind.LIST, set, 0, "") {
          @Override
          String shown(Answer answer) {
            return ours(answer.body().getJsonArray("keys")).collect(Collectors.joining(" "));
          }
        });
  }

  /** The names of keys or tokens that clients of a run made. */
  static Stream<String> ours(JsonArray all) {
    return all.stream()
        .map(one -> ((JsonObject) one).getString("name"))
        .filter(name -> FaultWorld.OURS.matcher(name).matches());
  }

  /** Mints a token, tries it, has it revoke itself, and tries it again at every process. */
  private void changeTokens(Client client) {
    String path = "/api/operator/orgs/" + client.org + "/tokens";
    String set = FaultWorld.tokensOf(client.org);
    while (!isOver) {
      String id = client.nextId();
      JsonObject wanted = new JsonObject().put("name", id).put("scopes", new JsonArray());
      Answer minted =
          client.exchange(
              client.process(0),
              "POST",
              path,
              world.operatorToken(),
              wanted,
              new Told(id, Kind.ADD, set, 0, id));
      if (minted == null || !minted.isOk()) {
        continue;
      }
      String token = minted.body().getString("token");
      look(client, set, id, token);
      client.exchange(
          client.process(0),
          "DELETE",
          "/api/org/tokens/self",
          token,
          null,
          new Told(client.nextId(), Kind.REMOVE, set, 0, id));
      for (int i = 0; i < 20 && !isOver; i++) {
        look(client, set, id, token);
      }
    }
  }

  private void look(Client client, String set, String id, String token) {
    client.exchange(
        client.process(client.random.nextInt(2)),
        "GET",
        "/api/whoami",
        token,
        null,
        new Told(client.nextId(), Kind.LOOK, set, 0, id) {
          @Override
          boolean isAnswer(Answer answer) {
            return answer.isOk() || answer.status() == 401;
          }

          @Override
          String shown(Answer answer) {
            return answer.isOk() ? RecordedOperation.PRESENT : RecordedOperation.ABSENT;
          }
        });
  }
}
