package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Alerts in JSON, for rows and for the VM contract. */
final class AlertText {
  private static final long SECOND_MILLIS = 1_000;

  private AlertText() {}

  /** Returns the JSON for a row; null without thresholds. */
  static @Nullable String write(Alerts alerts) {
    Alerts.Thresholds from = alerts.thresholds();
    return from.isEmpty()
        ? null
        : new JsonObject()
            .put("rival_percent", from.rivalWithinPercent())
            .put("price_cents", from.priceAboveCents())
            .put("supply_nodes", from.supplyUnderNodes())
            .put("spend_cents", from.spendAboveCents())
            .put("lease_millis", from.leaseEndsWithinMillis())
            .put("raised", raised(alerts))
            .encode();
  }

  /** Parses the text of {@link #write}. */
  static Alerts read(@Nullable String text) {
    if (text == null) {
      return Alerts.NONE;
    }
    JsonObject json = new JsonObject(text);
    Set<Alerts.Kind> raised = EnumSet.noneOf(Alerts.Kind.class);
    json.getJsonArray("raised").forEach(label -> raised.add(Alerts.Kind.of((String) label)));
    return new Alerts(
        new Alerts.Thresholds(
            json.getInteger("rival_percent"),
            json.getLong("price_cents"),
            json.getInteger("supply_nodes"),
            json.getLong("spend_cents"),
            json.getLong("lease_millis")),
        raised);
  }

  /** Returns a cluster's alerts as the VM contract shows them. */
  static JsonObject toJson(Cluster cluster) {
    Alerts.Thresholds from = cluster.alerts().thresholds();
    Long leaseMillis = from.leaseEndsWithinMillis();
    return new JsonObject()
        .put("cluster", cluster.name())
        .put("rival_within_percent", from.rivalWithinPercent())
        .put("price_above_per_gpu_hour", Price.toUsdOrNull(from.priceAboveCents()))
        .put("supply_under_nodes", from.supplyUnderNodes())
        .put("spend_above_usd", Price.toUsdOrNull(from.spendAboveCents()))
        .put(
            "lease_ends_within_s",
            leaseMillis == null ? null : Long.valueOf(leaseMillis / SECOND_MILLIS))
        .put("raised", raised(cluster.alerts()));
  }

  /**
   * Returns the thresholds of a request body. An absent field turns its alert off.
   *
   * @throws ApiException {@code bad-request} for an amount that is not a whole number of cents
   */
  static Alerts.Thresholds thresholds(JsonObject body) {
    Long leaseSeconds = body.getLong("lease_ends_within_s");
    return new Alerts.Thresholds(
        body.getInteger("rival_within_percent"),
        cents(body, "price_above_per_gpu_hour"),
        body.getInteger("supply_under_nodes"),
        cents(body, "spend_above_usd"),
        leaseSeconds == null ? null : Long.valueOf(leaseSeconds * SECOND_MILLIS));
  }

  private static @Nullable Long cents(JsonObject body, String field) {
    Number usd = body.getNumber(field);
    if (usd == null) {
      return null;
    }
    BigDecimal exact = new BigDecimal(usd.toString());
    if (!Price.isWholeCents(exact)) {
      throw ApiException.badField(
          field, exact.toPlainString(), "dollars with at most two decimals");
    }
    return Price.toCents(exact);
  }

  private static JsonArray raised(Alerts alerts) {
    JsonArray raised = new JsonArray();
    alerts.raised().stream().sorted().forEach(kind -> raised.add(kind.label()));
    return raised;
  }
}
