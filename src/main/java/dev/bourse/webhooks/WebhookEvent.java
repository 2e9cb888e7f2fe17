package dev.bourse.webhooks;

import dev.bourse.audit.TrailEntry;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.events.ActivityStore.StoredActivity;
import dev.bourse.events.NodeEvent;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An event that endpoints can receive.
 *
 * @param source the queue of the event: its cluster; empty for the organization's trail; {@link
 *     #STATEMENTS}
 * @param position its position in its source
 * @param data the fields of the event stream, the activity or the trail
 */
public record WebhookEvent(
    EventKind kind, String source, long position, long atMillis, JsonObject data) {
  /** Precedes the reasons in the detail of a trail row about a node's health. */
  private static final String REASONS = " reasons=";

  /** The identity of a node on the VM surface. */
  private static final String ADDRESS = "public_ip";

  /** The identity of a node on the Kubernetes surface. */
  private static final String NAME = "name";

  /** The limit of the contract. */
  private static final int MOST_REASONS = 20;

  /** The source of events that concern no cluster. */
  static final String ORGANIZATION = "";

  /** The source of statements; not a valid cluster name. */
  static final String STATEMENTS = "*statements";

  /**
   * Returns the event of an entry of a cluster's activity; empty if it has none.
   *
   * @param surface the kind of the cluster
   */
  public static Optional<WebhookEvent> of(StoredActivity entry, Cluster.Kind surface) {
    ClusterEvent event = entry.activity().event();
    if (event instanceof ClusterEvent.Declared declared) {
      return declared.lapse() == null
          ? Optional.empty()
          : Optional.of(
              of(
                  entry,
                  EventKind.LAPSE,
                  new JsonObject()
                      .put("reason", declared.releaseReason())
                      .put("max_gpus", declared.maxGpus())
                      .put("max_price_per_gpu_hour", Price.toUsd(declared.ceilingCents()))
                      .put("lapsed_at", Times.rfc3339(entry.atMillis()))));
    }
    if (event instanceof ClusterEvent.HoldPlaced hold) {
      return Optional.of(hold(entry, hold.stage().label(), hold.cause()));
    }
    if (event instanceof ClusterEvent.HoldLifted) {
      return Optional.of(hold(entry, "lifted", null));
    }
    return NodeEvent.of(entry, surface)
        .map(told -> of(entry, EventKind.of(told.name()), identified(told.data())));
  }

  /** Adds null for the identity that the node does not have on its surface. */
  private static JsonObject identified(JsonObject data) {
    if (data.containsKey(ADDRESS)) {
      return data.put(NAME, null);
    }
    return data.containsKey(NAME) ? data.put(ADDRESS, null) : data;
  }

  private static WebhookEvent hold(StoredActivity entry, String stage, @Nullable String cause) {
    return of(
        entry,
        EventKind.HOLD,
        new JsonObject()
            .put("stage", stage)
            .put("detail", cause)
            .put("since", Times.rfc3339(entry.atMillis())));
  }

  private static WebhookEvent of(StoredActivity entry, EventKind kind, JsonObject fields) {
    JsonObject data = new JsonObject().put("cluster", entry.cluster()).put("id", entry.id());
    return new WebhookEvent(
        kind, entry.cluster(), entry.id(), entry.atMillis(), data.mergeIn(fields));
  }

  /** Returns the event of a month's final statement. */
  static WebhookEvent statement(String orgId, Month month) {
    return new WebhookEvent(
        EventKind.STATEMENT_READY,
        STATEMENTS,
        month.number(),
        month.endMillis(),
        new JsonObject().put("org_id", orgId).put("month", month.toString()));
  }

  /** Returns the event of an entry of the organization's trail; empty if it has none. */
  public static Optional<WebhookEvent> of(TrailEntry entry) {
    return EventKind.ofAction(entry.action())
        .map(
            kind ->
                new WebhookEvent(
                    kind,
                    ORGANIZATION,
                    entry.id(),
                    entry.atMillis(),
                    kind == EventKind.HEALTH ? health(entry) : entry.toJson().toTree()));
  }

  private static JsonObject health(TrailEntry entry) {
    return new JsonObject()
        .put("cluster", entry.subject())
        .put("id", entry.id())
        .put(ADDRESS, word(entry.detail(), ADDRESS))
        .put(NAME, word(entry.detail(), NAME))
        .put(
            "slot",
            Optional.ofNullable(word(entry.detail(), "slot")).map(Integer::valueOf).orElse(null))
        .put("answers", !entry.action().equals("node_silent"))
        .put("health", word(entry.detail(), "health"))
        .put("reasons", new JsonArray(reasons(entry.detail())))
        .put("since", Times.rfc3339(entry.atMillis()));
  }

  private static List<String> reasons(String detail) {
    int start = detail.indexOf(REASONS);
    return start < 0
        ? List.of()
        : List.of(detail.substring(start + REASONS.length()).split("; ", MOST_REASONS));
  }

  /** Returns the value of a name in a detail; null if it is absent. */
  private static @Nullable String word(String detail, String name) {
    return Arrays.stream(detail.split(" ", -1))
        .filter(word -> word.startsWith(name + '=') && word.length() > name.length() + 1)
        .map(word -> word.substring(name.length() + 1))
        .findFirst()
        .orElse(null);
  }

  /** Returns the cluster of the event; empty for an event of the organization. */
  Optional<String> cluster() {
    return kind.isOfCluster() ? Optional.of(data.getString("cluster")) : Optional.empty();
  }

  /**
   * Returns the message id, which is the same for each attempt, each endpoint and each read of the
   * entry.
   */
  String messageId() {
    return switch (source) {
      case ORGANIZATION -> "msg_org_" + position;
      case STATEMENTS -> "msg_statement_%s_%s".formatted(data.getString("org_id"), position);
      default -> "msg_cluster_" + position;
    };
  }

  /** Returns the event as endpoints with the standard format receive it. */
  public String body() {
    return body(kind.label(), atMillis, data);
  }

  /** Returns the body that endpoints receive. */
  static String body(String type, long atMillis, JsonObject data) {
    return new JsonObject()
        .put("type", type)
        .put("timestamp", Times.rfc3339(atMillis))
        .put("data", data)
        .encode();
  }
}
