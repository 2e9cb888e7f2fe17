package dev.bourse.client;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.client.transfer.FileUpload;
import dev.bourse.client.transfer.LocalFile;
import dev.bourse.client.transfer.UploadStates;
import dev.bourse.core.Text;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse checkpoint push}. */
@Command(
    name = "push",
    description = {
      "Publishes files.",
      "",
      """
      A file of more than 32 MiB is sent in pieces. When the command is interrupted, the same \
      command resumes the upload, for as long as the service keeps what it has (7 days).\
      """
    },
    mixinStandardHelpOptions = true)
final class PushCommand extends CheckpointCommand.Subcommand {
  @Parameters(arity = "1..*", paramLabel = "FILE", description = "What to publish.")
  private List<Path> files = List.of();

  @Option(names = "--title", paramLabel = "TEXT", description = "Default: the file's name.")
  private @Nullable String title;

  @Option(names = "--description", paramLabel = "TEXT", description = "A description of the file.")
  private String description = "";

  @Option(
      names = "--public",
      description = "Publish for everybody, after a review. Default: for the organization alone.")
  private boolean isPublic;

  @Option(
      names = "--replace",
      paramLabel = "true|false|ID",
      description =
          """
          true: replace the item of this file name, if there is one; false: always make a new item; \
          an item's id: replace that one (default: ${DEFAULT-VALUE}).\
          """,
      defaultValue = "true")
  private String replace = "true";

  @Option(
      names = "--content-type",
      paramLabel = "TYPE",
      description = "The media type it is served with. Default: by the file's name.")
  private @Nullable String contentType;

  PushCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  void run() throws Refused {
    boolean isOneItem = title != null || !(replace.equals("true") || replace.equals("false"));
    if (files.size() > 1 && isOneItem) {
      throw new Refused(
          ExitCode.USAGE,
          "--title and --replace ID take one file; %d are given".formatted(files.size()));
    }
    Service service = signedIn();
    UploadStates states = new UploadStates(folder());
    states.sweep(environment().clock().instant());
    FileUpload sending = new FileUpload(service, environment(), states, err());
    for (Path given : files) {
      LocalFile file = LocalFile.look(given);
      JsonObject item = sending.publish(file, publication(file));
      out()
          .printf(
              "%s  %s  revision %d, %s  sha256 %s%n",
              Text.plain(item.getString("id")),
              Text.plain(item.getString("filename")),
              item.getLong("revision"),
              Text.plain(item.getString("status")),
              Text.plain(item.getString("sha256")));
      out().flush();
    }
  }

  private JsonObject publication(LocalFile file) {
    JsonObject publication =
        new JsonObject()
            .put("title", title == null ? file.name() : title)
            .put("description", description)
            .put("filename", file.name())
            .put("content_type", contentType == null ? file.contentType() : contentType)
            .put("visibility", isPublic ? "public" : "org");
    switch (replace) {
      case "true" -> publication.put("replace", true);
      case "false" -> publication.put("replace", false);
      default -> publication.put("replace", replace);
    }
    return publication;
  }
}
