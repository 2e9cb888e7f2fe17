package dev.bourse.client.capacity;

import dev.bourse.core.Text;
import dev.bourse.remote.Dollars;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Formats capacity as text. Pure. */
final class StatusText {
  /** Clears a terminal and moves to its first line. */
  static final String CLEAR = "\u001b[H\u001b[2J";

  private StatusText() {}

  /**
   * A table of clusters and what they cost together, a table of their nodes, and remarks.
   *
   * @param answers the states of clusters, as their surfaces answer
   * @param outlooks the outlooks of some clusters, by name
   */
  static String of(List<JsonObject> answers, Map<String, JsonObject> outlooks) {
    List<JsonObject> states = answers.stream().map(K8sCapacity::of).toList();
    List<JsonObject> clusters = new ArrayList<>();
    List<JsonObject> nodes = new ArrayList<>();
    List<String> remarks = new ArrayList<>();
    for (JsonObject state : states) {
      clusters.add(cluster(state));
      for (NamedNode node : NamedNode.all(state)) {
        nodes.add(node(node));
      }
      remarks(state, remarks);
      JsonObject outlook = outlooks.get(state.getString("cluster"));
      if (outlook != null) {
        outlookRemarks(state, outlook, remarks);
      }
    }
    return Table.rows(clusters)
        + total(clusters)
        + (nodes.isEmpty() ? "" : '\n' + Table.rows(nodes))
        + (remarks.isEmpty() ? "" : '\n' + String.join("\n", remarks) + '\n');
  }

  /** The cost of several clusters together; nothing for one, whose row shows it. */
  private static String total(List<JsonObject> clusters) {
    if (clusters.size() < 2) {
      return "";
    }
    BigDecimal usd =
        clusters.stream()
            .map(cluster -> cluster.getString("usd_an_hour"))
            .filter(Objects::nonNull)
            .map(BigDecimal::new)
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    return "all clusters: $%s an hour%n".formatted(Dollars.text(usd));
  }

  /** The command that raises a cluster's ceiling. */
  private static String raising(JsonObject state, Object price) {
    String name = Text.plain(state.getString("cluster"));
    return K8sCapacity.isK8s(state)
        ? "bourse k8s set-bid --cluster %s --limit-price-per-gpu-hour %s --expected-version %d"
            .formatted(name, price, state.getLong("version"))
        : "bourse up -c %s --max-price %s".formatted(name, price);
  }

  private static void outlookRemarks(JsonObject state, JsonObject outlook, List<String> remarks) {
    String name = Text.plain(outlook.getString("cluster"));
    List<JsonObject> taken =
        outlook.getJsonArray("losses").stream()
            .map(JsonObject.class::cast)
            .filter(loss -> "market".equals(loss.getString("by")))
            .toList();
    Object keep = outlook.getValue("keep_price_per_gpu_hour");
    if (!taken.isEmpty()) {
      // The first to go comes first.
      Object at = taken.get(0).getValue("reclaim_at");
      remarks.add(
          "%s: at today's bids it loses %s%s; %s"
              .formatted(
                  name,
                  taken.size() == 1 ? "1 node" : taken.size() + " nodes",
                  at == null
                      ? " once active"
                      : (taken.size() == 1 ? " at " : ", the first at ") + Table.cell(at),
                  keep == null
                      ? "no ceiling keeps all nodes"
                      : "to keep all nodes: " + raising(state, keep)));
    }
    Object pendingPrice = outlook.getValue("pending_price_per_gpu_hour");
    // A second ceiling below the first would be read as advice to lower it again.
    if (pendingPrice != null
        && (keep == null || decimal(keep).compareTo(decimal(pendingPrice)) < 0)) {
      remarks.add(
          "%s: to win all pending nodes at the next tick: %s"
              .formatted(name, raising(state, pendingPrice)));
    }
  }

  private static @Nullable String money(@Nullable Object amount) {
    return amount == null ? null : Dollars.text(decimal(amount));
  }

  private static BigDecimal decimal(Object number) {
    return new BigDecimal(number.toString());
  }

  /** The node of an entry or an event: its address or its name. */
  private static String nodeOf(JsonObject about) {
    return Table.cell(about.getValue("public_ip", about.getValue("name")));
  }

  private static JsonObject cluster(JsonObject state) {
    JsonObject declared = state.getJsonObject("declared");
    int perNode = state.getInteger("gpus_per_node");
    long active =
        nodes(state).stream().filter(node -> "active".equals(node.getString("state"))).count();
    BigDecimal price = price(state);
    return new JsonObject()
        .put("cluster", state.getString("cluster"))
        .put("gpus", declared == null ? 0 : declared.getInteger("max_gpus"))
        .put("active", active * perNode)
        .put("pending", state.getInteger("pending") * perNode)
        .put(
            "max_price",
            declared == null ? null : money(declared.getValue("max_price_per_gpu_hour")))
        .put("price", money(price))
        .put(
            "usd_an_hour",
            price == null ? null : money(price.multiply(BigDecimal.valueOf(active * perNode))))
        .put("until", declared == null ? null : declared.getString("until"))
        .put("max_spend", declared == null ? null : money(declared.getValue("max_spend_usd")))
        .put("min_gpus", declared == null ? null : declared.getValue("min_gpus"))
        .put("version", state.getLong("version"));
  }

  /** The present price of a GPU-hour: the clearing price, but at most the ceiling. */
  private static @Nullable BigDecimal price(JsonObject state) {
    JsonObject declared = state.getJsonObject("declared");
    Object clearing = state.getJsonObject("pool").getValue("clearing_price_per_gpu_hour");
    if (declared == null || clearing == null) {
      return null;
    }
    return new BigDecimal(clearing.toString())
        .min(new BigDecimal(declared.getValue("max_price_per_gpu_hour").toString()));
  }

  private static List<JsonObject> nodes(JsonObject state) {
    return state.getJsonArray("allocations").stream().map(JsonObject.class::cast).toList();
  }

  private static JsonObject node(NamedNode node) {
    JsonObject facts = node.facts();
    String health = facts.getJsonObject("health", new JsonObject()).getString("state");
    return new JsonObject()
        .put("node", node.name())
        .put("address", facts.getString("public_ip"))
        .put(
            "state",
            Boolean.TRUE.equals(facts.getBoolean("swap")) ? "swapping" : facts.getString("state"))
        .put("health", "unknown".equals(health) ? null : health)
        .put("granted_at", facts.getString("granted_at"))
        .put("protected_until", facts.getString("protected_until"))
        .put("reclaim_at", facts.getString("reclaim_at"));
  }

  private static void remarks(JsonObject state, List<String> remarks) {
    String name = Text.plain(state.getString("cluster"));
    JsonObject declared = state.getJsonObject("declared");
    if (!state.getBoolean("writes_armed")) {
      remarks.add(name + ": capacity writes are switched off by the operators");
    }
    if (state.getJsonObject("billing_hold") != null) {
      remarks.add(
          name
              + ": a billing hold, stage "
              + Table.cell(state.getJsonObject("billing_hold").getValue("stage"))
              + "; see bourse billing balance");
    }
    if (declared != null && Boolean.TRUE.equals(declared.getBoolean("bid_too_low"))) {
      remarks.add(name + ": the price is too low for the pending nodes; see bourse market feed");
    }
    if (declared != null && Boolean.TRUE.equals(declared.getBoolean("capacity_unavailable"))) {
      remarks.add(name + ": there is no capacity at any price; the market goes on trying");
    }
    boolean isSwapped = declared != null && Boolean.TRUE.equals(declared.getBoolean("auto_swap"));
    for (JsonObject node : nodes(state)) {
      JsonObject health = node.getJsonObject("health", new JsonObject());
      String condition = health.getString("state");
      if ("failed".equals(condition) || "degraded".equals(condition)) {
        remarks.add(
            "%s: %s is %s since %s: %s%s"
                .formatted(
                    name,
                    nodeOf(node),
                    condition,
                    Table.cell(health.getValue("since")),
                    Table.cell(
                        health.getJsonArray("reasons").stream()
                            .map(String::valueOf)
                            .collect(Collectors.joining("; "))),
                    isSwapped
                        ? ""
                        : K8sCapacity.isK8s(state)
                            ? "; to replace it: bourse k8s swap"
                            : "; to replace it: bourse nodes swap"));
      }
      if (node.getString("reclaim_at") != null) {
        remarks.add(
            "%s: %s will be taken back at %s (%s) unless it wins a seat before; a higher ceiling may keep it: %s"
                .formatted(
                    name,
                    nodeOf(node),
                    Table.cell(node.getValue("reclaim_at")),
                    Table.cell(node.getValue("reclaim_reason")),
                    K8sCapacity.isK8s(state)
                        ? raising(state, "USD")
                        : "bourse up --max-price USD"));
      }
    }
  }

  /** An event in a line, with its time. */
  static String line(ClusterEventStream.Event event, Instant now) {
    return now.truncatedTo(ChronoUnit.SECONDS) + "  " + describe(event);
  }

  /** An event in words. */
  static String describe(ClusterEventStream.Event event) {
    JsonObject data = event.data();
    String node = nodeOf(data);
    return switch (event.kind()) {
      case "capacity" ->
          "capacity          version %d, %d nodes held, %d pending"
              .formatted(
                  data.getLong("version"),
                  data.getJsonArray("allocations", new JsonArray()).size(),
                  data.getInteger("pending"));
      case "grant" -> "grant             " + node;
      case "notice" ->
          "notice            %s, until %s (%s)"
              .formatted(
                  node,
                  Table.cell(data.getValue("reclaim_at")),
                  Table.cell(data.getValue("reason")));
      case "notice-withdrawn" -> "notice-withdrawn  " + node;
      case "reclaim" ->
          "reclaim           %s (%s)".formatted(node, Table.cell(data.getValue("reason")));
      case "alert" -> "alert             " + Table.cell(data.getValue("detail"));
      case "warning" ->
          "warning           another organization bids at least %s, your ceiling is %s"
              .formatted(
                  Table.cell(data.getValue("rival_price_per_gpu_hour")),
                  Table.cell(data.getValue("max_price_per_gpu_hour")));
      default -> Text.plain(event.kind()) + "  " + Text.plain(data.encode());
    };
  }
}
