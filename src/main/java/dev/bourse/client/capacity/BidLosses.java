package dev.bourse.client.capacity;

import dev.bourse.command.OperationCommand;
import dev.bourse.command.Question;
import dev.bourse.core.Text;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The losses that a Kubernetes cluster's bid causes, from the cluster's state.
 *
 * @param clock of the user's machine
 */
public record BidLosses(Clock clock) implements OperationCommand.Losses {
  private static final String BID = "/api/k8s/bid";
  private static final String PRICE = "limit_price_per_gpu_hour";

  @Override
  public Question question(Service service, JsonObject body) throws RefusedException {
    JsonObject cluster;
    try {
      String named = body.getString("cluster");
      String name = named == null ? service.call("GET", BID, null).getString("cluster") : named;
      cluster = service.call("GET", "/api/k8s/clusters/" + Service.encoded(name), null);
    } catch (RefusedException refused) {
      return Question.unread(refused);
    }
    return question(cluster, body, clock.instant());
  }

  static Question question(JsonObject cluster, JsonObject body, Instant now) {
    JsonObject standing = cluster.getJsonObject("bid");
    int before = standing == null ? 0 : standing.getInteger("max_gpus");
    int gpus = body.getInteger("max_gpus", before);
    BigDecimal price = new BigDecimal(body.getValue(PRICE).toString());
    List<String> lines = new ArrayList<>();
    Set<String> losses = new TreeSet<>();
    lines.add(
        "%s: %d GPUs wanted, %d from now on at no more than %s a GPU-hour, at most %s an hour"
            .formatted(
                Text.plain(cluster.getString("cluster")),
                before,
                gpus,
                DeclaredChange.dollars(price),
                DeclaredChange.dollars(price.multiply(BigDecimal.valueOf(gpus)))));
    List<String> shielded = shielded(cluster, price, now);
    if (!shielded.isEmpty()) {
      lines.add(
          "ends the protection of nodes granted at a higher limit price: "
              + String.join(", ", shielded));
      shielded.forEach(node -> losses.add("unprotected " + node));
    }
    List<String> held =
        cluster.getJsonArray("planned_release").stream()
            .map(node -> Text.plain(String.valueOf(node)))
            .toList();
    int beyond = held.size() - gpus / Math.max(1, cluster.getInteger("gpus_per_node"));
    List<String> lost = held.subList(0, Math.max(0, Math.min(beyond, held.size())));
    if (!lost.isEmpty()) {
      lines.add(
          "loses %s and all data on %s: %s"
              .formatted(
                  DeclaredChange.count(lost.size(), "node"),
                  lost.size() == 1 ? "it" : "them",
                  String.join(", ", lost)));
      lost.forEach(node -> losses.add("lost " + node));
    }
    List<String> kept = held.subList(lost.size(), held.size());
    List<String> end = new TermsEnd(body, standing, BigDecimal.ZERO, now).lines(kept.size());
    if (!end.isEmpty()) {
      lines.addAll(end);
      kept.forEach(node -> losses.add("end " + node));
    }
    return new Question(lines, losses);
  }

  /** The nodes whose protection ends with a lower limit price. */
  private static List<String> shielded(JsonObject cluster, BigDecimal price, Instant now) {
    JsonObject standing = cluster.getJsonObject("bid");
    if (standing == null
        || price.compareTo(new BigDecimal(standing.getValue(PRICE).toString())) >= 0) {
      return List.of();
    }
    return cluster.getJsonArray("nodes").stream()
        .map(JsonObject.class::cast)
        .filter(node -> isProtected(node, now))
        .map(node -> Text.plain(node.getString("name")))
        .toList();
  }

  private static boolean isProtected(JsonObject node, Instant now) {
    String end = node.getString("protected_until");
    return end != null && Instant.parse(end).isAfter(now);
  }
}
