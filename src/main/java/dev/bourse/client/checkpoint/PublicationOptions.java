package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.FileUpload;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a publication. */
final class PublicationOptions {
  /** The most items of the same name that are searched for the replaced one. */
  private static final int LOOKED_AT = 100;

  @Option(
      names = "--title",
      paramLabel = "TEXT",
      description = "Default: that of the item it replaces, else its name.")
  private @Nullable String title;

  @Option(
      names = "--description",
      paramLabel = "TEXT",
      description = "A description of it. Default: that of the item it replaces.")
  private @Nullable String description;

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

  /** Whether the options apply to a single item only. */
  boolean isOneItem() {
    return title != null || !(replace.equals("true") || replace.equals("false"));
  }

  /**
   * The item of this name that a publication would replace; empty when there is none, or when the
   * token is a publishing credential, which reads nothing. The service then decides by the
   * announcement alone.
   */
  Optional<JsonObject> replaced(Service service, String name) throws RefusedException {
    if (replace.equals("false") || service.onlyPublishes()) {
      return Optional.empty();
    }
    if (!replace.equals("true")) {
      return Optional.of(service.call("GET", FileUpload.item(replace), null));
    }
    String path = "%s?q=%s&limit=%d".formatted(FileUpload.FAMILY, Service.encoded(name), LOOKED_AT);
    return service.call("GET", path, null).getJsonArray("checkpoints").stream()
        .map(JsonObject.class::cast)
        .filter(item -> name.equals(item.getString("filename")))
        .findFirst();
  }

  /** Whether the item has these bytes and this description already. */
  boolean changesNothing(JsonObject item, long bytes, String sha256) {
    return title == null
        && description == null
        && "ready".equals(item.getString("status"))
        && (isPublic ? "public" : "org").equals(item.getString("visibility"))
        && bytes == item.getLong("bytes")
        && sha256.equals(item.getString("sha256"));
  }

  boolean isPublic() {
    return isPublic;
  }

  /**
   * The announcement of a publication.
   *
   * @param name of the file or the folder
   * @param replaced the item that it replaces
   */
  JsonObject of(String name, Optional<JsonObject> replaced) {
    String knownTitle = replaced.map(item -> item.getString("title")).orElse(name);
    String knownDescription = replaced.map(item -> item.getString("description", "")).orElse("");
    JsonObject publication =
        new JsonObject()
            .put("title", title == null ? knownTitle : title)
            .put("description", description == null ? knownDescription : description)
            .put("filename", name)
            .put("visibility", isPublic ? "public" : "org");
    return switch (replace) {
      case "true" -> publication.put("replace", true);
      case "false" -> publication.put("replace", false);
      default -> publication.put("replace", replace);
    };
  }
}
