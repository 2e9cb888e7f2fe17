package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.billing.BalanceView;
import dev.bourse.billing.BillingService;
import dev.bourse.billing.BillingText;
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
    Future<JsonObject> answer =
        switch (arguments.getString("action")) {
          case USAGE -> billing.listUsage(caller, usage(arguments)).map(BillingText::usage);
          case STATEMENTS -> billing.listStatements(caller).map(BillingText::statements);
          case STATEMENT ->
              billing
                  .readStatement(caller, BillingText.month(FIELDS.text(arguments, "month")))
                  .map(BillingText::statement);
          case LEDGER ->
              billing
                  .listLedger(caller, arguments.getLong("before", Long.MAX_VALUE), limit(arguments))
                  .map(BillingText::ledger);
          default -> billing.readBalance(caller).map(BalanceView::toJson);
        };
    return answer.map(JsonObject::toBuffer);
  }

  private BillingService.UsageQuery usage(JsonObject arguments) {
    return new BillingService.UsageQuery(
        text(arguments, "cluster"),
        BillingText.time("from", text(arguments, "from")).orElseGet(billing::monthStartMillis),
        BillingText.time("to", text(arguments, "to")).orElse(Long.MAX_VALUE),
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
