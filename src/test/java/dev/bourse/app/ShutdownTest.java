package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import dev.bourse.testing.TestStore;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A service that is asked to stop completes its work. */
@EachEngine
class ShutdownTest {
  private static final List<String> SETTINGS =
      List.of(
          "port=0",
          "capacity.write-cadence=0",
          "limits.requests-per-minute=0",
          "limits.edge-per-minute=0",
          // The log is judged, and a busy disk makes a request slow.
          "log.slow-request=0");

  /** The exit code of a process ended by SIGTERM. */
  private static final int TERMINATED = 128 + 15;

  @Test
  @Slow("a JVM and a service start one after the other")
  void terminationKeepsEveryAnsweredWriteAndRead() throws Exception {
    Path data = RunningBourse.newFolder();
    AtomicInteger writes = new AtomicInteger();
    AtomicInteger reads = new AtomicInteger();
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      String token =
          new JsonObject(Files.readString(data.resolve("demo.json")))
              .getJsonObject("orgs")
              .getJsonObject("globex")
              .getJsonObject("tokens")
              .getString("orgwide");
      ApiClient caller = new ApiClient(child.baseUrl(), token);
      CompletableFuture<Void> load = CompletableFuture.runAsync(() -> load(caller, writes, reads));
      RunningBourse.until("some writes", () -> writes.get() > 20);
      assertEquals(TERMINATED, child.terminate());
      load.get();
    }
    try (RunningBourse after = RunningBourse.over(data)) {
      List<AuditRow> written = after.audit("globex", false);
      assertTrue(written.size() >= writes.get(), written.size() + " of " + writes);
      assertEquals(
          written.size(),
          new ClusterClient(after.as("globex", "orgwide"), "globex", "globex-main").version());
      int recorded = after.audit("globex", true).size();
      assertTrue(recorded >= reads.get(), recorded + " of " + reads);
    }
  }

  private static void load(ApiClient caller, AtomicInteger writes, AtomicInteger reads) {
    try {
      while (true) {
        HttpAnswer read = caller.exchange("GET", "/api/vm/capacity", null);
        if (read.status() == 200) {
          reads.incrementAndGet();
          JsonObject order =
              new JsonObject()
                  .put("max_gpus", 0)
                  .put("max_price_per_gpu_hour", 2)
                  .put("expected_version", read.json().getLong("version"));
          HttpAnswer write =
              caller.exchange(
                  "PUT", "/api/vm/capacity", order.encode(), "Content-Type", "application/json");
          assertEquals(200, write.status());
          writes.incrementAndGet();
        }
      }
    } catch (IOException gone) {
      // Expected.
    }
  }

  @Test
  void aRequestUnderWayIsFinishedAndANewOneIsNotTaken() throws Exception {
    try (RunningBourse bourse = RunningBourse.demo()) {
      URI address = URI.create(bourse.service().baseUrl());
      byte[] body =
          "{\"max_gpus\":0,\"max_price_per_gpu_hour\":2,\"expected_version\":0}"
              .getBytes(StandardCharsets.US_ASCII);
      try (Socket socket = new Socket(address.getHost(), address.getPort())) {
        OutputStream out = socket.getOutputStream();
        String head =
            "PUT /api/vm/capacity HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Expect: 100-continue\r\nAuthorization: Bearer "
                + bourse.secret("globex", "orgwide")
                + "\r\nContent-Length: "
                + body.length
                + "\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        byte[] continued = socket.getInputStream().readNBytes(25);
        assertEquals(
            "HTTP/1.1 100 Continue\r\n\r\n", new String(continued, StandardCharsets.US_ASCII));
        CompletableFuture<Void> stopped = CompletableFuture.runAsync(bourse::stop);
        RunningBourse.until("new connections are refused", () -> isRefused(address));
        out.write(body);
        out.flush();
        String answer =
            new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
        assertTrue(answer.contains("\"version\":1"), answer);
        stopped.get();
      }
    }
  }

  @Test
  @Slow("a JVM with the flags of the launcher starts")
  void clientsThatPostThroughAStopAreAnsweredOrToldBeforeTheySend() throws Exception {
    Path data = RunningBourse.newFolder();
    Path log = data.resolve("log");
    List<String> settings = new ArrayList<>(SETTINGS);
    settings.add("drain-delay=500ms");
    ExecutorService clients = Executors.newFixedThreadPool(POSTING);
    AtomicInteger answered = new AtomicInteger();
    int begun;
    try (ChildBourse child = ChildBourse.asLaunched(data, settings, log)) {
      String token =
          new JsonObject(Files.readString(data.resolve("demo.json")))
              .getJsonObject("orgs")
              .getJsonObject("globex")
              .getJsonObject("tokens")
              .getString("orgwide");
      List<Future<?>> loads = new ArrayList<>();
      for (int i = 0; i < POSTING; i++) {
        loads.add(clients.submit(() -> post(URI.create(child.baseUrl()), token, answered)));
      }
      RunningBourse.until("some answers", () -> answered.get() > 50);
      begun = Files.readString(log).length();
      assertEquals(TERMINATED, child.terminate());
      for (Future<?> load : loads) {
        load.get(60, TimeUnit.SECONDS);
      }
    } finally {
      clients.shutdownNow();
    }
    String logged =
        Files.readString(log)
            .substring(begun)
            .lines()
            // A busy machine may delay a thread.
            .filter(line -> !line.contains("BlockedThreadChecker"))
            .collect(Collectors.joining("\n"));
    assertFalse(logged.matches("(?s).*\\b(WARN|ERROR)\\b.*"), logged);
    TestStore.drop(data);
    TestStore.delete(data);
  }

  private static final int POSTING = 8;

  /** Posts on one connection until an answer announces its end. */
  private static @Nullable Void post(URI address, String token, AtomicInteger answered)
      throws IOException {
    byte[] body =
        ("{\"name\":\"k\",\"public_key\":\"" + RunningBourse.keyLine() + "\"}")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] head =
        ("POST /api/vm/orgs/globex/ssh-keys HTTP/1.1\r\nHost: x\r\nContent-Type:"
                + " application/json\r\nAuthorization: Bearer "
                + token
                + "\r\nContent-Length: "
                + body.length
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    try (Socket socket = new Socket(address.getHost(), address.getPort())) {
      socket.setSoTimeout(60_000);
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      while (true) {
        OutputStream out = socket.getOutputStream();
        out.write(head);
        out.write(body);
        out.flush();
        String status = in.readLine();
        assertTrue(status != null && status.startsWith("HTTP/1.1 20"), status);
        boolean isLast = false;
        int length = 0;
        for (String line = String.valueOf(in.readLine());
            !line.isEmpty();
            line = String.valueOf(in.readLine())) {
          String header = line.toLowerCase(Locale.ROOT);
          isLast |= header.equals("connection: close");
          if (header.startsWith("content-length: ")) {
            length = Integer.parseInt(header.substring("content-length: ".length()));
          }
        }
        for (int i = 0; i < length; i++) {
          assertTrue(in.read() >= 0, "an answer is cut short");
        }
        answered.incrementAndGet();
        if (isLast) {
          assertEquals(-1, in.read(), "nothing follows the last answer");
          return null;
        }
      }
    }
  }

  private static boolean isRefused(URI address) {
    try (Socket probe = new Socket(address.getHost(), address.getPort())) {
      return !probe.isConnected();
    } catch (IOException refused) {
      return true;
    }
  }
}
