package dev.bourse.billing;

import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Converts money to JSON, and parses parameters, as the contracts specify. */
public final class BillingText {
  private BillingText() {}

  /** A page of usage lines. */
  public static JsonObject usage(Page<BillingService.UsageLine> page) {
    JsonArray lines = new JsonArray();
    page.items().forEach(line -> lines.add(line(line.line()).put("posted", line.posted())));
    return new JsonObject().put("lines", lines).put("more", page.more()).put("next", next(page));
  }

  /** Returns the cursor of the next page; null at the end. */
  static @Nullable String next(Page<BillingService.UsageLine> page) {
    return page.more() ? BillingService.cursor(page.last()) : null;
  }

  private static JsonObject line(Usage.Line line) {
    return new JsonObject()
        .put("cluster", line.cluster())
        .put("hour", Times.rfc3339(line.hourMillis()))
        .put("gpu_millis", line.gpuMillis())
        .put("cent_gpu_millis", line.centGpuMillis())
        .put("amount_micros", line.amountMicros());
  }

  /** A usage line and the spans it sums up. */
  static JsonObject working(BillingService.Working working) {
    JsonArray spans = new JsonArray();
    working.spans().forEach(span -> spans.add(span(span)));
    return line(working.line()).put("spans", spans);
  }

  private static JsonObject span(Usage.Span span) {
    return new JsonObject()
        .put("from", Times.rfc3339(span.fromMillis()))
        .put("to", Times.rfc3339(span.toMillis()))
        .put("gpus", span.gpus())
        .put("clearing_price_per_gpu_hour", Price.toUsd(span.clearingCents()))
        .put("max_price_per_gpu_hour", Price.toUsd(span.ceilingCents()))
        .put("locked_price_per_gpu_hour", Price.toUsdOrNull(span.lockCents()))
        .put("price_per_gpu_hour", Price.toUsd(span.rateCents()))
        .put("gpu_millis", span.gpuMillis())
        .put("cent_gpu_millis", span.centGpuMillis());
  }

  /** Monthly statements. */
  public static JsonObject statements(List<MonthStatement> all) {
    JsonArray statements = new JsonArray();
    all.forEach(statement -> statements.add(statement(statement)));
    return new JsonObject().put("statements", statements);
  }

  private static JsonObject statement(MonthStatement statement) {
    return new JsonObject()
        .put("month", statement.month().toString())
        .put("final", statement.isFinal())
        .put("opening_micros", statement.openingMicros())
        .put("usage_micros", statement.usageMicros())
        .put("credit_micros", statement.creditMicros())
        .put("payment_micros", statement.paymentMicros())
        .put("adjustment_micros", statement.adjustmentMicros())
        .put("closing_micros", statement.closingMicros());
  }

  /** A month's statement by cluster. */
  public static JsonObject statement(BillingService.Detailed detailed) {
    JsonArray clusters = new JsonArray();
    for (MonthStatement.ClusterPart part : detailed.clusters()) {
      clusters.add(
          new JsonObject()
              .put("cluster", part.cluster())
              .put("gpu_millis", part.gpuMillis())
              .put("amount_micros", part.amountMicros()));
    }
    return statement(detailed.statement()).put("clusters", clusters);
  }

  /** A page of the ledger. */
  public static JsonObject ledger(Page<LedgerStore.Posting> page) {
    JsonArray transactions = new JsonArray();
    page.items().forEach(p -> transactions.add(posting(p).put("reverses", p.reverses())));
    return new JsonObject()
        .put("transactions", transactions)
        .put("more", page.more())
        .put("next", page.more() ? String.valueOf(page.last().id()) : null);
  }

  /** A transaction as its organization and operators see it. */
  public static JsonObject posting(LedgerStore.Posting posting) {
    return new JsonObject()
        .put("id", posting.id())
        .put("at", Times.rfc3339(posting.atMillis()))
        .put("effective_at", Times.rfc3339(posting.effectiveMillis()))
        .put("kind", posting.kind().label())
        .put("actor", posting.actor())
        .put("memo", posting.memo())
        .put("amount_micros", posting.micros());
  }

  /**
   * Parses a month such as {@code 2026-11}.
   *
   * @throws ApiException {@code bad-request} for any other text
   */
  public static Month month(String text) {
    return Month.parse(text)
        .orElseThrow(() -> ApiException.badField("month", text, "a month such as 2026-11"));
  }

  /**
   * Parses an RFC 3339 time to milliseconds; empty if there is none.
   *
   * @param field its name, used in the error
   * @throws ApiException {@code bad-request} for any other text and for times before 1970
   */
  public static Optional<Long> time(String field, Optional<String> text) {
    return text.map(
        given -> {
          OptionalLong millis = Times.parse(given);
          if (millis.isEmpty() || millis.getAsLong() < 0) {
            throw ApiException.badField(
                field, given, "an RFC 3339 time since 1970, such as 2026-11-01T00:00:00Z");
          }
          return millis.getAsLong();
        });
  }
}
