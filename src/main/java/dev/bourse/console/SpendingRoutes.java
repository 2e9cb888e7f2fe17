package dev.bourse.console;

import dev.bourse.billing.Month;
import dev.bourse.billing.SpendLimitService;
import dev.bourse.core.Times;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.schemas.console.SpendLimitJson;
import dev.bourse.schemas.console.SpendOutlookJson;
import dev.bourse.schemas.console.UsageDayJson;
import dev.bourse.schemas.console.UsageDaysJson;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
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
        .ok("readSpendLimit", this::read)
        .ok("setSpendLimit", call -> set(call, micros(SpendLimitJson.read(call.body()).limitUsd())))
        .ok("clearSpendLimit", call -> set(call, null))
        .ok("listUsageDays", this::listDays);
  }

  private Future<SpendOutlookJson> read(Call call) {
    String orgId = call.principal().org().orgId();
    Optional<Double> limit = call.findNumber(LIMIT);
    if (limit.isEmpty()) {
      return spending.readSpendLimit(orgId);
    }
    return spending.previewSpendLimit(orgId, micros(BigDecimal.valueOf(limit.get())));
  }

  private static long micros(BigDecimal usd) {
    return CommonFields.cents(LIMIT, usd) * MICROS_PER_CENT;
  }

  private Future<SpendOutlookJson> set(Call call, @Nullable Long micros) {
    return spending.setSpendLimit(call.principal().actor(), call.principal().org().orgId(), micros);
  }

  private Future<UsageDaysJson> listDays(Call call) {
    Month month = call.findText("month").map(Month::parse).orElseGet(spending::thisMonth);
    return spending
        .listUsageDays(call.principal().org().orgId(), month)
        .map(days -> toJson(month, days));
  }

  static UsageDaysJson toJson(Month month, List<SpendLimitService.Day> days) {
    return new UsageDaysJson(
        month.toString(),
        days.stream()
            .map(
                day ->
                    new UsageDayJson(
                        Times.rfc3339(day.startMillis()).substring(0, DAY_LENGTH),
                        day.cluster(),
                        day.gpuMillis(),
                        day.amountMicros()))
            .toList());
  }
}
