package dev.bourse.bench;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.parsetools.RecordParser;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Thousands of clients that follow clusters as server-sent events. Between two ticks every cluster
 * gives its node back and bids for one again, so that each client has a grant to be told of at each
 * tick; how long after the tick each is told is measured. One client more never reads; it follows a
 * cluster of many nodes, whose events fill what may wait for it.
 *
 * <p>Arguments: the service's address, its world file with the tokens, how many clients, for how
 * many seconds, the service's process id. The world has organizations {@code e0}, {@code e1} …,
 * each with a cluster of its own name and a token {@code main}, and {@code big} of the same kind.
 * Prints one line a tick, then {@code events <clients> <rounds> <missed> <late> <p50> <p99> <max>
 * <first MB> <last MB> <dropped|kept>}.
 */
public final class EventClients {
  private static final int CLIENTS_PER_CLUSTER = 25;
  private static final int BIG_NODES = 1_500;
  private static final long LATE_MILLIS = 1_000;
  private static final String KEY =
      "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3";

  private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** Kept, for its connections are closed when nothing knows it any more. */
  private final NetClient net =
      vertx.createNetClient(new NetClientOptions().setReceiveBufferSize(8_192));

  private final URI url;
  private final JsonObject orgs;
  private final String pid;
  private final int clients;
  private final int clusters;
  private final long[] versions;

  /** When each client was last told of a grant, and how often it was in this round. */
  private final AtomicLongArray toldAt;

  private final AtomicIntegerArray told;
  private final List<Long> delays = new ArrayList<>();
  private long bigVersion;
  private int missed;
  private int late;

  private EventClients(String[] args) throws IOException {
    url = URI.create(args[0]);
    orgs = new JsonObject(Files.readString(Path.of(args[1]))).getJsonObject("orgs");
    clients = Integer.parseInt(args[2]);
    pid = args[4];
    clusters = (clients + CLIENTS_PER_CLUSTER - 1) / CLIENTS_PER_CLUSTER;
    versions = new long[clusters];
    toldAt = new AtomicLongArray(clients);
    told = new AtomicIntegerArray(clients);
  }

  public static void main(String[] args) {
    try {
      new EventClients(args).run(Integer.parseInt(args[3]));
      System.exit(0);
    } catch (Exception e) {
      System.err.println("the clients gave up: " + e);
      System.exit(1);
    }
  }

  private void run(int seconds) throws Exception {
    for (int i = 0; i < clusters; i++) {
      addKey("e" + i);
    }
    addKey("big");
    declareBig(BIG_NODES);
    untilBigHolds();
    connect();
    Socket stuck = stick();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long firstResident = 0;
    int rounds = 0;
    long tick = awaitTick(0);
    while (System.nanoTime() < end) {
      bidAnew();
      declareBig(BIG_NODES - 1 - rounds % 2);
      if (tickAt() != tick) {
        // Some grants came with a tick that the bids were to be ready for: nothing can be told of
        // it.
        System.err.println("the bids took longer than a tick; set aside");
        tick = awaitTick(tickAt());
        continue;
      }
      for (int i = 0; i < clients; i++) {
        told.set(i, 0);
      }
      tick = awaitTick(tick);
      Thread.sleep(3 * LATE_MILLIS);
      long slowest = judge(tick);
      rounds++;
      System.err.println(
          "round " + rounds + ": slowest " + slowest + " ms, resident " + residentMb() + " MB");
      // By the third everything has been used once.
      firstResident = rounds == 3 ? residentMb() : firstResident;
    }
    long[] all = delays.stream().mapToLong(d -> d).sorted().toArray();
    System.out.printf(
        "events %d %d %d %d %d %d %d %d %d %s%n",
        clients,
        rounds,
        missed,
        late,
        all[all.length / 2],
        all[all.length * 99 / 100],
        all[all.length - 1],
        firstResident,
        residentMb(),
        isDropped(stuck) ? "dropped" : "kept");
  }

  /** Which clients were told of this tick's grant, and when; the slowest in milliseconds. */
  private long judge(long tickAt) {
    long slowest = 0;
    for (int i = 0; i < clients; i++) {
      if (told.get(i) == 0) {
        missed++;
        continue;
      }
      long delay = toldAt.get(i) - tickAt;
      delays.add(delay);
      late += delay > LATE_MILLIS ? 1 : 0;
      slowest = Math.max(slowest, delay);
    }
    return slowest;
  }

  private void connect() {
    for (int from = 0; from < clients; from += 100) {
      List<Future<Void>> some = new ArrayList<>();
      for (int i = from; i < Math.min(clients, from + 100); i++) {
        int client = i;
        String cluster = "e" + client / CLIENTS_PER_CLUSTER;
        some.add(
            net.connect(url.getPort(), url.getHost())
                .compose(
                    socket -> {
                      socket.handler(
                          RecordParser.newDelimited("\n\n", event -> take(client, event)));
                      socket.closeHandler(
                          gone -> System.err.println("client " + client + " was cut off"));
                      return socket.write(request(cluster));
                    }));
      }
      Future.all(some).await();
    }
  }

  private void take(int client, Buffer event) {
    if (event.toString().contains("event: grant")) {
      toldAt.set(client, System.currentTimeMillis());
      told.incrementAndGet(client);
    }
  }

  private Buffer request(String cluster) {
    return Buffer.buffer(
        "GET /api/vm/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "
            + token(cluster)
            + "\r\n\r\n");
  }

  private Socket stick() throws IOException {
    Socket stuck = new Socket();
    stuck.setReceiveBufferSize(4_096);
    stuck.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), url.getPort()));
    stuck.getOutputStream().write(request("big").getBytes());
    return stuck;
  }

  /** Whether the service has ended the connection: it does not begin to wait once all is read. */
  private static boolean isDropped(Socket stuck) throws IOException {
    stuck.setSoTimeout(5_000);
    byte[] some = new byte[65_536];
    try (InputStream in = stuck.getInputStream()) {
      int read = in.read(some);
      while (read > 0) {
        read = in.read(some);
      }
      return true;
    } catch (SocketTimeoutException alive) {
      return false;
    } catch (IOException reset) {
      return true;
    }
  }

  private void addKey(String org) {
    send(
        "POST",
        "/api/vm/orgs/" + org + "/ssh-keys",
        org,
        new JsonObject().put("name", "bench").put("public_key", KEY));
  }

  private void bidAnew() {
    for (int nodes = 0; nodes <= 1; nodes++) {
      for (int from = 0; from < clusters; from += 16) {
        List<CompletableFuture<String>> some = new ArrayList<>();
        for (int i = from; i < Math.min(clusters, from + 16); i++) {
          some.add(sending("PUT", "/api/vm/capacity", "e" + i, order(nodes, versions[i]++)));
        }
        some.forEach(CompletableFuture::join);
      }
    }
  }

  private void declareBig(int nodes) {
    send("PUT", "/api/vm/capacity", "big", order(nodes, bigVersion++));
  }

  private void untilBigHolds() throws InterruptedException {
    String state = "";
    while (!state.contains("\"pending\":0") || state.contains("\"provisioning\"")) {
      Thread.sleep(500);
      state = send("GET", "/api/vm/capacity", "big", null);
    }
  }

  private static JsonObject order(int nodes, long version) {
    return new JsonObject()
        .put("max_gpus", 8 * nodes)
        .put("max_price_per_gpu_hour", 2)
        .put("expected_version", version);
  }

  /** Waits for the next tick of the clients' pool; when it was. */
  private long awaitTick(long last) throws InterruptedException {
    long tick = last;
    while (tick <= last) {
      Thread.sleep(50);
      tick = tickAt();
    }
    return tick;
  }

  /** When the clients' pool last ticked; 0 before it did. */
  private long tickAt() {
    String depth = send("GET", "/api/market/depth?pool=bench", "e0", null);
    String at = new JsonObject(depth).getString("tick_at");
    return at == null ? 0 : Instant.parse(at).toEpochMilli();
  }

  private String send(String method, String path, String org, @Nullable JsonObject body) {
    return sending(method, path, org, body).join();
  }

  private CompletableFuture<String> sending(
      String method, String path, String org, @Nullable JsonObject body) {
    HttpRequest request =
        HttpRequest.newBuilder(url.resolve(path))
            .header("Authorization", "Bearer " + token(org))
            .header("Content-Type", "application/json")
            .method(
                method,
                body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode()))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString())
        .thenApply(
            response -> {
              if (response.statusCode() / 100 != 2) {
                throw new IllegalStateException(path + " " + response.body());
              }
              return response.body();
            });
  }

  private String token(String org) {
    return orgs.getJsonObject(org).getJsonObject("tokens").getString("main");
  }

  private long residentMb() throws IOException {
    return Arrays.stream(
            new String(Files.readAllBytes(Path.of("/proc", pid, "status")), StandardCharsets.UTF_8)
                .split("\n", -1))
        .filter(line -> line.startsWith("VmRSS"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1_024)
        .findFirst()
        .orElse(0);
  }
}
