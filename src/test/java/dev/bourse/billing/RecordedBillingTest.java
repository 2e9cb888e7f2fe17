package dev.bourse.billing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Hold;
import dev.bourse.core.Page;
import dev.bourse.pools.Switches;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the answers on money, with a distinct value in each member, so that values that
 * change places are found. A member that is added to the contract is added here as well; a change
 * of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedBillingTest {
  private static final long T0 = 1_700_000_000_000L;
  private static final long HOUR = T0 - T0 % Usage.HOUR_MILLIS;

  private static AccountStore.Account account(
      long throughMillis, SpendLimits limits, HoldState hold, OperatorHold operatorHold) {
    return new AccountStore.Account(
        "acme", false, 9_000_000_001L, throughMillis, 50_002, limits, hold, operatorHold, true);
  }

  @Test
  void aBalance() {
    AccountStore.Account account =
        account(
            T0 - 3_600_000,
            new SpendLimits(500_000_000L, 700_000_000L),
            new HoldState(HoldState.Stage.NOTICE, HoldState.Reason.SPEND_LIMIT, T0 - 77, true),
            new OperatorHold(Hold.Stage.ENFORCE, T0 - 5_000, "an \"audit\"", "operator:ada"));
    assertEquals(
        """
        {"org_id":"acme","as_of":"2023-11-14T22:13:20.000Z","balance_micros":8999998994,\
        "posted_micros":9000000001,"accrued_micros":1007,\
        "posted_through":"2023-11-14T21:13:20.000Z","month":"2023-11",\
        "month_usage_micros":51005,"committed_micros":60005,"spend_limit_micros":500000000,\
        "spend_limit_member_micros":500000000,"spend_limit_operator_micros":700000000,\
        "spend_limit_set_by":"member","spend_limit_remaining_micros":499888990,\
        "spend_limit_enforced":true,"billing_hold_enforced":false,"hold":{"stage":"notice",\
        "reason":"spend-limit","since":"2023-11-14T22:13:19.923Z","enforced":true,\
        "enforce_after_ms":86399923},"operator_hold":{"stage":"enforce",\
        "reason":"an \\"audit\\"","since":"2023-11-14T22:13:15.000Z"}}\
        """,
        new Balance(account, Map.of(Month.at(T0), 1_003L, Month.at(0), 4L), T0)
            .toJson(60_005, new Switches(true, true, false), 86_400_000)
            .toBuffer()
            .toString());
  }

  @Test
  void aBalanceWithoutLimitsAndHolds() {
    assertEquals(
        """
        {"org_id":"acme","as_of":"2023-11-14T22:13:20.000Z","balance_micros":9000000001,\
        "posted_micros":9000000001,"accrued_micros":0,"posted_through":null,\
        "month":"2023-11","month_usage_micros":50002,"committed_micros":0,\
        "spend_limit_micros":null,"spend_limit_member_micros":null,\
        "spend_limit_operator_micros":null,"spend_limit_set_by":null,\
        "spend_limit_remaining_micros":null,"spend_limit_enforced":false,\
        "billing_hold_enforced":true,"hold":null,"operator_hold":null}\
        """,
        new Balance(account(0, SpendLimits.NONE, HoldState.NONE, OperatorHold.NONE), Map.of(), T0)
            .toJson(0, new Switches(true, false, true), 86_400_000)
            .toBuffer()
            .toString());
  }

  @Test
  void aGraceHasNoEnforcement() {
    HoldState grace = new HoldState(HoldState.Stage.GRACE, HoldState.Reason.BALANCE, T0, false);
    assertEquals(
        """
        {"stage":"grace","reason":"balance","since":"2023-11-14T22:13:20.000Z",\
        "enforced":false,"enforce_after_ms":null}\
        """,
        Objects.requireNonNull(grace.toJson(86_400_000, T0 + 5)).toBuffer().toString());
  }

  @Test
  void usage() {
    BillingService.UsageLine first =
        new BillingService.UsageLine(
            new Usage.Line("acme-train", HOUR, 57_600_000, 5_760_000_000L), true);
    BillingService.UsageLine last =
        new BillingService.UsageLine(new Usage.Line("acme-web", HOUR + 3_600_000, 1, 361), false);
    assertEquals(
        """
        {"lines":[{"cluster":"acme-train","hour":"2023-11-14T22:00:00.000Z",\
        "gpu_millis":57600000,"cent_gpu_millis":5760000000,"amount_micros":16000000,\
        "posted":true},{"cluster":"acme-web","hour":"2023-11-14T23:00:00.000Z",\
        "gpu_millis":1,"cent_gpu_millis":361,"amount_micros":1,"posted":false}],"more":true,\
        "next":"1700002800000_acme-web"}\
        """,
        BillingService.UsageLine.page(new Page<>(List.of(first, last), true))
            .toBuffer()
            .toString());
    assertEquals(
        """
        {"lines":[],"more":false,"next":null}\
        """,
        BillingService.UsageLine.page(new Page<>(List.of(), false)).toBuffer().toString());
  }

  @Test
  void theWorkingOfALine() {
    Usage.Line line = new Usage.Line("acme-train", HOUR, 57_600_000, 5_760_000_000L);
    List<Usage.Span> spans =
        List.of(
            new Usage.Span(T0 + 1, T0 + 2, 16, 155, 350, 120L),
            new Usage.Span(T0 + 3, T0 + 4, 8, 156, 351, null));
    assertEquals(
        """
        {"cluster":"acme-train","hour":"2023-11-14T22:00:00.000Z","gpu_millis":57600000,\
        "cent_gpu_millis":5760000000,"amount_micros":16000000,\
        "spans":[{"from":"2023-11-14T22:13:20.001Z","to":"2023-11-14T22:13:20.002Z",\
        "gpus":16,"clearing_price_per_gpu_hour":1.55,"max_price_per_gpu_hour":3.5,\
        "locked_price_per_gpu_hour":1.2,"price_per_gpu_hour":1.2,"gpu_millis":16,\
        "cent_gpu_millis":1920},{"from":"2023-11-14T22:13:20.003Z",\
        "to":"2023-11-14T22:13:20.004Z","gpus":8,"clearing_price_per_gpu_hour":1.56,\
        "max_price_per_gpu_hour":3.51,"locked_price_per_gpu_hour":null,\
        "price_per_gpu_hour":1.56,"gpu_millis":8,"cent_gpu_millis":1248}]}\
        """,
        new BillingService.Working(line, spans).toJson().toBuffer().toString());
  }

  @Test
  void statements() {
    MonthStatement statement = new MonthStatement(Month.at(T0), true, 1, 20, 300, 4_000, -50_000);
    assertEquals(
        """
        {"statements":[{"month":"2023-11","final":true,"opening_micros":1,"usage_micros":20,\
        "credit_micros":300,"payment_micros":4000,"adjustment_micros":-50000,\
        "closing_micros":-45719}]}\
        """,
        MonthStatement.list(List.of(statement)).toBuffer().toString());
    List<MonthStatement.ClusterPart> parts =
        List.of(new MonthStatement.ClusterPart("acme-train", 57_600_000, 16_000_000_000L));
    assertEquals(
        """
        {"month":"2023-11","final":true,"opening_micros":1,"usage_micros":20,\
        "credit_micros":300,"payment_micros":4000,"adjustment_micros":-50000,\
        "closing_micros":-45719,"clusters":[{"cluster":"acme-train","gpu_millis":57600000,\
        "amount_micros":16000000000}]}\
        """,
        new BillingService.Detailed(statement, parts).toJson().toBuffer().toString());
  }

  @Test
  void theLedger() {
    LedgerStore.Posting usage =
        new LedgerStore.Posting(
            12, T0 + 1, T0 + 2, Ledger.Kind.USAGE, "system:billing", "", -16_000_000, null);
    LedgerStore.Posting reversal =
        new LedgerStore.Posting(
            11,
            T0 + 3,
            T0 + 4,
            Ledger.Kind.CREDIT,
            "operator:ada",
            "a \"gift\"",
            5_000_000_000L,
            9L);
    assertEquals(
        """
        {"transactions":[{"id":12,"at":"2023-11-14T22:13:20.001Z",\
        "effective_at":"2023-11-14T22:13:20.002Z","kind":"usage","actor":"system:billing",\
        "memo":"","amount_micros":-16000000,"reverses":null},{"id":11,\
        "at":"2023-11-14T22:13:20.003Z","effective_at":"2023-11-14T22:13:20.004Z",\
        "kind":"credit","actor":"operator:ada","memo":"a \\"gift\\"",\
        "amount_micros":5000000000,"reverses":9}],"more":true,"next":"11"}\
        """,
        LedgerStore.Posting.page(new Page<>(List.of(usage, reversal), true)).toBuffer().toString());
    assertEquals(
        """
        {"transactions":[{"id":12,"at":"2023-11-14T22:13:20.001Z",\
        "effective_at":"2023-11-14T22:13:20.002Z","kind":"usage","actor":"system:billing",\
        "memo":"","amount_micros":-16000000,"reverses":null}],"more":false,"next":null}\
        """,
        LedgerStore.Posting.page(new Page<>(List.of(usage), false)).toBuffer().toString());
  }

  @Test
  void theOutlookOfAMonth() {
    SpendOutlook.Exposure train = new SpendOutlook.Exposure("train", "h100", 8, 16, 240, 350);
    assertEquals(
        """
        {"as_of":"2023-11-14T22:13:20.000Z","month":"2023-11","limit_micros":800000000000,\
        "limit_member_micros":900000000000,"limit_operator_micros":800000000000,\
        "limit_set_by":"operator","enforced":true,"month_usage_micros":80000000,\
        "committed_micros":3000000,"remaining_micros":799917000000,\
        "rate_micros_per_hour":19200000,"month_at_this_rate_micros":7486933334,\
        "reached":false,"reached_at":null,"stop_after_ms":180000,"overshoot_micros":2800000,\
        "month_at_most_micros":800002800000,"clusters":[{"cluster":"train","pool":"h100",\
        "active_gpus":8,"max_gpus":16,"rate_micros_per_hour":19200000,\
        "most_micros_per_hour":56000000}]}\
        """,
        new SpendOutlook(
                new SpendLimits(900_000_000_000L, 800_000_000_000L),
                true,
                80_000_000,
                3_000_000,
                List.of(train),
                180_000,
                T0)
            .toJson()
            .toBuffer()
            .toString());
    assertEquals(
        """
        {"as_of":"2023-11-14T22:13:20.000Z","month":"2023-11","limit_micros":null,\
        "limit_member_micros":null,"limit_operator_micros":null,"limit_set_by":null,\
        "enforced":false,"month_usage_micros":1,"committed_micros":2,"remaining_micros":null,\
        "rate_micros_per_hour":0,"month_at_this_rate_micros":1,"reached":false,\
        "reached_at":null,"stop_after_ms":3,"overshoot_micros":null,\
        "month_at_most_micros":null,"clusters":[]}\
        """,
        new SpendOutlook(SpendLimits.NONE, false, 1, 2, List.of(), 3, T0)
            .toJson()
            .toBuffer()
            .toString());
  }
}
