package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * Makes a declaration once, whatever becomes of the answers: each try names the version it was
 * decided upon, so a second one after a lost answer is refused where the first arrived. That
 * refusal is told from another writer's by what stands declared.
 */
final class Declaring {
  /** A write cadence is 5 s and a restart some seconds; whoever waits longer wants to know why. */
  private static final int TRIES = 6;

  private static final long LONGEST_WAIT_SECONDS = 30;

  private final Service service;
  private final CommandEnvironment environment;

  Declaring(Service service, CommandEnvironment environment) {
    this.service = service;
    this.environment = environment;
  }

  /**
   * Declares.
   *
   * @param declaration as the contract has it, with its cluster and the version it was decided upon
   * @return the capacity after it
   * @throws Refused by the service; or because another writer came first
   */
  JsonObject make(JsonObject declaration) throws Refused {
    boolean mayHaveArrived = false;
    for (int tries = 1; ; tries++) {
      try {
        return service.call("PUT", ClusterCommand.CAPACITY, declaration);
      } catch (Refused refused) {
        if (refused.is("version-mismatch")) {
          JsonObject now = ClusterCommand.capacity(service, declaration.getString("cluster"));
          if (mayHaveArrived && isIn(declaration, now)) {
            return now;
          }
          throw new Refused(
              ExitCode.REFUSED,
              "another writer came first: the cluster is at version %d by %s; nothing was written"
                      .formatted(now.getLong("version"), writer(now))
                  + "\nLook at it with bourse status, then run this again");
        }
        if (!refused.isTransient()
            || tries == TRIES
            || refused.retryAfterSeconds() > LONGEST_WAIT_SECONDS) {
          throw refused;
        }
        mayHaveArrived |= refused.status() == 0 || refused.status() >= 500;
        environment.await(Duration.ofSeconds(Math.max(1, refused.retryAfterSeconds())));
      }
    }
  }

  /** Whether the capacity is what this declaration leaves when nobody has written since. */
  private static boolean isIn(JsonObject declaration, JsonObject now) {
    JsonObject declared = now.getJsonObject("declared");
    return declared != null
        && now.getLong("version") == declaration.getLong("expected_version") + 1
        && declared.getInteger("max_gpus").equals(declaration.getInteger("max_gpus"))
        && price(declared).compareTo(price(declaration)) == 0;
  }

  private static BigDecimal price(JsonObject terms) {
    return new BigDecimal(terms.getValue("max_price_per_gpu_hour").toString());
  }

  private static String writer(JsonObject now) {
    JsonObject declared = now.getJsonObject("declared");
    return declared == null ? "nobody" : declared.getString("updated_by");
  }
}
