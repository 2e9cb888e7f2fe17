package dev.bourse.billing;

import dev.bourse.access.Principal;
import dev.bourse.billing.BillingService.UsageLine;
import dev.bourse.core.Page;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.schemas.billing.WorkingJson;
import dev.bourse.schemas.common.LedgerPageJson;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Optional;

/** Operations of the billing contract. */
public final class BillingRoutes {
  private static final String CSV = "text/csv";

  /** Lines of one chunk of an export: some 40 KB. */
  private static final int LINES_PER_PIECE = 500;

  private static final String LINES_HEAD =
      "cluster,hour,gpu_millis,cent_gpu_millis,amount_micros,posted\r\n";

  private final BillingService billing;

  public BillingRoutes(BillingService billing) {
    this.billing = billing;
  }

  public void bind(Operations operations) {
    operations
        .ok("readBalance", call -> billing.readBalance(call.principal()))
        .bind("listUsage", this::listUsage)
        .bind("exportUsageCsv", this::listUsage)
        .ok("readUsageWorking", this::readUsageWorking)
        .ok(
            "listStatements",
            call -> billing.listStatements(call.principal()).map(MonthStatement::list))
        .bind("readStatement", this::readStatement)
        .bind("exportStatementCsv", this::readStatement)
        .ok("listLedger", this::listLedger);
  }

  private Future<Answer> listUsage(Call call) {
    BillingService.UsageQuery query =
        billing.usageQuery(
            call.findText("cluster"),
            call.findText("from"),
            call.findText("to"),
            call.findText("after"),
            call.mediaType().equals(CSV) ? LINES_PER_PIECE : call.limit());
    return call.mediaType().equals(CSV)
        ? Future.succeededFuture(new Answer.Streamed(new Export(call.principal(), query)::next))
        : billing.listUsage(call.principal(), query).map(page -> Answer.ok(UsageLine.page(page)));
  }

  /** A CSV export of all lines from a cursor, a page at a time. Belongs to one reader. */
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

    private Optional<Buffer> text(Page<UsageLine> page) {
      StringBuilder text = new StringBuilder(begun ? "" : LINES_HEAD);
      begun = true;
      for (UsageLine line : page.items()) {
        // Names of clusters contain no character that is special in CSV.
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
        query = from(query, Optional.ofNullable(UsageLine.next(page)));
      }
      return text.isEmpty() ? Optional.empty() : Optional.of(Buffer.buffer(text.toString()));
    }
  }

  private Future<WorkingJson> readUsageWorking(Call call) {
    long at = BillingService.UsageQuery.time("hour", call.findText("hour")).orElseThrow();
    return billing
        .readUsageWorking(call.principal(), call.text("cluster"), at)
        .map(BillingService.Working::toJson);
  }

  private Future<Answer> readStatement(Call call) {
    return billing
        .readStatement(call.principal(), Month.parse(call.text("month")))
        .map(
            detailed ->
                call.mediaType().equals(CSV) ? csv(detailed) : Answer.ok(detailed.toJson()));
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

  private Future<LedgerPageJson> listLedger(Call call) {
    long before =
        call.findText("after")
            .map(Long::valueOf)
            .or(() -> call.findInteger("before"))
            .orElse(Long.MAX_VALUE);
    return billing
        .listLedger(call.principal(), before, call.limit())
        .map(LedgerStore.Posting::page);
  }
}
