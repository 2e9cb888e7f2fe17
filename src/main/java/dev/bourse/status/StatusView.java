package dev.bourse.status;

import dev.bourse.billing.Month;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.market.LeaseStore;
import dev.bourse.market.MarketStatus;
import dev.bourse.market.NodeView;
import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The site's status as operators see it. */
public final class StatusView {
  private final StatusService.ServingProcess process;
  private final long schema;
  private final long processes;
  private final MarketStatus.Standing standing;
  private final Revenue revenue;
  private final Held held;
  private final Queues queues;
  private final StatusService.@Nullable Disk disk;

  /** The usage posted for a month, of all organizations. */
  record Revenue(Month month, long micros) {}

  /** Organizations on hold: counts by stage, and those held longest. */
  record Held(
      List<StatusStore.HeldCount> counts, List<StatusStore.HeldOrg> longest, long byOperators) {

    private long orgs(String stage) {
      return counts.stream()
          .filter(count -> count.enforced() && count.stage().equals(stage))
          .mapToLong(StatusStore.HeldCount::orgs)
          .sum();
    }

    private long notActedUpon() {
      return counts.stream()
          .filter(count -> !count.enforced())
          .mapToLong(StatusStore.HeldCount::orgs)
          .sum();
    }
  }

  /** The queues of pending work. */
  record Queues(
      StatusStore.Queue reviews,
      StatusStore.Queue uploads,
      StatusStore.Queue mails,
      StatusStore.Queue deliveries) {}

  StatusView(
      StatusService.ServingProcess process,
      long schema,
      long processes,
      MarketStatus.Standing standing,
      Revenue revenue,
      Held held,
      Queues queues,
      StatusService.@Nullable Disk disk) {
    this.process = process;
    this.schema = schema;
    this.processes = processes;
    this.standing = standing;
    this.revenue = revenue;
    this.held = held;
    this.queues = queues;
    this.disk = disk;
  }

  /** Returns the answer of the operator contract, without the clocks. */
  public JsonObject toJson() {
    JsonArray pools = new JsonArray();
    standing.pools().forEach(pool -> pools.add(pool(pool)));
    JsonArray nodes = new JsonArray();
    standing.longest().forEach(node -> nodes.add(quarantined(node)));
    return new JsonObject()
        .put("as_of", Times.rfc3339(standing.atMillis()))
        .put("version", process.version())
        .put("schema", schema)
        .put("process", process.id())
        .put("processes", processes)
        .put("pools", pools)
        .put("pools_left_off", standing.poolsLeftOff())
        .put("month", revenue.month().toString())
        .put("month_revenue_micros", revenue.micros())
        .put("quarantined_nodes", standing.quarantined())
        .put("quarantined_longest", nodes)
        .put("holds", holds())
        .put("held_longest", heldLongest())
        .put("reviews", queue(queues.reviews()))
        .put("uploads", queue(queues.uploads()))
        .put("mails", queue(queues.mails()))
        .put("webhook_deliveries", queue(queues.deliveries()))
        .put(
            "disk",
            disk == null
                ? null
                : new JsonObject()
                    .put("free_bytes", disk.freeBytes())
                    .put("total_bytes", disk.totalBytes()));
  }

  private JsonObject pool(MarketStatus.PoolStatus status) {
    Pool pool = status.pool();
    Pool.Pause pause = pool.pause();
    Quote quote = status.quote().filter(told -> told.tickAtMillis() > 0).orElse(null);
    LeaseStore.Holder holder = status.holder().orElse(null);
    return new JsonObject()
        .put("pool", pool.name())
        .put("site", pool.site())
        .put("paused_since", pause == null ? null : Times.rfc3339(pause.sinceMillis()))
        .put("pause_reason", pause == null ? null : pause.reason())
        .put("gpus_per_node", pool.gpusPerNode())
        .put("nodes", nodes(status))
        .put("unhealthy_nodes", status.unhealthy())
        .put("demand_nodes", quote == null ? null : quote.demand().nodes())
        .put(
            "clearing_price_per_gpu_hour",
            Price.toUsdOrNull(quote == null ? null : quote.clearingCents()))
        .put(
            "admission_price_per_gpu_hour",
            Price.toUsdOrNull(quote == null ? null : quote.admissionCents()))
        .put("revenue_micros_per_hour", status.revenueMicrosPerHour())
        .put("tick_at", quote == null ? null : Times.rfc3339(quote.tickAtMillis()))
        .put("tick_overdue_ms", status.overdueMillis(standing.atMillis()))
        .put("lease", holder == null ? null : lease(holder));
  }

  private static JsonObject nodes(MarketStatus.PoolStatus status) {
    JsonObject counts = new JsonObject().put("all", status.all());
    for (NodeView.State state : NodeView.State.values()) {
      if (state != NodeView.State.RETIRED) {
        counts.put(state.name().toLowerCase(Locale.ROOT), status.in(state));
      }
    }
    return counts;
  }

  private static JsonObject lease(LeaseStore.Holder holder) {
    return new JsonObject()
        .put("process", holder.process())
        .put("epoch", holder.epoch())
        .put("since", Times.rfc3339OrNull(holder.sinceMillis()));
  }

  /** Selects the fields of a node's list entry on which an operator bases decisions. */
  private static JsonObject quarantined(NodeView view) {
    JsonObject node = view.toJson();
    JsonObject told = new JsonObject();
    for (String field :
        List.of("node_id", "pool", "quarantined_since", "quarantine_reason", "last_error")) {
      told.put(field, node.getValue(field));
    }
    return told;
  }

  private JsonObject holds() {
    return new JsonObject()
        .put("grace", held.orgs("GRACE"))
        .put("notice", held.orgs("NOTICE"))
        .put("enforce", held.orgs("ENFORCE"))
        .put("not_acted_upon", held.notActedUpon())
        .put("by_operators", held.byOperators());
  }

  private JsonArray heldLongest() {
    JsonArray orgs = new JsonArray();
    for (StatusStore.HeldOrg org : held.longest()) {
      orgs.add(
          new JsonObject()
              .put("org_id", org.orgId())
              .put("stage", org.stage().toLowerCase(Locale.ROOT))
              .put("reason", org.reason())
              .put("since", Times.rfc3339(org.sinceMillis()))
              .put("enforced", org.enforced()));
    }
    return orgs;
  }

  private static JsonObject queue(StatusStore.Queue queue) {
    return new JsonObject()
        .put("waiting", queue.waiting())
        .put("oldest_at", Times.rfc3339OrNull(queue.oldestMillis()));
  }
}
