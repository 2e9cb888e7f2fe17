package dev.bourse.mcp;

import dev.bourse.core.Text;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** The prompts that a user can start with: a single prompt for a careful bid. */
final class Prompts {
  private static final String BID = "bid";
  private static final int MAX_ARGUMENT = 128;

  JsonObject list() {
    return new JsonObject()
        .put(
            "prompts",
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("name", BID)
                        .put("title", "Bid for GPUs")
                        .put(
                            "description",
                            """
                            Look at a cluster and the market, preview a bid, and confirm it \
                            once the user agrees.\
                            """)
                        .put(
                            "arguments",
                            new JsonArray()
                                .add(argument("gpus", "How many GPUs.", true))
                                .add(argument("price", "US dollars per GPU-hour at most.", true))
                                .add(argument("cluster", "The cluster.", false)))));
  }

  private static JsonObject argument(String name, String description, boolean required) {
    return new JsonObject()
        .put("name", name)
        .put("description", description)
        .put("required", required);
  }

  JsonObject get(Message message) {
    String name = message.text("name");
    if (!BID.equals(name)) {
      throw RpcException.invalidParams(
          "no prompt '" + Text.shown(String.valueOf(name)) + "'; there is " + BID);
    }
    JsonObject given =
        message.params().getValue("arguments") instanceof JsonObject arguments
            ? arguments
            : new JsonObject();
    String cluster = given.containsKey("cluster") ? text(given, "cluster") : "the right one";
    String words =
        """
        Bid for %s GPUs at no more than $%s per GPU-hour on cluster %s. Read the capacity first. \
        Then call bid_write with phase preview, and show me what it would do: the nodes it \
        would release, what it may cost an hour, and anything it flags. Only when I agree, \
        call bid_write with phase confirm and the token of the preview.\
        """
            .formatted(text(given, "gpus"), text(given, "price"), cluster);
    return new JsonObject()
        .put("description", "Bid for GPUs")
        .put(
            "messages",
            new JsonArray()
                .add(
                    new JsonObject()
                        .put("role", "user")
                        .put("content", new JsonObject().put("type", "text").put("text", words))));
  }

  private static String text(JsonObject given, String name) {
    if (!(given.getValue(name) instanceof String text)
        || text.isEmpty()
        || text.length() > MAX_ARGUMENT) {
      throw RpcException.invalidParams(
          "params.arguments." + name + ": expected text of 1 to " + MAX_ARGUMENT + " characters");
    }
    return text;
  }
}
