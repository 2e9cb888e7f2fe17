package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.Times;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse up}. */
@Command(
    name = "up",
    description = {
      "Declares how many GPUs a cluster wants and the most it pays for each an hour.",
      "",
      """
      Says first what it would cost and which nodes would be lost, and asks. What is left out stays \
      as it is declared.\
      """
    },
    mixinStandardHelpOptions = true)
final class UpCommand extends DeclarationCommand {
  private static final String NONE = "none";

  /** A tick comes every ten seconds, so more frequent reads would show nothing new. */
  private static final Duration LOOK = Duration.ofSeconds(2);

  @Option(
      names = "--gpus",
      paramLabel = "N",
      description = "GPUs wanted, a multiple of those of a node.")
  private @Nullable Integer gpus;

  @Option(
      names = "--max-price",
      paramLabel = "USD",
      description = "The most one GPU-hour may cost.")
  private @Nullable BigDecimal maxPrice;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      description = "When it ends by itself: 8h from now, a time as RFC 3339 writes it, or none.")
  private @Nullable String until;

  @Option(
      names = "--max-spend",
      paramLabel = "USD",
      description = "How much it may cost from now on before it ends by itself, or none.")
  private @Nullable String maxSpend;

  @Option(
      names = "--min-gpus",
      paramLabel = "N",
      description = "Fewer GPUs than this are worth nothing: as many at once or no node; or none.")
  private @Nullable String minGpus;

  @Option(
      names = "--auto-swap",
      negatable = true,
      description = "Swap nodes whose health is failed without a request; --no-auto-swap: do not.")
  private @Nullable Boolean autoSwap;

  @Option(
      names = "--release",
      split = ",",
      paramLabel = "IP",
      description = "Nodes to give back first when the cluster shrinks.")
  private @Nullable List<String> release;

  @Option(
      names = "--wait",
      paramLabel = "SPAN",
      arity = "0..1",
      fallbackValue = "10m",
      description =
          """
          Wait until every node is active, this long at most (default when no span is given: \
          ${FALLBACK-VALUE}).\
          """)
  private @Nullable String wait;

  UpCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  JsonObject declaration(JsonObject capacity) throws RefusedException {
    JsonObject declared = capacity.getJsonObject("declared");
    if (gpus == null && declared == null) {
      throw new RefusedException(ExitCode.USAGE, "--gpus: nothing is declared yet; say how many");
    }
    if (maxPrice == null && declared == null) {
      throw new RefusedException(
          ExitCode.USAGE,
          "--max-price: nothing is declared yet; say the most that a GPU-hour may cost (bourse"
              + " market feed shows prices)");
    }
    JsonObject declaration =
        new JsonObject()
            .put("max_gpus", gpus == null ? declared.getInteger("max_gpus") : gpus)
            .put(
                "max_price_per_gpu_hour",
                maxPrice == null ? declared.getValue("max_price_per_gpu_hour") : maxPrice);
    if (minGpus != null) {
      declaration.put("min_gpus", isNone(minGpus) ? null : whole("--min-gpus", minGpus));
    }
    if (maxSpend != null) {
      declaration.put("max_spend_usd", isNone(maxSpend) ? null : number("--max-spend", maxSpend));
    }
    if (until != null) {
      declaration.put(
          "until",
          isNone(until)
              ? null
              : Times.rfc3339(
                  UntilOption.end(until, environment().clock().instant()).toEpochMilli()));
    }
    if (autoSwap != null) {
      declaration.put("auto_swap", autoSwap);
    }
    if (release != null) {
      declaration.put("release", new JsonArray(release));
    }
    return declaration;
  }

  private static boolean isNone(String typed) {
    return typed.equals(NONE);
  }

  private static BigDecimal number(String option, String typed) throws RefusedException {
    if (!typed.matches("[0-9]{1,12}([.][0-9]{1,6})?")) {
      throw new RefusedException(
          ExitCode.USAGE, option + ": '" + typed + "' is neither a number nor none");
    }
    return new BigDecimal(typed);
  }

  private static int whole(String option, String typed) throws RefusedException {
    try {
      return number(option, typed).intValueExact();
    } catch (ArithmeticException e) {
      throw new RefusedException(
          ExitCode.USAGE, option + ": '" + typed + "' is neither a number of GPUs nor none");
    }
  }

  @Override
  void after(Service service, JsonObject capacity) throws RefusedException {
    if (wait == null) {
      return;
    }
    Instant end = UntilOption.end(wait, environment().clock().instant());
    int wanted = capacity.getJsonObject("declared").getInteger("max_gpus");
    JsonObject now = capacity;
    while (activeGpus(now) < wanted) {
      if (!environment().clock().instant().isBefore(end)) {
        throw new RefusedException(
            ExitCode.UNAVAILABLE,
            "%d of %d GPUs are active after %s; the declaration stands, and bourse status shows it"
                .formatted(activeGpus(now), wanted, wait));
      }
      now = later(service, now, end);
      requireDeclared(wanted, now);
    }
    learn(now);
    err().println("every node is active");
  }

  /** Reads the capacity after a while; returns the known one if the service cannot be read. */
  private JsonObject later(Service service, JsonObject known, Instant end) throws RefusedException {
    environment().await(LOOK);
    try {
      return capacity(service, known.getString("cluster"));
    } catch (RefusedException e) {
      Instant again = environment().clock().instant().plusSeconds(e.retryAfterSeconds());
      if (!e.isTransient() || !again.isBefore(end)) {
        throw e;
      }
      environment().await(Duration.ofSeconds(e.retryAfterSeconds()));
      return known;
    }
  }

  /**
   * Fails when less is declared than before, because the missing nodes will never become active.
   */
  private static void requireDeclared(int wanted, JsonObject now) throws RefusedException {
    JsonObject declared = now.getJsonObject("declared");
    if (declared == null || declared.getInteger("max_gpus") < wanted) {
      throw new RefusedException(
          ExitCode.REFUSED,
          "the declaration ended or was replaced meanwhile: %d GPUs are declared now, not %d; bourse"
                  .formatted(declared == null ? 0 : declared.getInteger("max_gpus"), wanted)
              + " status and bourse logs show why");
    }
  }

  private static long activeGpus(JsonObject capacity) {
    return capacity.getJsonArray("allocations").stream()
            .map(JsonObject.class::cast)
            .filter(node -> "active".equals(node.getString("state")))
            .count()
        * capacity.getInteger("gpus_per_node");
  }
}
