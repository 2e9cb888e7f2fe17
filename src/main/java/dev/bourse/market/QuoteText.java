package dev.bourse.market;

import dev.bourse.pools.Demand;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Rivalry;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Encodes quotes as text, which the holder of a pool's lease stores for the other processes. A text
 * has some kilobytes, because a demand has at most {@link Demand#MAX_LEVELS} levels and few
 * organizations pay less than the clearing price.
 */
final class QuoteText {
  private QuoteText() {}

  static String write(Quote quote) {
    JsonArray levels = new JsonArray();
    quote.demand().levels().forEach(level -> levels.add(level.cents()).add(level.nodes()));
    return new JsonObject()
        .put("clearing", quote.clearingCents())
        .put("orgs", new JsonObject(new TreeMap<>(quote.orgCents())))
        .put("admission", quote.admissionCents())
        .put("usable", quote.usableNodes())
        .put("free", quote.freeNodes())
        .put("tick_at", quote.tickAtMillis())
        .put("next_tick_at", quote.nextTickAtMillis())
        .put("demand", levels)
        .put("best", quote.rivalry().bestCents())
        .put("best_org", quote.rivalry().bestOrg())
        .put("next", quote.rivalry().nextCents())
        .encode();
  }

  /** Parses a text; empty for an unknown format, because a later release may write another one. */
  static Optional<Quote> read(String text) {
    try {
      return Optional.of(quote(new JsonObject(text)));
    } catch (RuntimeException e) {
      return Optional.empty();
    }
  }

  private static Quote quote(JsonObject json) {
    return new Quote(
        json.getLong("clearing"),
        orgCents(json.getJsonObject("orgs")),
        json.getLong("admission"),
        json.getInteger("usable"),
        json.getInteger("free"),
        json.getLong("tick_at"),
        json.getLong("next_tick_at"),
        demand(json.getJsonArray("demand")),
        new Rivalry(json.getLong("best"), json.getString("best_org"), json.getLong("next")));
  }

  /** Reads the prices of organizations, which quotes of the previous release lack. */
  private static Map<String, Long> orgCents(@Nullable JsonObject orgs) {
    Map<String, Long> cents = new HashMap<>();
    if (orgs != null) {
      orgs.fieldNames().forEach(org -> cents.put(org, orgs.getLong(org)));
    }
    return cents;
  }

  private static Demand demand(JsonArray levels) {
    List<Demand.Level> read = new ArrayList<>();
    for (int i = 0; i < levels.size(); i += 2) {
      read.add(new Demand.Level(levels.getLong(i), levels.getLong(i + 1)));
    }
    return new Demand(read);
  }
}
