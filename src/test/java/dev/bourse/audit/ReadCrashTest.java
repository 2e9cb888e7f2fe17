package dev.bourse.audit;

import static dev.bourse.testing.RunningBourse.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * A process that is killed while it records reads. Its start takes most of the time: nothing but a
 * process of its own can be killed.
 */
@EachEngine
class ReadCrashTest {
  private static final int READERS = 8;

  private static final List<String> SETTINGS =
      List.of(
          "audit.seal-interval=50ms", "limits.requests-per-minute=0", "limits.edge-per-minute=0");

  private static final String READ = "/api/vm/capacity?cluster=acme-train";

  private final AtomicInteger answered = new AtomicInteger();

  /** What the pages had shown before the crash, oldest first. */
  private List<JsonObject> shown = List.of();

  @Test
  void whatAPageHasShownStaysAndNoReadIsRecordedTwice() throws Exception {
    Path data = RunningBourse.newFolder();
    crashUnderLoad(data);
    try (RunningBourse bourse = RunningBourse.over(data, SETTINGS.toArray(String[]::new))) {
      ApiClient client = bourse.as("acme", "orgwide");
      int recorded = reads(client).size();
      assertTrue(recorded <= answered.get() + READERS, "none twice");
      for (int i = 0; i < READERS; i++) {
        client.get(READ).ok();
      }
      until("more are recorded", () -> reads(client).size() == recorded + READERS);
      List<JsonObject> stored = reads(client);
      assertEquals(shown, stored.subList(0, shown.size()), "nothing is lost, changed or between");
      List<Long> ids = stored.stream().map(entry -> entry.getLong("id")).toList();
      assertEquals(ids.stream().sorted().distinct().toList(), ids);
      assertTrue(
          await(
                  bourse
                      .database()
                      .read(
                          SegmentReads.SELECT + "WHERE org_id = ?",
                          List.of("acme"),
                          SegmentReads::entries))
              .stream()
              .anyMatch(segment -> !segment.isEmpty()),
          "segments were stored");
      SealService seals = new SealService(bourse.vertx(), bourse.database());
      assertNull(await(seals.verifySeals(new Chain("acme", true), 0)).fault());
    }
  }

  private void crashUnderLoad(Path data) throws Exception {
    ExecutorService readers = Executors.newFixedThreadPool(READERS);
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      String token =
          new JsonObject(Files.readString(data.resolve("demo.json")))
              .getJsonObject("orgs")
              .getJsonObject("acme")
              .getJsonObject("tokens")
              .getString("orgwide");
      ApiClient client = new ApiClient(child.baseUrl(), token);
      List<Future<?>> loads = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        loads.add(readers.submit(() -> load(client)));
      }
      until("reads are recorded", () -> reads(client).size() >= 300);
      shown = reads(client);
      child.kill();
      for (Future<?> load : loads) {
        load.get(60, TimeUnit.SECONDS);
      }
    } finally {
      readers.shutdownNow();
    }
  }

  private void load(ApiClient client) {
    try {
      while (true) {
        client.exchange("GET", READ, null).ok();
        answered.incrementAndGet();
      }
    } catch (IOException killed) {
      // As it should be.
    }
  }

  /** The trail's reads, oldest first. */
  private static List<JsonObject> reads(ApiClient client) {
    List<JsonObject> all = new ArrayList<>();
    String before = "";
    while (true) {
      JsonObject page = client.get("/api/org/activity?reads=1&limit=500" + before).ok();
      page.getJsonArray("entries").forEach(entry -> all.add(0, (JsonObject) entry));
      if (!page.getBoolean("more")) {
        return all.stream()
            .filter(entry -> Objects.equals(entry.getString("action"), "vm_capacity_get"))
            .toList();
      }
      before = "&before=" + all.get(0).getLong("id");
    }
  }
}
