package dev.bourse.console;

import dev.bourse.billing.Month;
import dev.bourse.billing.SpendLimitService;
import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The console contract's operations on an organization's spending. */
public final class SpendingRoutes {
  private static final String LIMIT = "limit_usd";
  private static final long MICROS_PER_CENT = 10_000;

  /** The length of the day in {@code 2026-11-21T00:00:00.000Z}. */
  private static final int DAY_LENGTH = 10;

  private final SpendLimitService spending;

  public SpendingRoutes(SpendLimitService spending) {
    this.spending = spending;
  }

  public void bind(Operations operations) {
    operations
        .ok("readSpendLimit", this::read, Function.identity())
        .ok(
            "setSpendLimit",
            call -> set(call, CommonFields.cents(call.body(), LIMIT) * MICROS_PER_CENT),
            Function.identity())
        .ok("clearSpendLimit", call -> set(call, null), Function.identity())
        .ok("listUsageDays", this::listDays, Function.identity());
  }

  private Future<JsonObject> read(Call call) {
    String orgId = call.principal().org().orgId();
    Optional<Double> limit = call.findNumber(LIMIT);
    if (limit.isEmpty()) {
      return spending.readSpendLimit(orgId);
    }
    BigDecimal usd = BigDecimal.valueOf(limit.get());
    if (!Price.isWholeCents(usd)) {
      throw ApiException.badField(LIMIT, usd.toPlainString(), "dollars with at most two decimals");
    }
    return spending.previewSpendLimit(orgId, Price.toCents(usd) * MICROS_PER_CENT);
  }

  private Future<JsonObject> set(Call call, @Nullable Long micros) {
    return spending.setSpendLimit(call.principal().actor(), call.principal().org().orgId(), micros);
  }

  private Future<JsonObject> listDays(Call call) {
    Month month = call.findText("month").map(Month::parse).orElseGet(spending::thisMonth);
    return spending
        .listUsageDays(call.principal().org().orgId(), month)
        .map(days -> json(month, days));
  }

  private static JsonObject json(Month month, List<SpendLimitService.Day> days) {
    JsonArray each = new JsonArray();
    for (SpendLimitService.Day day : days) {
      each.add(
          new JsonObject()
              .put("day", Times.rfc3339(day.startMillis()).substring(0, DAY_LENGTH))
              .put("cluster", day.cluster())
              .put("gpu_millis", day.gpuMillis())
              .put("amount_micros", day.amountMicros()));
    }
    return new JsonObject().put("month", month.toString()).put("days", each);
  }
}
