package dev.bourse.client.capacity;

import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.AnswerFormat;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bourse logs}. */
@Command(
    name = "logs",
    description =
        "Shows declarations and the market's grants, notices and reclaims, the newest last; without"
            + " -c, of all clusters.",
    mixinStandardHelpOptions = true)
final class LogsCommand extends ClusterCommand {
  /** The most entries that the service returns; the audit trail has the rest. */
  private static final int MOST = 400;

  @Option(
      names = {"-n", "--lines"},
      paramLabel = "N",
      description = "How many at most, 1 to 400 (default: ${DEFAULT-VALUE}).",
      defaultValue = "30")
  private int lines = 30;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  LogsCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    if (lines < 1 || lines > MOST) {
      throw new RefusedException(ExitCode.USAGE, "-n: " + lines + " is not between 1 and " + MOST);
    }
    Service service = signedIn();
    List<JsonObject> entries = new ArrayList<>();
    boolean more = true;
    for (int page = 0; more && entries.size() < lines; page++) {
      JsonObject answer = service.call("GET", about("/api/vm/activity?page=" + page), null);
      answer.getJsonArray("entries").forEach(entry -> entries.add((JsonObject) entry));
      more = answer.getBoolean("more");
    }
    List<JsonObject> newest = entries.subList(0, Math.min(lines, entries.size()));
    Collections.reverse(newest);
    if (format.get().form() != AnswerFormat.Form.table || !format.get().fields().isEmpty()) {
      JsonObject answer = new JsonObject().put("entries", new JsonArray(newest));
      out().print(format.get().print(answer));
      return;
    }
    newest.forEach(entry -> out().println(line(entry)));
    if (newest.isEmpty()) {
      err().println("nothing happened yet");
    }
  }

  private static String line(JsonObject entry) {
    String reason =
        entry.getString("reason") == null ? "" : " (" + Table.cell(entry.getValue("reason")) + ')';
    return "%s  %s  %s%s"
        .formatted(
            Table.cell(entry.getValue("ts")),
            Table.cell(entry.getValue("cluster")),
            "request".equals(entry.getString("kind"))
                ? "%s declared %s GPUs at no more than %s"
                    .formatted(
                        Table.cell(entry.getValue("actor")),
                        Table.cell(entry.getValue("max_gpus")),
                        Table.cell(entry.getValue("max_price_per_gpu_hour")))
                : Table.cell(entry.getValue("note")),
            reason);
  }
}
