package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import picocli.CommandLine.Command;

/** {@code bourse down}. */
@Command(
    name = "down",
    description = {
      "Declares 0 GPUs: every node of the cluster is given back, with all data on it.",
      "",
      "Says first which nodes are lost, and asks. Billing ends with it."
    },
    mixinStandardHelpOptions = true)
final class DownCommand extends DeclarationCommand {
  DownCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  JsonObject declaration(JsonObject capacity) throws RefusedException {
    JsonObject declared = capacity.getJsonObject("declared");
    if (declared == null || declared.getInteger("max_gpus") == 0) {
      throw new RefusedException(
          ExitCode.REFUSED, "cluster " + capacity.getString("cluster") + " declares nothing");
    }
    return new JsonObject()
        .put("max_gpus", 0)
        .put("max_price_per_gpu_hour", declared.getValue("max_price_per_gpu_hour"));
  }
}
