package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.audit.AuditRow;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Of several writers of the same version, one succeeds. */
@OneEngine("ReplicasTest races the writers of two services on PostgreSQL")
class RacingWritersTest {
  private static final int WRITES = 200;
  private static final int WRITERS = 2;

  @Test
  void oneWriterWinsEachVersionAndEachWinLeavesOneRow() throws Exception {
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    try (RunningBourse bourse = RunningBourse.withMarkets(1)) {
      ClusterClient client = bourse.market().redA();
      client.addKey();
      CyclicBarrier start = new CyclicBarrier(WRITERS);
      List<Future<List<Long>>> races = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int writer = i;
        races.add(writers.submit(() -> race(client, writer, start)));
      }
      List<Long> won = new ArrayList<>();
      for (Future<List<Long>> race : races) {
        won.addAll(race.get(5, TimeUnit.MINUTES));
      }
      List<Long> versions = LongStream.rangeClosed(1, WRITES).boxed().toList();
      assertEquals(versions, won.stream().sorted().toList());
      assertEquals(WRITES, client.version());
      assertEquals(
          versions,
          bourse.audit(client.orgId(), false).stream()
              .filter(row -> row.action().equals("vm_capacity_put"))
              .map(AuditRow::detail)
              .map(detail -> Long.valueOf(detail.replaceAll(".*version=", "")))
              .toList());
      assertEquals(WRITES, requests(client));
    } finally {
      writers.shutdownNow();
    }
  }

  /** Sends one write for each version; returns the versions it created. */
  private static List<Long> race(ClusterClient client, int writer, CyclicBarrier start)
      throws Exception {
    List<Long> won = new ArrayList<>();
    for (int version = 0; version < WRITES; version++) {
      JsonObject order =
          new JsonObject()
              .put("cluster", client.cluster())
              .put("max_gpus", version % 3 * ClusterClient.NODE)
              .put("max_price_per_gpu_hour", 2 + writer)
              .put("expected_version", version);
      start.await(60, TimeUnit.SECONDS);
      HttpAnswer answer = client.put(order);
      if (answer.status() == 200) {
        assertEquals(2.0 + writer, price(answer.json()));
        won.add(answer.json().getLong("version"));
      } else {
        assertEquals("version-mismatch", answer.json().getString("error"));
      }
    }
    return won;
  }

  private static double price(JsonObject state) {
    return state.getJsonObject("declared").getDouble("max_price_per_gpu_hour");
  }

  private static int requests(ClusterClient client) {
    int requests = 0;
    for (int page = 0; page < 10; page++) {
      requests +=
          client
              .caller()
              .get("/api/vm/activity?who=user&cluster=" + client.cluster() + "&page=" + page)
              .ok()
              .getJsonArray("entries")
              .size();
    }
    return requests;
  }
}
