package dev.bourse.app;

import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.PostgresServer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestMarket;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A database server that goes away under load and comes back takes nothing with it. */
@OneEngine("only a server can go away while the service stays")
class PostgresRestartTest {
  private static final int RESTARTS = 3;

  /** What the server does by itself, and what servers of tests usually leave out. */
  private static final Map<String, String> DURABLE =
      Map.of("fsync", "on", "synchronous_commit", "on", "full_page_writes", "on");

  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger reads = new AtomicInteger();

  /** Audit details of acknowledged writes. */
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();

  @Test
  void writesAreRefusedReadsGoOnAndEveryAcknowledgedWriteIsThereAfterwards(@TempDir Path folder)
      throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(3);
    try (PostgresServer server = PostgresServer.start(folder.resolve("pg"), DURABLE);
        RunningBourse bourse =
            RunningBourse.withMarkets(
                1, "store.url=" + server.newDatabase(), "store.query-timeout=2s")) {
      TestMarket market = bourse.market();
      List<ClusterClient> desks = List.of(market.redA(), market.blueA());
      desks.forEach(client -> client.hold(1, 2));
      List<Future<?>> loads = new ArrayList<>();
      desks.forEach(client -> loads.add(clients.submit(() -> write(client))));
      loads.add(clients.submit(() -> read(market.redB())));
      for (int restart = 0; restart < RESTARTS; restart++) {
        untilMore("writes are accepted", acknowledged::size, 20);
        server.stop();
        untilMore("writes are refused", refused::get, 5);
        untilMore("reads go on", reads::get, 50);
        server.startAgain();
      }
      untilMore("writes are accepted", acknowledged::size, 20);
      isOver.set(true);
      for (Future<?> load : loads) {
        load.get(60, TimeUnit.SECONDS);
      }
      for (ClusterClient client : desks) {
        assertEverythingAcknowledgedIsThere(bourse, client);
        client.declare(2, 9);
        client.untilHeld(2);
      }
    } finally {
      clients.shutdownNow();
    }
  }

  private interface Count {
    int now();
  }

  private static void untilMore(String what, Count count, int more) {
    int before = count.now();
    until(what, () -> count.now() >= before + more);
  }

  private void write(ClusterClient client) {
    for (int i = 0; !isOver.get(); i++) {
      int price = 2 + i % 5;
      JsonObject order = client.order(1, price);
      HttpAnswer answer = client.put(order);
      if (answer.status() == 200) {
        acknowledged.add(
            client.cluster()
                + " max_gpus=8 max_price_per_gpu_hour="
                + price
                + ".00 version="
                + answer.json().getLong("version"));
      } else if (answer.status() == ErrorCode.OVERLOADED.status()) {
        assertTrue(answer.refused(ErrorCode.OVERLOADED).getLong("retry_after_s") >= 1);
        refused.incrementAndGet();
      } else {
        // A write whose answer was lost may have been stored.
        answer.refused(ErrorCode.VERSION_MISMATCH);
      }
    }
  }

  private void read(ClusterClient client) {
    while (!isOver.get()) {
      client.state();
      reads.incrementAndGet();
    }
  }

  private void assertEverythingAcknowledgedIsThere(RunningBourse bourse, ClusterClient client) {
    List<String> stored =
        bourse.audit(client.orgId(), false).stream()
            .filter(row -> row.action().equals("vm_capacity_put"))
            .map(AuditRow::detail)
            .toList();
    Set<String> lost = new HashSet<>(acknowledged);
    lost.removeIf(write -> !write.startsWith(client.cluster() + " "));
    stored.forEach(detail -> lost.remove(client.cluster() + " " + detail));
    assertEquals(Set.of(), lost);
    until("one row for each version", () -> client.version() == stored.size());
  }
}
