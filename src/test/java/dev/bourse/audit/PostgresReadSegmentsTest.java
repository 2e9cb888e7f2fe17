package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.store.Database;
import dev.bourse.testing.Polls;
import dev.bourse.testing.SharedPostgres;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Segments on a server that several processes share. */
class PostgresReadSegmentsTest extends ReadSegmentsTest {
  private String url = "";

  @Override
  Future<? extends Database> open() throws Exception {
    url = SharedPostgres.server().newStore();
    return openAgain();
  }

  private Future<? extends Database> openAgain() {
    return SharedPostgres.openStore(vertx, url, clock);
  }

  @Override
  void skipTo(long id) throws Exception {
    super.skipTo(id);
    run("ALTER SEQUENCE audit_id_seq RESTART WITH " + (id + 1));
  }

  /**
   * Takes seconds: two stores race for ids with twenty thousand reads, and the trail is read by
   * pages.
   */
  @Test
  void segmentsOfProcessesThatWriteAtOnceMakeUpOneTrail() throws Exception {
    Database others = await(openAgain());
    AtomicInteger flushed = new AtomicInteger();
    Polls.until(
        "they took ids at the same time",
        () -> {
          List<Future<Void>> under = new ArrayList<>();
          for (int i = flushed.getAndAdd(150); under.size() < 300; i++) {
            under.add(flush(database, reads("one", i, 100)));
            under.add(flush(others, reads("two", i, 30)));
          }
          return isSkipped(under);
        });
    await(others.close());
    int count = flushed.get() * 130;

    List<TrailEntry> trail = pages(Optional.empty(), 500);
    List<TrailEntry> byOne = pages(Optional.empty(), 97);
    assertEquals(trail, byOne);
    assertEquals(count, trail.stream().map(TrailEntry::id).distinct().count());
    assertEquals(count, trail.stream().map(TrailEntry::detail).distinct().count());
    assertEquals(
        trail, trail.stream().sorted(Comparator.comparingLong(TrailEntry::id).reversed()).toList());
    assertEquals(
        trail.stream().filter(entry -> entry.actor().equals("token:two")).toList(),
        pages(Optional.of("token:two"), 100));
    seal();
    assertEquals(List.of(), findings("acme", true));
    assertEquals(10_000, verify("acme", true, 0).rows());
  }

  /** Returns whether other ids lie between those of a segment, after all is stored. */
  private boolean isSkipped(List<Future<Void>> under) {
    try {
      await(Future.all(under));
      return integers("SELECT COUNT(*) FROM audit_read_segment WHERE skips <> ''").get(0) > 0;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private List<AuditRow> reads(String process, int batch, int count) {
    List<AuditRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(
          new AuditRow(
              clock.millis(),
              "acme",
              "token:" + process,
              "vm_capacity_get",
              "c",
              process + ' ' + (batch * 1_000 + i)));
    }
    return rows;
  }
}
