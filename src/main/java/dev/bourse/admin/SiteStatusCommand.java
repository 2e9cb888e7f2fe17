package dev.bourse.admin;

import dev.bourse.command.AnswerFormat;
import dev.bourse.command.CommandAction;
import dev.bourse.command.RemoteOperation;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * {@code status}: the status of the whole site on one screen; other output formats print the answer
 * unchanged.
 */
final class SiteStatusCommand implements Callable<Integer> {
  private static final double GIB = 1L << 30;

  private final AdminCommand admin;
  private final RemoteOperation operation;
  private final CommandSpec spec;

  SiteStatusCommand(AdminCommand admin, RemoteOperation operation) {
    this.admin = admin;
    this.operation = operation;
    this.spec =
        CommandSpec.wrapWithoutInspection(this)
            .name(operation.verb())
            .mixinStandardHelpOptions(true);
    spec.usageMessage()
        .description(
            operation.summary() + ".",
            "",
            "A screen for people; programs read it with --output json.");
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    return CommandAction.run(
        spec,
        (out, err) -> {
          JsonObject status = admin.service().call(operation.method(), operation.path(), null);
          AnswerFormat format = admin.format();
          out.print(
              format.form() == AnswerFormat.Form.table && format.fields().isEmpty()
                  ? screen(status)
                  : format.print(status));
          return ExitCode.OK;
        });
  }

  private static String screen(JsonObject status) {
    StringBuilder text = new StringBuilder();
    text.append(
        "bourse %s, schema %s, processes: %s, at %s\n"
            .formatted(
                Table.cell(status.getValue("version")),
                status.getValue("schema"),
                status.getValue("processes"),
                Table.cell(status.getValue("as_of"))));
    text.append(
        Table.rows(objects(status, "pools").stream().map(SiteStatusCommand::pool).toList()));
    long leftOff = status.getLong("pools_left_off");
    if (leftOff > 0) {
      text.append("and %d pools more\n".formatted(leftOff));
    }
    text.append("\n").append(revenue(status));
    text.append("nodes in quarantine: %s\n".formatted(status.getValue("quarantined_nodes")));
    text.append(Table.rows(objects(status, "quarantined_longest")));
    JsonObject holds = status.getJsonObject("holds");
    text.append(
        "on hold for money: grace %s, notice %s, enforce %s, not acted upon %s; by operators: %s\n"
            .formatted(
                holds.getValue("grace"),
                holds.getValue("notice"),
                holds.getValue("enforce"),
                holds.getValue("not_acted_upon"),
                holds.getValue("by_operators")));
    text.append(Table.rows(objects(status, "held_longest")));
    if (holds.getLong("by_operators") > 0) {
      text.append("see: bourse admin orgs list --held operator\n");
    }
    text.append(queue(status, "reviews", "reviews waiting"));
    text.append(queue(status, "uploads", "uploads open"));
    text.append(queue(status, "mails", "mails waiting"));
    text.append(queue(status, "webhook_deliveries", "webhook events waiting"));
    text.append(disk(status.getJsonObject("disk")));
    return text.append(clock(status.getJsonObject("clock"))).toString();
  }

  /** Returns nothing if the answer has no revenue; a process of an earlier release sends none. */
  private static String revenue(JsonObject status) {
    Long micros = status.getLong("month_revenue_micros");
    return micros == null
        ? ""
        : String.format(
            Locale.ROOT, "revenue posted in %s: $%.2f\n", status.getValue("month"), micros / 1e6);
  }

  private static List<JsonObject> objects(JsonObject status, String field) {
    List<JsonObject> all = new ArrayList<>();
    status.getJsonArray(field, new JsonArray()).forEach(one -> all.add((JsonObject) one));
    return all;
  }

  private static JsonObject pool(JsonObject pool) {
    JsonObject nodes = pool.getJsonObject("nodes");
    JsonObject lease = pool.getJsonObject("lease");
    return new JsonObject()
        .put("pool", pool.getValue("pool"))
        .put("site", pool.getValue("site"))
        .put("nodes", nodes.getValue("all"))
        .put("held", nodes.getValue("held"))
        .put("free", nodes.getValue("free"))
        .put(
            "out",
            nodes.getLong("quarantined")
                + nodes.getLong("cordoned")
                + nodes.getLong("backing_off")
                + nodes.getLong("unreachable"))
        .put("reclaiming", nodes.getValue("reclaiming"))
        .put("wanted", pool.getValue("demand_nodes"))
        .put("price", pool.getValue("clearing_price_per_gpu_hour"))
        .put(
            "tick",
            pool.getValue("paused_since") == null
                ? tick(pool.getLong("tick_overdue_ms"))
                : "paused: " + Table.cell(pool.getValue("pause_reason")))
        .put("run_by", lease == null ? "nobody" : lease.getValue("process"))
        .put("since", lease == null ? null : lease.getValue("since"));
  }

  private static String tick(@Nullable Long overdueMillis) {
    if (overdueMillis == null) {
      return "none yet";
    }
    return overdueMillis < 1_000
        ? "on time"
        : String.format(Locale.ROOT, "%.1f s late", overdueMillis / 1e3);
  }

  private static String queue(JsonObject status, String field, String label) {
    JsonObject queue = status.getJsonObject(field);
    Object oldest = queue.getValue("oldest_at");
    return "%s: %s%s\n"
        .formatted(
            label,
            queue.getValue("waiting"),
            oldest == null ? "" : ", the oldest since " + Table.cell(oldest));
  }

  private static String disk(@Nullable JsonObject disk) {
    return disk == null
        ? "disk: unknown\n".formatted()
        : String.format(
            Locale.ROOT,
            "disk: %.1f GiB free of %.1f GiB\n",
            disk.getLong("free_bytes") / GIB,
            disk.getLong("total_bytes") / GIB);
  }

  private static String clock(JsonObject clock) {
    return clock.getValue("confirmed_at") == null
        ? "clock: in doubt, confirmed in %d s at the earliest; nothing is posted or deleted\n"
            .formatted((clock.getLong("confirmed_in_ms") + 999) / 1_000)
        : "clock: confirmed\n".formatted();
  }
}
