package dev.bourse.billing;

import dev.bourse.access.Principal;
import dev.bourse.core.ApiError;
import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The billing contract's operations. */
public final class BillingRoutes {
  private static final String CSV = "text/csv";
  private static final int DEFAULT_LIMIT = 100;

  /** Lines of one piece of an export: some 40 KB. */
  private static final int LINES_PER_PIECE = 500;

  private static final String LINES_HEAD =
      "cluster,hour,gpu_millis,cent_gpu_millis,amount_micros,posted\r\n";

  private final BillingService billing;

  public BillingRoutes(BillingService billing) {
    this.billing = billing;
  }

  public void bind(Operations operations) {
    operations
        .bind(
            "readBalance",
            call ->
                billing.readBalance(call.principal()).map(balance -> Answer.ok(balance.toJson())))
        .bind("listUsage", this::listUsage)
        .bind("readUsageWorking", this::readUsageWorking)
        .bind("listStatements", this::listStatements)
        .bind("readStatement", this::readStatement)
        .bind("listLedger", this::listLedger);
  }

  private Future<Answer> listUsage(Call call) {
    long from = time(call, "from").orElseGet(billing::monthStartMillis);
    long to = time(call, "to").orElse(Long.MAX_VALUE);
    BillingService.UsageQuery query =
        new BillingService.UsageQuery(
            call.findText("cluster"), from, to, call.findText("after"), limit(call));
    return call.mediaType().equals(CSV)
        ? Future.succeededFuture(new Answer.Streamed(new Export(call.principal(), query)::next))
        : billing.listUsage(call.principal(), query).map(BillingRoutes::usage);
  }

  private static Answer usage(Page<BillingService.UsageLine> page) {
    JsonArray lines = new JsonArray();
    page.items().forEach(line -> lines.add(line(line.line()).put("posted", line.posted())));
    return Answer.ok(
        new JsonObject()
            .put("lines", lines)
            .put("more", page.more())
            .put("next", page.more() ? BillingService.cursor(last(page.items())) : null));
  }

  private static <T> T last(List<T> items) {
    return items.get(items.size() - 1);
  }

  private static JsonObject line(Usage.Line line) {
    return new JsonObject()
        .put("cluster", line.cluster())
        .put("hour", Times.rfc3339(line.hourMillis()))
        .put("gpu_millis", line.gpuMillis())
        .put("cent_gpu_millis", line.centGpuMillis())
        .put("amount_micros", line.amountMicros());
  }

  /** All lines from a place on as CSV, a page at a time. Belongs to one reader. */
  private final class Export {
    private final Principal caller;
    private BillingService.UsageQuery query;
    private boolean begun;
    private boolean ended;

    Export(Principal caller, BillingService.UsageQuery query) {
      this.caller = caller;
      this.query = from(query, query.after());
    }

    private static BillingService.UsageQuery from(
        BillingService.UsageQuery query, Optional<String> after) {
      return new BillingService.UsageQuery(
          query.cluster(), query.fromMillis(), query.toMillis(), after, LINES_PER_PIECE);
    }

    Future<Optional<Buffer>> next() {
      return ended
          ? Future.succeededFuture(Optional.empty())
          : billing.listUsage(caller, query).map(this::text);
    }

    private Optional<Buffer> text(Page<BillingService.UsageLine> page) {
      StringBuilder text = new StringBuilder(begun ? "" : LINES_HEAD);
      begun = true;
      for (BillingService.UsageLine line : page.items()) {
        // Names of clusters have no character that CSV gives a meaning to.
        text.append(line.line().cluster())
            .append(',')
            .append(Times.rfc3339(line.line().hourMillis()))
            .append(',')
            .append(line.line().gpuMillis())
            .append(',')
            .append(line.line().centGpuMillis())
            .append(',')
            .append(line.line().amountMicros())
            .append(',')
            .append(line.posted())
            .append("\r\n");
      }
      ended = !page.more();
      if (page.more()) {
        query = from(query, Optional.of(BillingService.cursor(last(page.items()))));
      }
      return text.isEmpty() ? Optional.empty() : Optional.of(Buffer.buffer(text.toString()));
    }
  }

  private Future<Answer> readUsageWorking(Call call) {
    long at = time(call, "hour").orElseThrow();
    return billing
        .readUsageWorking(call.principal(), call.text("cluster"), at)
        .map(
            working -> {
              JsonArray spans = new JsonArray();
              working.spans().forEach(span -> spans.add(span(span)));
              return Answer.ok(line(working.line()).put("spans", spans));
            });
  }

  private static JsonObject span(Usage.Span span) {
    return new JsonObject()
        .put("from", Times.rfc3339(span.fromMillis()))
        .put("to", Times.rfc3339(span.toMillis()))
        .put("gpus", span.gpus())
        .put("clearing_price_per_gpu_hour", Price.toUsd(span.clearingCents()))
        .put("max_price_per_gpu_hour", Price.toUsd(span.ceilingCents()))
        .put("price_per_gpu_hour", Price.toUsd(span.rateCents()))
        .put("gpu_millis", span.gpuMillis())
        .put("cent_gpu_millis", span.centGpuMillis());
  }

  private Future<Answer> listStatements(Call call) {
    return billing
        .listStatements(call.principal())
        .map(
            all -> {
              JsonArray statements = new JsonArray();
              all.forEach(statement -> statements.add(statement(statement)));
              return Answer.ok(new JsonObject().put("statements", statements));
            });
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

  private Future<Answer> readStatement(Call call) {
    String text = call.text("month");
    Month month =
        Month.parse(text)
            .orElseThrow(() -> ApiError.badField("month", text, "a month such as 2026-11"));
    return billing
        .readStatement(call.principal(), month)
        .map(detailed -> call.mediaType().equals(CSV) ? csv(detailed) : json(detailed));
  }

  private static Answer json(BillingService.Detailed detailed) {
    JsonArray clusters = new JsonArray();
    for (MonthStatement.ClusterPart part : detailed.clusters()) {
      clusters.add(
          new JsonObject()
              .put("cluster", part.cluster())
              .put("gpu_millis", part.gpuMillis())
              .put("amount_micros", part.amountMicros()));
    }
    return Answer.ok(statement(detailed.statement()).put("clusters", clusters));
  }

  private static Answer csv(BillingService.Detailed detailed) {
    MonthStatement statement = detailed.statement();
    StringBuilder text = new StringBuilder("month,item,cluster,gpu_millis,amount_micros\r\n");
    append(text, statement, "opening", "", "", statement.openingMicros());
    for (MonthStatement.ClusterPart part : detailed.clusters()) {
      append(
          text,
          statement,
          "usage",
          part.cluster(),
          String.valueOf(part.gpuMillis()),
          -part.amountMicros());
    }
    append(text, statement, "credit", "", "", statement.creditMicros());
    append(text, statement, "payment", "", "", statement.paymentMicros());
    append(text, statement, "adjustment", "", "", statement.adjustmentMicros());
    append(text, statement, "closing", "", "", statement.closingMicros());
    Buffer all = Buffer.buffer(text.toString());
    boolean[] told = new boolean[1];
    return new Answer.Streamed(
        () -> {
          Optional<Buffer> piece = told[0] ? Optional.empty() : Optional.of(all);
          told[0] = true;
          return Future.succeededFuture(piece);
        });
  }

  private static void append(
      StringBuilder text,
      MonthStatement statement,
      String item,
      String cluster,
      String gpuMillis,
      long micros) {
    text.append(
        String.join(
            ",", statement.month().toString(), item, cluster, gpuMillis, String.valueOf(micros)));
    text.append("\r\n");
  }

  private Future<Answer> listLedger(Call call) {
    long before = call.findInteger("before").orElse(Long.MAX_VALUE);
    return billing
        .listLedger(call.principal(), before, limit(call))
        .map(
            page -> {
              JsonArray transactions = new JsonArray();
              page.items().forEach(posting -> transactions.add(posting(posting)));
              return Answer.ok(
                  new JsonObject().put("transactions", transactions).put("more", page.more()));
            });
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

  private static int limit(Call call) {
    return Math.toIntExact(call.findInteger("limit").orElse((long) DEFAULT_LIMIT));
  }

  private static Optional<Long> time(Call call, String parameter) {
    return call.findText(parameter)
        .map(
            text -> {
              OptionalLong millis = Times.parse(text);
              if (millis.isEmpty() || millis.getAsLong() < 0) {
                throw ApiError.badField(
                    parameter, text, "an RFC 3339 time since 1970, such as 2026-11-01T00:00:00Z");
              }
              return millis.getAsLong();
            });
  }
}
