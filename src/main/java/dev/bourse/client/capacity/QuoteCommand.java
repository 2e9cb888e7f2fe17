package dev.bourse.client.capacity;

import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bourse quote}. */
@Command(
    name = "quote",
    description = {
      "Tells whether a bid would win now, and at which price; writes nothing.",
      "",
      "The pool is the cluster's unless another is named."
    },
    mixinStandardHelpOptions = true)
final class QuoteCommand extends ClusterCommand {
  @Option(names = "--gpus", paramLabel = "N", required = true, description = "GPUs to bid for.")
  private int gpus;

  @Option(
      names = "--max-price",
      paramLabel = "USD",
      required = true,
      description = "The most to pay for a GPU-hour.")
  private BigDecimal maxPrice = BigDecimal.ZERO;

  @Option(names = "--pool", paramLabel = "NAME", description = "The pool to bid in.")
  private @Nullable String pool;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  QuoteCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Service service = signedIn();
    String name = pool != null ? pool : capacity(service).getJsonObject("pool").getString("pool");
    String path =
        "/api/market/quote?pool=%s&gpus=%d&price=%s"
            .formatted(Service.encoded(name), gpus, maxPrice.toPlainString());
    out().print(format.get().print(service.call("GET", path, null)));
  }
}
