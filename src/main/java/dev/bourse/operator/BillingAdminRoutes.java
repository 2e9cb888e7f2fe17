package dev.bourse.operator;

import dev.bourse.billing.BillingAdminService;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.LedgerStore;
import dev.bourse.billing.Month;
import dev.bourse.billing.MonthStatement;
import dev.bourse.capacity.Hold;
import dev.bourse.core.ApiException;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import dev.bourse.schemas.common.UsagePageJson;
import dev.bourse.schemas.operator.BookingJson;
import dev.bourse.schemas.operator.LedgerMisfitJson;
import dev.bourse.schemas.operator.LedgerReportJson;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** Operations of the operator contract on organizations' money. */
public final class BillingAdminRoutes {
  private static final long MICROS_PER_CENT = 10_000;

  private final BillingAdminService billing;

  public BillingAdminRoutes(BillingAdminService billing) {
    this.billing = billing;
  }

  public void bind(Operations operations) {
    operations
        .ok("readBilling", call -> billing.readBilling(call.text("org")))
        .ok(
            "listOrgStatements",
            call -> billing.listStatements(call.text("org")).map(MonthStatement::list))
        .ok(
            "readOrgStatement",
            call ->
                billing
                    .readStatement(call.text("org"), Month.parse(call.text("month")))
                    .map(BillingService.Detailed::toJson))
        .ok("listOrgUsage", this::listUsage)
        .ok(
            "listOrgLedger",
            call ->
                billing
                    .listLedger(
                        call.text("org"),
                        call.findText("after").map(Long::valueOf).orElse(Long.MAX_VALUE),
                        call.limit())
                    .map(LedgerStore.Posting::page))
        .bind(
            "creditBilling",
            call -> {
              long micros = micros(call.body(), "amount_usd");
              return book(call, micros < 0 ? Ledger.Kind.ADJUSTMENT : Ledger.Kind.CREDIT, micros);
            })
        .bind(
            "payBilling",
            call -> book(call, Ledger.Kind.PAYMENT, micros(call.body(), "amount_usd")))
        .ok(
            "limitBilling",
            call -> billing.limit(call.actor(), call.text("org"), micros(call.body(), "limit_usd")))
        .ok("unlimitBilling", call -> billing.limit(call.actor(), call.text("org"), null))
        .ok(
            "holdOrg",
            call ->
                billing.hold(
                    call.actor(),
                    call.text("org"),
                    Hold.Stage.valueOf(call.body().getString("stage").toUpperCase(Locale.ROOT)),
                    call.body().getString("reason")))
        .ok("liftOrg", call -> billing.liftHold(call.actor(), call.text("org")))
        .ok("verifyBilling", call -> billing.verify().map(BillingAdminRoutes::toJson));
  }

  private Future<UsagePageJson> listUsage(Call call) {
    return billing
        .listUsage(
            call.text("org"),
            call.findText("cluster"),
            call.findText("from"),
            call.findText("to"),
            call.findText("after"),
            call.limit())
        .map(BillingService.UsageLine::page);
  }

  private Future<Answer> book(Call call, Ledger.Kind kind, long micros) {
    JsonObject body = call.body();
    if (micros == 0) {
      throw ApiException.badField(
          "amount_usd", body.getValue("amount_usd"), "an amount that is not 0");
    }
    return billing
        .book(
            call.actor(),
            kind,
            call.text("org"),
            body.getString("idempotency_key"),
            micros,
            body.getString("memo"))
        .map(
            booked -> {
              BookingJson json = toJson(booked);
              return booked.isNew() ? Answer.created(json) : Answer.ok(json);
            });
  }

  private static BookingJson toJson(BillingAdminService.Booked booked) {
    LedgerStore.Posting posting = booked.posting();
    return new BookingJson(
        posting.id(),
        posting.atMillis(),
        posting.effectiveMillis(),
        posting.kind().label(),
        posting.actor(),
        posting.memo(),
        posting.micros(),
        booked.balance().balanceMicros());
  }

  /** Parses a field in dollars; people enter amounts in dollars, not micro-dollars. */
  private static long micros(JsonObject body, String field) {
    return CommonFields.cents(body, field) * MICROS_PER_CENT;
  }

  private static LedgerReportJson toJson(LedgerStore.Report report) {
    return new LedgerReportJson(
        report.isSound(),
        report.transactions(),
        report.accounts(),
        report.sumMicros(),
        report.unbalanced(),
        report.misfits().stream()
            .map(
                misfit ->
                    new LedgerMisfitJson(
                        misfit.account(), misfit.storedMicros(), misfit.entriesMicros()))
            .toList());
  }
}
