package dev.bourse.client;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is said of whatever is published. */
final class PublicationOptions {
  @Option(names = "--title", paramLabel = "TEXT", description = "Default: its name.")
  private @Nullable String title;

  @Option(names = "--description", paramLabel = "TEXT", description = "A description of it.")
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
          true: replace the item of this name, if there is one; false: always make a new item; \
          an item's id: replace that one (default: ${DEFAULT-VALUE}).\
          """,
      defaultValue = "true")
  private String replace = "true";

  /** Whether they can be meant for one item only. */
  boolean isOneItem() {
    return title != null || !(replace.equals("true") || replace.equals("false"));
  }

  /**
   * What is announced of it.
   *
   * @param name of the file or the folder
   */
  JsonObject of(String name) {
    JsonObject publication =
        new JsonObject()
            .put("title", title == null ? name : title)
            .put("description", description)
            .put("filename", name)
            .put("visibility", isPublic ? "public" : "org");
    return switch (replace) {
      case "true" -> publication.put("replace", true);
      case "false" -> publication.put("replace", false);
      default -> publication.put("replace", replace);
    };
  }
}
