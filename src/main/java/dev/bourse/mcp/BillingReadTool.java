package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.LedgerStore;
import dev.bourse.billing.Month;
import dev.bourse.billing.MonthStatement;
import dev.bourse.json.JsonRecord;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the organization's usage and spending. */
public final class BillingReadTool implements Tool {
  private static final String USAGE = "usage";
  private static final String STATEMENTS = "statements";
  private static final String STATEMENT = "statement";
  private static final String LEDGER = "ledger";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of(),
          Map.of(
              "balance",
              Set.of(),
              USAGE,
              Set.of("cluster", "from", "to", "after", "limit"),
              STATEMENTS,
              Set.of(),
              STATEMENT,
              Set.of("month"),
              LEDGER,
              Set.of("before", "limit")));

  private final BillingService billing;

  public BillingReadTool(BillingService billing) {
    this.billing = billing;
  }

  @Override
  public String name() {
    return "billing_read";
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.BILLING_READ);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    FIELDS.check(arguments);
    Future<? extends JsonRecord> answer =
        switch (arguments.getString("action")) {
          case USAGE ->
              billing.listUsage(caller, usage(arguments)).map(BillingService.UsageLine::page);
          case STATEMENTS -> billing.listStatements(caller).map(MonthStatement::list);
          case STATEMENT ->
              billing
                  .readStatement(caller, Month.parse(FIELDS.text(arguments, "month")))
                  .map(BillingService.Detailed::toJson);
          case LEDGER ->
              billing
                  .listLedger(caller, arguments.getLong("before", Long.MAX_VALUE), limit(arguments))
                  .map(LedgerStore.Posting::page);
          default -> billing.readBalance(caller);
        };
    return answer.map(JsonRecord::toBuffer);
  }

  private BillingService.UsageQuery usage(JsonObject arguments) {
    return billing.usageQuery(
        text(arguments, "cluster"),
        text(arguments, "from"),
        text(arguments, "to"),
        text(arguments, "after"),
        limit(arguments));
  }

  private static Optional<String> text(JsonObject arguments, String field) {
    return Optional.ofNullable(arguments.getString(field));
  }

  private static int limit(JsonObject arguments) {
    return arguments.getInteger("limit", BillingService.DEFAULT_LIMIT);
  }
}
