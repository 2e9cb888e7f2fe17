package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileUpload;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse checkpoint list}. */
@Command(
    name = "list",
    description = "Lists the organization's files and sets, newest first.",
    mixinStandardHelpOptions = true)
final class ListCommand extends CheckpointCommand.Subcommand {
  private static final int PAGE = 100;

  /** Enough for a reader, and few enough requests for a budget. */
  private static final int MAX_ITEMS = 10_000;

  private static final List<String> COLUMNS =
      List.of(
          "id",
          "filename",
          "files",
          "total_bytes",
          "visibility",
          "status",
          "revision",
          "created_at",
          "title");

  @Option(
      names = "-q",
      paramLabel = "TEXT",
      description = "Only items whose title, description or file name contains this.")
  private @Nullable String text;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many at most, 1 to 10000 (default: ${DEFAULT-VALUE}).",
      defaultValue = "50")
  private int limit = 50;

  @Option(
      names = {"-o", "--output"},
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "table")
  private CheckpointCommand.Output output = CheckpointCommand.Output.table;

  ListCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    if (limit < 1 || limit > MAX_ITEMS) {
      throw new RefusedException(
          ExitCode.USAGE, "--limit: " + limit + " is not between 1 and " + MAX_ITEMS);
    }
    Service service = signedIn();
    JsonArray items = new JsonArray();
    JsonObject page = page(service, null, limit);
    items.addAll(page.getJsonArray("checkpoints"));
    while (page.getString("cursor") != null && items.size() < limit) {
      page = page(service, page.getString("cursor"), limit - items.size());
      items.addAll(page.getJsonArray("checkpoints"));
    }
    boolean more = page.getString("cursor") != null;
    if (output == CheckpointCommand.Output.json) {
      out().println(page.copy().put("checkpoints", items).encodePrettily());
      return;
    }
    List<JsonObject> rows = new ArrayList<>();
    for (Object item : items) {
      JsonObject row = new JsonObject();
      JsonObject facts = (JsonObject) item;
      COLUMNS.forEach(column -> row.put(column, facts.getValue(column)));
      row.put("total_bytes", facts.getValue("total_bytes", facts.getValue("bytes")));
      rows.add(row);
    }
    out().print(Table.rows(rows));
    // Keeps the message on standard error after the list when both go to one terminal.
    out().flush();
    if (rows.isEmpty()) {
      err().println("none");
    } else if (more) {
      err().println("more follow: --limit " + Math.min(MAX_ITEMS, limit * 10L));
    }
  }

  private JsonObject page(Service service, @Nullable String before, int left)
      throws RefusedException {
    StringBuilder query = new StringBuilder("?limit=").append(Math.min(PAGE, left));
    if (text != null) {
      query.append("&q=").append(Service.encoded(text));
    }
    if (before != null) {
      query.append("&before=").append(Service.encoded(before));
    }
    return service.call("GET", FileUpload.FAMILY + query, null);
  }
}
