package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Alerts in JSON: as a row keeps them, and as the VM contract has them. */
final class AlertText {
  private static final long SECOND_MILLIS = 1_000;

  private AlertText() {}

  /** As a row keeps them; null for none. */
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

  /** What {@link #write} wrote. */
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

  /** As the contract has them. */
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
   * The thresholds of a body; what it leaves out is not told.
   *
   * @throws ApiException {@code bad-request} for an amount that is no whole number of cents
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
