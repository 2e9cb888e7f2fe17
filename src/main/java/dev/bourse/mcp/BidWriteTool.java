package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.ClusterView;
import dev.bourse.core.ApiError;
import dev.bourse.core.Times;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Declares capacity, in two phases. The preview is a read of the capacity, and recorded as one. */
public final class BidWriteTool implements Tool {
  private static final String NAME = "bid_write";

  private final CapacityService capacity;
  private final ConfirmTokens confirms;

  public BidWriteTool(CapacityService capacity, ConfirmTokens confirms) {
    this.capacity = capacity;
    this.confirms = confirms;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(Scope.CAPACITY_WRITE);
  }

  @Override
  public Future<JsonObject> call(Principal caller, JsonObject arguments) {
    return arguments.getString("phase").equals("preview")
        ? Future.succeededFuture(preview(caller, arguments))
        : confirm(caller, arguments);
  }

  private JsonObject preview(Principal caller, JsonObject arguments) {
    ClusterView now =
        capacity.readCapacity(caller, Optional.ofNullable(arguments.getString("cluster")));
    String cluster = now.cluster().name();
    long version = arguments.getLong("expected_version", now.cluster().version());
    CapacityService.Preview preview =
        capacity.preview(caller, declared(arguments, cluster, version));
    Optional<ApiError> refusal = preview.refusal();
    JsonObject json =
        new JsonObject()
            .put("phase", "preview")
            .put("kind", "vm")
            .put("cluster", cluster)
            .put("version", version)
            .put("most_per_hour", mostPerHour(arguments))
            .put("releases", list(preview.releases()))
            .put("nominations", list(preview.nominations()))
            .put("replaced_nominations", list(preview.replacedNominations()))
            .put("unknown_nodes", list(preview.unknownNodes()))
            .put("refusal", refusal.map(Tools::json).orElse(null))
            .put("state", new JsonObject(preview.after().encoded().json()));
    if (refusal.isPresent()) {
      return json.putNull("confirm_token").putNull("expires_at");
    }
    ConfirmTokens.Issued issued = confirms.issue(caller, NAME, arguments, cluster, version);
    return json.put("confirm_token", issued.token())
        .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
  }

  private Future<JsonObject> confirm(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                ConfirmTokens.once(
                    capacity.declareCapacity(
                        caller,
                        declared(arguments, confirmation.subject(), confirmation.version()),
                        List.of(confirms.use(confirmation)))))
        .map(
            after ->
                new JsonObject()
                    .put("phase", "confirm")
                    .put("kind", "vm")
                    .put("cluster", after.cluster().name())
                    .put("version", after.cluster().version())
                    .put("most_per_hour", mostPerHour(arguments))
                    .put("state", new JsonObject(after.encoded().json())));
  }

  private static CapacityService.Declared declared(
      JsonObject arguments, String cluster, long version) {
    return new CapacityService.Declared(
        Optional.of(cluster),
        arguments.getInteger("max_gpus"),
        price(arguments),
        Optional.ofNullable(arguments.getJsonArray("release"))
            .map(release -> release.stream().map(String.class::cast).toList()),
        version);
  }

  private static BigDecimal price(JsonObject arguments) {
    return new BigDecimal(arguments.getNumber("max_price_per_gpu_hour").toString());
  }

  private static double mostPerHour(JsonObject arguments) {
    return price(arguments)
        .multiply(BigDecimal.valueOf(arguments.getInteger("max_gpus")))
        .doubleValue();
  }

  private static JsonArray list(List<? extends @Nullable String> texts) {
    return new JsonArray(texts);
  }
}
