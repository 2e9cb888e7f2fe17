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
import dev.bourse.schemas.common.BalanceJson;
import dev.bourse.schemas.common.UsagePageJson;
import dev.bourse.schemas.operator.BookingJson;
import dev.bourse.schemas.operator.CreditJson;
import dev.bourse.schemas.operator.LedgerMisfitJson;
import dev.bourse.schemas.operator.LedgerReportJson;
import dev.bourse.schemas.operator.OrgHoldRequestJson;
import dev.bourse.schemas.operator.PaymentJson;
import dev.bourse.schemas.operator.SpendLimitJson;
import io.vertx.core.Future;
import java.math.BigDecimal;
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
        .bind("creditBilling", this::credit)
        .bind("payBilling", this::pay)
        .ok("limitBilling", this::limit)
        .ok("unlimitBilling", call -> billing.limit(call.actor(), call.text("org"), null))
        .ok("holdOrg", this::hold)
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

  private Future<Answer> credit(Call call) {
    CreditJson sent = CreditJson.read(call.body());
    long micros = micros("amount_usd", sent.amountUsd());
    if (micros == 0) {
      throw ApiException.badField("amount_usd", sent.amountUsd(), "an amount that is not 0");
    }
    Ledger.Kind kind = micros < 0 ? Ledger.Kind.ADJUSTMENT : Ledger.Kind.CREDIT;
    return book(call, kind, micros, sent.idempotencyKey(), sent.memo());
  }

  private Future<Answer> pay(Call call) {
    PaymentJson sent = PaymentJson.read(call.body());
    long micros = micros("amount_usd", sent.amountUsd());
    return book(call, Ledger.Kind.PAYMENT, micros, sent.idempotencyKey(), sent.memo());
  }

  private Future<BalanceJson> limit(Call call) {
    SpendLimitJson sent = SpendLimitJson.read(call.body());
    return billing.limit(call.actor(), call.text("org"), micros("limit_usd", sent.limitUsd()));
  }

  private Future<BalanceJson> hold(Call call) {
    OrgHoldRequestJson sent = OrgHoldRequestJson.read(call.body());
    return billing.hold(
        call.actor(),
        call.text("org"),
        Hold.Stage.valueOf(sent.stage().toUpperCase(Locale.ROOT)),
        sent.reason());
  }

  private Future<Answer> book(Call call, Ledger.Kind kind, long micros, String key, String memo) {
    return billing
        .book(call.actor(), kind, call.text("org"), key, micros, memo)
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
  private static long micros(String field, BigDecimal usd) {
    return CommonFields.cents(field, usd) * MICROS_PER_CENT;
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
