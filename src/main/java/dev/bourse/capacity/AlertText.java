package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.json.Setting;
import dev.bourse.schemas.common.AlertThresholdsJson;
import dev.bourse.schemas.common.AlertsJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Alerts in JSON, for rows and for contracts. */
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
            .put("raised", new JsonArray(raised(alerts)))
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

  /** Returns a cluster's alerts as contracts show them. */
  static AlertsJson toJson(Cluster cluster) {
    Alerts.Thresholds from = cluster.alerts().thresholds();
    Long leaseMillis = from.leaseEndsWithinMillis();
    return new AlertsJson(
        cluster.name(),
        from.rivalWithinPercent(),
        Price.toUsdOrNull(from.priceAboveCents()),
        from.supplyUnderNodes(),
        Price.toUsdOrNull(from.spendAboveCents()),
        leaseMillis == null ? null : (int) (leaseMillis / SECOND_MILLIS),
        raised(cluster.alerts()));
  }

  /**
   * Returns the thresholds of a request. An absent field turns its alert off.
   *
   * @throws ApiException {@code bad-request} for an amount that is not a whole number of cents
   */
  static Alerts.Thresholds thresholds(AlertThresholdsJson sent) {
    Integer leaseSeconds = sent.leaseEndsWithinS().over(null);
    return new Alerts.Thresholds(
        sent.rivalWithinPercent().over(null),
        cents(sent.priceAbovePerGpuHour(), "price_above_per_gpu_hour"),
        sent.supplyUnderNodes().over(null),
        cents(sent.spendAboveUsd(), "spend_above_usd"),
        leaseSeconds == null ? null : Long.valueOf(leaseSeconds * SECOND_MILLIS));
  }

  private static @Nullable Long cents(Setting<BigDecimal> amount, String field) {
    BigDecimal usd = amount.over(null);
    if (usd == null) {
      return null;
    }
    if (!Price.isWholeCents(usd)) {
      throw ApiException.badField(field, usd.toPlainString(), "dollars with at most two decimals");
    }
    return Price.toCents(usd);
  }

  private static List<String> raised(Alerts alerts) {
    return alerts.raised().stream().sorted().map(Alerts.Kind::label).toList();
  }
}
