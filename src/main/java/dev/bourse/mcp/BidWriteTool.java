package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Preview;
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
        ? preview(caller, arguments)
        : confirm(caller, arguments);
  }

  private Future<JsonObject> preview(Principal caller, JsonObject arguments) {
    CapacityService.Nominated named =
        capacity.nominate(
            caller, Optional.ofNullable(arguments.getString("cluster")), release(arguments));
    long version = arguments.getLong("expected_version", named.version());
    return capacity
        .preview(caller, declared(arguments, named.cluster(), named.release(), version))
        .map(preview -> told(caller, arguments, named, version, preview));
  }

  private JsonObject told(
      Principal caller,
      JsonObject arguments,
      CapacityService.Nominated named,
      long version,
      Preview preview) {
    Preview.Expected expected = preview.orElseThrow();
    JsonObject json =
        new JsonObject()
            .put("phase", "preview")
            .put("kind", "vm")
            .put("cluster", named.cluster())
            .put("version", version)
            .put("most_per_hour", mostPerHour(arguments))
            .put("releases", list(expected.victims().stream().map(Allocation::publicIp).toList()))
            .put("nominations", list(named.nominations()))
            .put("replaced_nominations", list(named.replaced()))
            .put("unknown_nodes", list(named.unknown()))
            .put("refusal", named.refusal().map(Tools::json).orElse(null))
            .put("state", new JsonObject(expected.state().encoded().json()));
    if (named.refusal().isPresent()) {
      return json.putNull("confirm_token").putNull("expires_at");
    }
    ConfirmTokens.Issued issued = confirms.issue(caller, NAME, arguments, named.cluster(), version);
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
                        declared(
                            arguments,
                            confirmation.subject(),
                            release(arguments),
                            confirmation.version()),
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
      JsonObject arguments, String cluster, Optional<List<String>> release, long version) {
    return new CapacityService.Declared(
        Optional.of(cluster), arguments.getInteger("max_gpus"), price(arguments), release, version);
  }

  private static Optional<List<String>> release(JsonObject arguments) {
    return Optional.ofNullable(arguments.getJsonArray("release"))
        .map(release -> release.stream().map(String.class::cast).toList());
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
