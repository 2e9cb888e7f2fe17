package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.SetDownload;
import dev.bourse.client.transfer.SetManifest;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint show}. */
@Command(
    name = "show",
    description = "Shows an item of the organization or of the public feed, and a set's files.",
    mixinStandardHelpOptions = true)
final class ShowCommand extends CheckpointCommand.Subcommand {
  @Parameters(paramLabel = "ID", description = "The item.")
  private String id = "";

  @Option(
      names = {"-o", "--output"},
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "table")
  private CheckpointCommand.Output output = CheckpointCommand.Output.table;

  ShowCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedInOrAnybody();
    FoundItem found = FoundItem.of(service, id);
    JsonObject shown = found.facts().copy();
    if (found.isSet()) {
      shown.put("manifest", new JsonArray(files(service, found)));
    }
    if (output == CheckpointCommand.Output.json) {
      out().println(shown.encodePrettily());
    } else {
      out().print(Table.fields(shown));
    }
  }

  private List<JsonObject> files(Service service, FoundItem found) throws RefusedException {
    List<JsonObject> rows = new ArrayList<>();
    if (found.isSet() && found.facts().getString("sha256") != null) {
      SetManifest manifest =
          new SetDownload(service, environment(), folder(), err(), 1)
              .manifest(found.path(), found.facts());
      for (SetManifest.Entry file : manifest.files()) {
        rows.add(
            new JsonObject()
                .put("bytes", file.bytes())
                .put("sha256", file.sha256())
                // The last column, where a table does not truncate it.
                .put("path", file.path()));
      }
    }
    return rows;
  }
}
