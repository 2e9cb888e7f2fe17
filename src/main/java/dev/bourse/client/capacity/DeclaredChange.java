package dev.bourse.client.capacity;

import dev.bourse.command.Question;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Describes the cost and the losses of a declaration compared to the present state. Pure.
 *
 * @param capacity the present capacity
 * @param declaration the new declaration
 * @param preview the service's preview of it
 * @param now by the clock of the user's machine
 */
record DeclaredChange(
    JsonObject capacity, JsonObject declaration, JsonObject preview, Instant now) {

  /**
   * Returns if the service would accept the declaration.
   *
   * @throws RefusedException with the service's reason and the next step
   */
  void requireAccepted() throws RefusedException {
    JsonObject refusal = preview.getJsonObject("would_refuse");
    if (refusal == null) {
      return;
    }
    String error = refusal.getString("error");
    if (error.equals("version-mismatch")) {
      throw DeclarationWriter.concurrentWrite(capacity);
    }
    String detail = Text.plain(error + ": " + refusal.getString("detail"));
    throw new RefusedException(
        ExitCode.REFUSED,
        switch (error) {
          case "no-ssh-keys" ->
              detail + "\nRegister one first: bourse keys add ~/.ssh/id_ed25519.pub";
          case "bid-too-low", "price-above-maximum" -> detail + "\nSee bourse market feed";
          case "token-limit" -> detail + "\nSee bourse whoami for the limits of this token";
          default -> detail;
        });
  }

  private List<JsonObject> nodes(String field) {
    return preview.getJsonArray(field, new JsonArray()).stream()
        .map(JsonObject.class::cast)
        .toList();
  }

  /** The nodes lost for one reason: the write, the tick or a notice. */
  private List<JsonObject> losses(String by) {
    return nodes("losses").stream().filter(node -> by.equals(node.getString("by"))).toList();
  }

  private static String addresses(List<JsonObject> nodes) {
    return nodes.stream()
        .map(DeclaredChange::identity)
        .map(node -> node == null ? "one without an address yet" : Text.plain(node))
        .collect(Collectors.joining(", "));
  }

  /** Returns a node's address, or its name in a Kubernetes cluster; null if it has none yet. */
  private static @Nullable String identity(JsonObject node) {
    return node.getString("public_ip", node.getString("name"));
  }

  /** The question to ask before the declaration is made. */
  Question question() {
    Set<String> losses = new TreeSet<>();
    nodes("losses")
        .forEach(node -> losses.add(node.getString("by") + ' ' + key(node, losses.size())));
    nodes("unprotected").forEach(node -> losses.add("unprotected " + key(node, losses.size())));
    if (!end().isEmpty()) {
      keptNodes().forEach(node -> losses.add("end " + key(node, losses.size())));
    }
    return new Question(lines(), losses);
  }

  /** Identifies a node; by its place if it has no address yet. */
  private static String key(JsonObject node, int place) {
    String identity = identity(node);
    return identity == null ? "node " + place : identity;
  }

  /** The nodes that the cluster holds right after the write. */
  private List<JsonObject> keptNodes() {
    JsonObject state = preview.getJsonObject("state");
    return state == null
        ? List.of()
        : state.getJsonArray("allocations", new JsonArray()).stream()
            .map(JsonObject.class::cast)
            .filter(node -> !"reclaiming".equals(node.getString("state")))
            .toList();
  }

  private List<String> end() {
    Object perHour = preview.getValue("cost_per_hour");
    return new TermsEnd(
            declaration,
            capacity.getJsonObject("declared"),
            perHour == null ? BigDecimal.ZERO : new BigDecimal(perHour.toString()),
            now)
        .lines(keptNodes().size());
  }

  /** The effects to show before the declaration is made, a line each. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    int gpus = declaration.getInteger("max_gpus");
    JsonObject declared = capacity.getJsonObject("declared");
    lines.add(
        "%s: %d GPUs declared, %d from now on%s"
            .formatted(
                Text.plain(capacity.getString("cluster")),
                declared == null ? 0 : declared.getInteger("max_gpus"),
                gpus,
                gpus == 0
                    ? ", which releases every node"
                    : " ("
                        + nodes(gpus)
                        + ") at no more than "
                        + dollars(price())
                        + " a GPU-hour"));
    if (gpus > 0) {
      lines.add(cost(gpus));
      addMarket(lines);
    }
    addProtection(lines);
    addLosses(lines);
    lines.addAll(end());
    return lines;
  }

  private void addProtection(List<String> lines) {
    List<JsonObject> nodes = nodes("unprotected");
    if (nodes.isEmpty()) {
      return;
    }
    long minutes =
        nodes.stream()
            .map(node -> node.getString("protected_until"))
            .filter(Objects::nonNull)
            .mapToLong(end -> Duration.between(now, Instant.parse(end)).toMinutes())
            .max()
            .orElse(0);
    lines.add(
        "ends %s of %s: rivals can take %s from the next tick on: %s"
            .formatted(
                minutes > 0 ? count((int) minutes, "minute") + " of protection" : "the protection",
                count(nodes.size(), "node"),
                nodes.size() == 1 ? "it" : "them",
                addresses(nodes)));
  }

  private void addLosses(List<String> lines) {
    List<JsonObject> taken = losses("write");
    if (!taken.isEmpty()) {
      lines.add("loses " + loss(taken));
    }
    List<JsonObject> outbid = losses("tick");
    if (!outbid.isEmpty()) {
      lines.add(
          "at today's bids loses at %s %s"
              .formatted(outbid.get(0).getString("reclaim_at"), loss(outbid)));
    }
    List<JsonObject> noticed = losses("notice");
    if (!noticed.isEmpty()) {
      String ends =
          noticed.stream()
              .map(node -> node.getString("reclaim_at"))
              .filter(Objects::nonNull)
              .sorted()
              .findFirst()
              .map(end -> ", the first goes at " + end)
              .orElse("");
      lines.add(
          "%s under notice because rivals bid more%s: %s"
              .formatted(count(noticed.size(), "node"), ends, addresses(noticed)));
    }
  }

  private static String loss(List<JsonObject> nodes) {
    return "%s and all data on %s: %s"
        .formatted(
            count(nodes.size(), "node"), nodes.size() == 1 ? "it" : "them", addresses(nodes));
  }

  private String cost(int gpus) {
    String until = Optional.ofNullable(after("until")).map(at -> " until " + at).orElse("");
    Object worst = preview.getValue("worst_case_usd");
    return "at most %s an hour%s%s"
        .formatted(
            dollars(price().multiply(BigDecimal.valueOf(gpus))),
            until,
            worst == null
                ? ", for as long as it stands"
                : ", " + dollars(new BigDecimal(worst.toString())) + " in all");
  }

  private void addMarket(List<String> lines) {
    Object now = preview.getValue("cost_per_hour");
    int won = preview.getInteger("nodes_won", 0);
    int unfilled = preview.getInteger("nodes_unfilled", 0);
    if (now != null) {
      lines.add(
          "the next tick would add %s of %s; all would cost %s an hour then"
              .formatted(
                  count(won, "node"),
                  String.valueOf(won + unfilled),
                  dollars(new BigDecimal(now.toString()))));
    }
    if (Boolean.TRUE.equals(preview.getBoolean("paused"))) {
      lines.add("an operator has paused the market: nothing is granted or reclaimed until it ends");
    }
    if ("price".equals(preview.getString("minimum_missed"))) {
      lines.add("its minimum is out of reach at this price; a higher one could win it");
    } else if ("size".equals(preview.getString("minimum_missed"))) {
      lines.add("its minimum is more than the pool can give at any price");
    }
  }

  private @Nullable String after(String field) {
    JsonObject state = preview.getJsonObject("state");
    JsonObject declared = state == null ? null : state.getJsonObject("declared");
    return declared == null ? null : declared.getString(field);
  }

  /** The declared price; the present one if the declaration leaves it out. */
  private BigDecimal price() {
    Object price = declaration.getValue("max_price_per_gpu_hour");
    JsonObject declared = capacity.getJsonObject("declared");
    if (price == null && declared != null) {
      price = declared.getValue("max_price_per_gpu_hour");
    }
    return price == null ? BigDecimal.ZERO : new BigDecimal(price.toString());
  }

  private String nodes(int gpus) {
    return count(gpus / Math.max(1, capacity.getInteger("gpus_per_node")), "node");
  }

  static String count(int number, String thing) {
    return number + " " + thing + (number == 1 ? "" : "s");
  }

  static String dollars(BigDecimal usd) {
    return "$" + usd.setScale(2, RoundingMode.HALF_UP).toPlainString();
  }
}
