package dev.bourse.docs;

import io.vertx.core.json.JsonObject;
import java.util.List;

/** The {@code curl} command that tries an operation. */
final class CurlCommand {
  private CurlCommand() {}

  /**
   * The command for copying; readers replace {@code $token} and path parameters.
   *
   * @param example a body, or empty for none
   */
  static String of(
      DocumentedOperation operation, JsonObject document, String baseUrl, String example) {
    StringBuilder command = new StringBuilder("curl -sS ");
    if (!List.of("get", "post").contains(operation.method())
        || (operation.method().equals("post") && example.isEmpty())) {
      command.append("-X ").append(operation.signature(), 0, operation.method().length());
      command.append(' ');
    }
    command.append("'").append(baseUrl).append(operation.path()).append("'");
    if (!operation.credentials(document).contains("no token")) {
      command.append(" \\\n  -H \"Authorization: Bearer $token\"");
    }
    if (example.startsWith("{")) {
      command.append(" -H 'Content-Type: application/json' \\\n  -d '");
      command.append(new JsonObject(example).encode().replace("'", "'\\''")).append("'");
    }
    return command.toString();
  }
}
