package dev.bourse.operator;

import dev.bourse.billing.BalanceView;
import dev.bourse.billing.BillingAdminService;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.BillingText;
import dev.bourse.billing.Ledger;
import dev.bourse.billing.LedgerStore;
import dev.bourse.capacity.Hold;
import dev.bourse.core.ApiException;
import dev.bourse.core.Page;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.edge.fields.CommonFields;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
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
        .ok("readBilling", call -> billing.readBilling(call.text("org")), BalanceView::toJson)
        .ok(
            "listOrgStatements",
            call -> billing.listStatements(call.text("org")),
            BillingText::statements)
        .ok(
            "readOrgStatement",
            call -> billing.readStatement(call.text("org"), BillingText.month(call.text("month"))),
            BillingText::statement)
        .ok("listOrgUsage", this::listUsage, BillingText::usage)
        .ok(
            "listOrgLedger",
            call ->
                billing.listLedger(
                    call.text("org"),
                    call.findText("after").map(Long::valueOf).orElse(Long.MAX_VALUE),
                    call.limit()),
            BillingText::ledger)
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
            call -> billing.limit(call.actor(), call.text("org"), micros(call.body(), "limit_usd")),
            BalanceView::toJson)
        .ok(
            "unlimitBilling",
            call -> billing.limit(call.actor(), call.text("org"), null),
            BalanceView::toJson)
        .ok(
            "holdOrg",
            call ->
                billing.hold(
                    call.actor(),
                    call.text("org"),
                    Hold.Stage.valueOf(call.body().getString("stage").toUpperCase(Locale.ROOT)),
                    call.body().getString("reason")),
            BalanceView::toJson)
        .ok(
            "liftOrg",
            call -> billing.liftHold(call.actor(), call.text("org")),
            BalanceView::toJson)
        .ok("verifyBilling", call -> billing.verify(), BillingAdminRoutes::json);
  }

  private Future<Page<BillingService.UsageLine>> listUsage(Call call) {
    return billing.listUsage(
        call.text("org"),
        new BillingService.UsageQuery(
            call.findText("cluster"),
            BillingText.time("from", call.findText("from")).orElseGet(billing::monthStartMillis),
            BillingText.time("to", call.findText("to")).orElse(Long.MAX_VALUE),
            call.findText("after"),
            call.limit()));
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
              JsonObject json =
                  BillingText.posting(booked.posting())
                      .put("balance_micros", booked.balance().balanceMicros());
              return booked.isNew() ? Answer.created(json) : Answer.ok(json);
            });
  }

  /** Parses a field in dollars; people enter amounts in dollars, not micro-dollars. */
  private static long micros(JsonObject body, String field) {
    return CommonFields.cents(body, field) * MICROS_PER_CENT;
  }

  private static JsonObject json(LedgerStore.Report report) {
    JsonArray misfits = new JsonArray();
    report
        .misfits()
        .forEach(
            misfit ->
                misfits.add(
                    new JsonObject()
                        .put("account", misfit.account())
                        .put("stored_micros", misfit.storedMicros())
                        .put("entries_micros", misfit.entriesMicros())));
    return new JsonObject()
        .put("sound", report.isSound())
        .put("transactions", report.transactions())
        .put("accounts", report.accounts())
        .put("sum_micros", report.sumMicros())
        .put("unbalanced", new JsonArray(report.unbalanced()))
        .put("misfits", misfits);
  }
}
