package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * Writes a declaration at most once, despite lost answers: each attempt names the version it is
 * based on, so a repeated write after a lost answer is refused if the first arrived. The declared
 * state then shows whether the refusal is due to that write or to another writer's.
 */
final class DeclarationWriter {
  /**
   * The write cadence is 5 s and a restart takes some seconds; a longer failure should be reported.
   */
  private static final int TRIES = 6;

  private static final long LONGEST_WAIT_SECONDS = 30;

  private final Service service;
  private final CommandEnvironment environment;

  DeclarationWriter(Service service, CommandEnvironment environment) {
    this.service = service;
    this.environment = environment;
  }

  /**
   * Writes a declaration.
   *
   * @param declaration in the form of the contract, with its cluster and the version it is based on
   * @return the capacity after it
   * @throws RefusedException by the service; or because another writer came first
   */
  JsonObject make(JsonObject declaration) throws RefusedException {
    boolean mayHaveArrived = false;
    for (int tries = 1; ; tries++) {
      try {
        return service.call("PUT", ClusterCommand.CAPACITY, declaration);
      } catch (RefusedException refused) {
        if (refused.is("version-mismatch")) {
          JsonObject now = ClusterCommand.capacity(service, declaration.getString("cluster"));
          if (mayHaveArrived && isInForce(declaration, now)) {
            return now;
          }
          throw concurrentWrite(now);
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

  /** The refusal of a declaration based on an old version. */
  static RefusedException concurrentWrite(JsonObject now) {
    return new RefusedException(
        ExitCode.REFUSED,
        "another writer changed the cluster first: it is at version %d by %s; nothing was written"
                .formatted(now.getLong("version"), writer(now))
            + "\nLook at it with bourse status, then run this again");
  }

  /** Whether the capacity equals the result of this declaration without later writes. */
  private static boolean isInForce(JsonObject declaration, JsonObject now) {
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
