package dev.bourse.billing;

import dev.bourse.billing.Usage.Held;
import dev.bourse.billing.Usage.Span;
import dev.bourse.billing.Usage.Timeline;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.store.Database;
import dev.bourse.store.InList;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Credits for the time in which nodes were failed. They follow from the stored changes of health
 * and from the change points of the bill, so that anybody with both computes the same amounts.
 *
 * <p>A credit is the amount billed for the node alone in that time, rounded down. Lines of a bill
 * are sums that are rounded down once, so the credits of an hour never exceed its lines.
 */
final class HealthCredits {
  /** Characters of a reason in a memo; one reason may be a line of an operator's own check. */
  private static final int MAX_REASON_CHARS = 200;

  /**
   * The most time credited per allocation. Its holder is notified of the fault and can swap the
   * node, and would otherwise use a partly working node for free for weeks. It is a sum, because a
   * tenant can interrupt a fault by keeping the machine from answering.
   */
  static final long MOST_MILLIS = 24 * Usage.HOUR_MILLIS;

  private final Database database;

  HealthCredits(Database database) {
    this.database = database;
  }

  /**
   * A change of a node's health.
   *
   * @param isCredited true if the time after it is credited
   * @param reason the first reason; empty if there is none
   */
  record Change(long atMillis, boolean isCredited, String reason) {}

  /**
   * A node that failed.
   *
   * @param changes in the order in which they were stored
   */
  record Failed(String publicIp, List<Change> changes) {
    Failed {
      changes = List.copyOf(changes);
    }

    /** A stretch of time that is credited. */
    record Stretch(long fromMillis, long toMillis, String reason) {}

    /**
     * Returns the credited stretches within a span of time, in order. A change never counts before
     * the one stored before it: a clock that steps back credits no time twice. All stretches of an
     * allocation together are no longer than {@link #MOST_MILLIS}.
     */
    List<Stretch> stretches(long fromMillis, long toMillis) {
      List<Stretch> stretches = new ArrayList<>();
      long left = MOST_MILLIS;
      long at = Long.MIN_VALUE;
      for (int i = 0; i < changes.size(); i++) {
        Change change = changes.get(i);
        at = Math.max(at, change.atMillis());
        long next = i + 1 == changes.size() ? toMillis : changes.get(i + 1).atMillis();
        long end = Math.min(toMillis, Math.max(at, next));
        if (change.isCredited() && at < end) {
          end = Math.min(end, at + left);
          left -= end - at;
          if (Math.max(at, fromMillis) < end) {
            stretches.add(new Stretch(Math.max(at, fromMillis), end, change.reason()));
          }
        }
      }
      return stretches;
    }
  }

  /**
   * A credit for one node and UTC hour.
   *
   * @param stretches the credited time
   * @param centGpuMillis the amount billed for that time, rate x GPU-milliseconds
   */
  record Credit(
      String cluster,
      String allocationId,
      String publicIp,
      long hourMillis,
      List<Failed.Stretch> stretches,
      long centGpuMillis) {

    /** Returns the amount in micro-dollars, rounded down. */
    long amountMicros() {
      return centGpuMillis / Price.CENT_GPU_MILLIS_PER_MICRO;
    }

    /** Returns the node, the time and the reason, for people. */
    String memo() {
      Failed.Stretch first = stretches.get(0);
      long millis = stretches.stream().mapToLong(s -> s.toMillis() - s.fromMillis()).sum();
      String reason = first.reason();
      return "node %s of %s failed for %d ms between %s and %s: %s"
          .formatted(
              publicIp,
              cluster,
              millis,
              Times.rfc3339(first.fromMillis()),
              Times.rfc3339(stretches.get(stretches.size() - 1).toMillis()),
              reason.length() > MAX_REASON_CHARS
                  ? reason.substring(0, MAX_REASON_CHARS) + '…'
                  : reason);
    }
  }

  /**
   * Returns the credits of a cluster for a UTC hour; nodes without billing have none.
   *
   * @param failed the nodes that failed, by allocation
   */
  static List<Credit> of(Timeline timeline, Map<String, Failed> failed, long hourMillis) {
    List<Credit> credits = new ArrayList<>();
    for (Held held : timeline.held()) {
      Failed node = failed.get(held.allocationId());
      if (node == null) {
        continue;
      }
      Timeline alone =
          new Timeline(timeline.cluster(), List.of(held), timeline.prices(), timeline.ceilings());
      List<Failed.Stretch> credited = new ArrayList<>();
      long sum = 0;
      for (Failed.Stretch stretch : node.stretches(hourMillis, hourMillis + Usage.HOUR_MILLIS)) {
        for (Span span : Usage.spans(alone, stretch.fromMillis(), stretch.toMillis())) {
          credited.add(new Failed.Stretch(span.fromMillis(), span.toMillis(), stretch.reason()));
          sum = Math.addExact(sum, span.centGpuMillis());
        }
      }
      Credit credit =
          new Credit(
              timeline.cluster(),
              held.allocationId(),
              node.publicIp(),
              hourMillis,
              List.copyOf(credited),
              sum);
      if (credit.amountMicros() > 0) {
        credits.add(credit);
      }
    }
    return credits;
  }

  /**
   * Reads the nodes of organizations that failed before a moment and were held after another, by
   * allocation.
   *
   * @param orgs one at least, some hundred at most
   */
  Future<Map<String, Failed>> list(List<String> orgs, long fromMillis, long toMillis) {
    List<String> values = InList.of(orgs);
    List<Object> parameters = new ArrayList<>(values);
    parameters.add(toMillis);
    parameters.add(fromMillis);
    record Row(String allocationId, String publicIp, Change change) {}
    return database
        .read(
            """
            SELECT h.allocation_id, h.ts, h.credited, h.reasons, a.public_ip
            FROM allocation_health h JOIN allocation a ON a.allocation_id = h.allocation_id
            WHERE h.org_id IN %s AND h.ts < ? AND (a.reclaim_at IS NULL OR a.reclaim_at > ?)
            ORDER BY h.id\
            """
                .formatted(InList.marks(values)),
            parameters,
            row -> {
              String reasons = row.textOrNull("reasons");
              String publicIp = row.textOrNull("public_ip");
              return new Row(
                  row.text("allocation_id"),
                  publicIp == null ? "" : publicIp,
                  new Change(
                      row.integer("ts"),
                      row.truth("credited"),
                      reasons == null ? "" : reasons.lines().findFirst().orElse("")));
            })
        .map(
            rows -> {
              Map<String, List<Change>> changes = new HashMap<>();
              Map<String, String> addresses = new HashMap<>();
              for (Row row : rows) {
                changes
                    .computeIfAbsent(row.allocationId(), id -> new ArrayList<>())
                    .add(row.change());
                addresses.put(row.allocationId(), row.publicIp());
              }
              Map<String, Failed> failed = new HashMap<>();
              changes.forEach(
                  (id, of) -> failed.put(id, new Failed(addresses.getOrDefault(id, ""), of)));
              return failed;
            });
  }
}
