package dev.bourse.client.capacity;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A declaration beside what stands, in words: what it would cost and what would be lost. Pure.
 *
 * @param capacity as it is
 * @param declaration what is to be declared
 * @param preview what the service says that would do
 */
record DeclaredChange(JsonObject capacity, JsonObject declaration, JsonObject preview) {

  /** Why the service would refuse it; empty when it would not. */
  Optional<JsonObject> refusal() {
    return Optional.ofNullable(preview.getJsonObject("would_refuse"));
  }

  /** Whether nodes go by it that hold somebody's data. */
  boolean losesNodes() {
    return !victims().isEmpty();
  }

  private List<String> victims() {
    return texts("victims");
  }

  private List<String> texts(String field) {
    List<String> texts = new ArrayList<>();
    preview.getJsonArray(field, new JsonArray()).forEach(text -> texts.add(Text.plain(text + "")));
    return texts;
  }

  /** What a person should know before it is made, a line each. */
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
      tellMarket(lines);
    }
    if (losesNodes()) {
      lines.add(
          "loses %s and all data on %s: %s"
              .formatted(
                  count(victims().size(), "node"),
                  victims().size() == 1 ? "it" : "them",
                  String.join(", ", victims())));
    }
    return lines;
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

  private void tellMarket(List<String> lines) {
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
      lines.add("an operator has the market paused: it grants and takes nothing, and this waits");
    }
    if ("price".equals(preview.getString("minimum_missed"))) {
      lines.add("its minimum is out of reach at this price; a higher one could win it");
    } else if ("size".equals(preview.getString("minimum_missed"))) {
      lines.add("its minimum is more than there is to win, whatever the price");
    }
    List<String> noticed = texts("noticed");
    if (!noticed.isEmpty()) {
      lines.add("under notice, for rivals bid more: " + String.join(", ", noticed));
    }
  }

  private @Nullable String after(String field) {
    JsonObject state = preview.getJsonObject("state");
    JsonObject declared = state == null ? null : state.getJsonObject("declared");
    return declared == null ? null : declared.getString(field);
  }

  private BigDecimal price() {
    return new BigDecimal(declaration.getValue("max_price_per_gpu_hour").toString());
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
