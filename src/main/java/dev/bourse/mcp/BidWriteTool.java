package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Preview;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.json.JsonRecord;
import dev.bourse.schemas.k8s.BidJson;
import dev.bourse.schemas.vm.CapacityDeclarationJson;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Declares the capacity of a cluster or swaps one of its nodes, in two phases. The preview for a VM
 * cluster reads its capacity, and is recorded as a read. Nodes are named as on the cluster's
 * surface.
 */
public final class BidWriteTool implements Tool {
  private static final String NAME = "bid_write";

  private static final String DECLARE = "declare";
  private static final String SWAP = "swap";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "action",
          Set.of("kind", "phase", "cluster", "confirm_token"),
          Map.of(
              DECLARE,
              Stream.concat(
                      Stream.of(
                          "max_gpus", "max_price_per_gpu_hour", "expected_version", "release"),
                      Conditions.Changes.FIELDS.stream())
                  .collect(Collectors.toUnmodifiableSet()),
              SWAP,
              Set.of("node")));

  private final CapacityService capacity;
  private final CapacityService k8s;
  private final ConfirmTokens confirms;

  /**
   * @param capacity of the VM surface
   * @param k8s of the Kubernetes surface
   */
  public BidWriteTool(CapacityService capacity, CapacityService k8s, ConfirmTokens confirms) {
    this.capacity = capacity;
    this.k8s = k8s;
    this.confirms = confirms;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Optional<Scope> scope(JsonObject arguments) {
    return Optional.of(ClusterKind.of(arguments).write);
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    boolean preview = arguments.getString("phase").equals("preview");
    String action = arguments.getString("action", DECLARE);
    JsonObject chosen = arguments.copy().put("action", action);
    FIELDS.check(chosen);
    if (action.equals(SWAP)) {
      return preview ? previewSwap(caller, arguments) : confirmSwap(caller, arguments);
    }
    FIELDS.require(chosen, "max_price_per_gpu_hour");
    if (ClusterKind.of(arguments) == ClusterKind.VM && arguments.getValue("max_gpus") == null) {
      throw ApiException.of(ErrorCode.BAD_REQUEST, "max_gpus is missing; kind vm needs it");
    }
    return preview
        ? surface(arguments)
            .readLimits(caller)
            .compose(limits -> preview(caller, arguments, limits))
        : confirm(caller, arguments);
  }

  private CapacityService surface(JsonObject arguments) {
    return switch (ClusterKind.of(arguments)) {
      case VM -> capacity;
      case K8S -> k8s;
    };
  }

  private Future<Buffer> preview(Principal caller, JsonObject arguments, TokenLimits limits) {
    CapacityService surface = surface(arguments);
    CapacityService.Nominated named =
        surface.nominate(
            caller, Optional.ofNullable(arguments.getString("cluster")), release(arguments));
    long version = arguments.getLong("expected_version", named.version());
    return surface
        .preview(
            caller,
            Optional.of(named.cluster()),
            order(caller, arguments, named.release(), version))
        .map(
            preview -> {
              Preview.Expected expected = preview.orElseThrow();
              JsonObject outlook = outlook(arguments, named.cluster(), version, expected, limits);
              return preview(caller, arguments, outlook, named, expected);
            });
  }

  private Buffer preview(
      Principal caller,
      JsonObject arguments,
      JsonObject outlook,
      CapacityService.Nominated named,
      Preview.Expected expected) {
    long version = outlook.getLong("version");
    JsonObject json =
        outlook
            .put("releases", names(expected, expected.victims()))
            .put("noticed", names(expected, expected.noticed()))
            .put("unprotected", names(expected, expected.unprotected()))
            .put("nominations", list(named.nominations()))
            .put("replaced_nominations", list(named.replaced()))
            .put("unknown_nodes", list(named.unknown()))
            .put("refusal", named.refusal().map(ApiException::fields).orElse(null));
    return state(
        named.refusal().isPresent()
            ? json.putNull("confirm_token").putNull("expires_at")
            : confirmable(json, caller, arguments, named.cluster(), version),
        expected.state().encoded().json());
  }

  /** Returns the names of nodes, null for one that has none yet. */
  private static JsonArray names(Preview.Expected expected, List<Allocation> nodes) {
    Cluster cluster = expected.state().cluster();
    return list(nodes.stream().map(cluster::nameOf).toList());
  }

  private Future<Buffer> confirm(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                surface(arguments)
                    .declareCapacity(
                        caller,
                        Optional.of(confirmation.subject()),
                        order(caller, arguments, release(arguments), confirmation.version()),
                        List.of(confirms.use(confirmation))))
        .map(after -> state(written(arguments, after), after.encoded().json()));
  }

  private static Buffer state(JsonObject answer, Buffer state) {
    return EncodedJson.with(answer, "state", state);
  }

  private static Capacity.Declare order(
      Principal caller, JsonObject arguments, Optional<List<String>> release, long version) {
    JsonObject body = arguments.copy().put("expected_version", version);
    release.ifPresent(nodes -> body.put("release", new JsonArray(nodes)));
    return switch (ClusterKind.of(arguments)) {
      case VM -> Capacity.Declare.of(caller.actor(), CapacityDeclarationJson.read(body));
      case K8S ->
          Capacity.Declare.of(
              caller.actor(),
              BidJson.read(
                  body.put(
                      "limit_price_per_gpu_hour", arguments.getValue("max_price_per_gpu_hour"))));
    };
  }

  private static Optional<List<String>> release(JsonObject arguments) {
    return Optional.ofNullable(arguments.getJsonArray("release"))
        .map(release -> release.stream().map(String.class::cast).toList());
  }

  private Future<Buffer> previewSwap(Principal caller, JsonObject arguments) {
    String node = FIELDS.text(arguments, "node");
    ClusterView standing =
        surface(arguments)
            .previewSwap(caller, Optional.ofNullable(arguments.getString("cluster")), node);
    String cluster = standing.cluster().name();
    long version = standing.cluster().version();
    JsonObject answer =
        answer(arguments, cluster, version)
            .put("action", SWAP)
            .put("node", node)
            .put("releases", list(List.of(node)));
    return Future.succeededFuture(
        state(confirmable(answer, caller, arguments, cluster, version), standing.encoded().json()));
  }

  private Future<Buffer> confirmSwap(Principal caller, JsonObject arguments) {
    String node = FIELDS.text(arguments, "node");
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                surface(arguments)
                    .swapNode(
                        caller,
                        confirmation.subject(),
                        node,
                        confirmation.version(),
                        List.of(confirms.use(confirmation))))
        .map(
            swap ->
                answer(arguments, swap.cluster(), swap.version())
                    .put("action", SWAP)
                    .put("node", node)
                    .put("requested_at", Times.rfc3339(swap.requestedAtMillis()))
                    .put("lapses_at", Times.rfc3339(swap.lapsesAtMillis()))
                    .toBuffer());
  }

  private static JsonObject answer(JsonObject arguments, String cluster, long version) {
    return new JsonObject()
        .put("phase", arguments.getString("phase"))
        .put("kind", arguments.getString("kind"))
        .put("cluster", cluster)
        .put("version", version);
  }

  /**
   * The part of a preview without the nodes: the highest cost, and the expected outcome of the next
   * tick.
   */
  private static JsonObject outlook(
      JsonObject arguments,
      String cluster,
      long version,
      Preview.Expected expected,
      TokenLimits limits) {
    TickPreview nextTick = expected.nextTick();
    return answer(arguments, cluster, version)
        .put("most_per_hour", mostPerHour(arguments, expected.state()))
        .put("cost_per_hour", Price.toUsd(expected.costCents()))
        .put("worst_case_usd", expected.worstCaseUsd())
        .put("nodes_won", nextTick.nodesWon())
        .put("nodes_granted", nextTick.nodesGranted())
        .put("nodes_unfilled", nextTick.nodesUnfilled())
        .put("minimum_missed", TickPreview.MinimumMissed.label(nextTick.minimumMissed()))
        .put("clearing_price_per_gpu_hour", Price.toUsdOrNull(nextTick.clearingCents()))
        .put("admission_price_per_gpu_hour", Price.toUsdOrNull(nextTick.admissionCents()))
        .put("paused", nextTick.paused())
        .put("tick_at", Times.rfc3339(nextTick.tickAtMillis()))
        .put("worst_case", worstCase(arguments, expected.state()))
        .put("limits", JsonRecord.treeOrNull(limits.toJson()));
  }

  private JsonObject confirmable(
      JsonObject preview, Principal caller, JsonObject arguments, String cluster, long version) {
    ConfirmTokens.IssuedToken issued = confirms.issue(caller, NAME, arguments, cluster, version);
    return preview
        .put("confirm_token", issued.token())
        .put("expires_at", Times.rfc3339(issued.expiresAtMillis()));
  }

  private static JsonObject written(JsonObject arguments, ClusterView after) {
    return answer(arguments, after.cluster().name(), after.cluster().version())
        .put("most_per_hour", mostPerHour(arguments, after));
  }

  private static BigDecimal price(JsonObject arguments) {
    return new BigDecimal(arguments.getNumber("max_price_per_gpu_hour").toString());
  }

  /** The highest cost per hour of the declared size, which a bid may leave unchanged. */
  private static double mostPerHour(JsonObject arguments, ClusterView declared) {
    Declaration bid = Objects.requireNonNull(declared.cluster().declared(), "declared just now");
    return price(arguments).multiply(BigDecimal.valueOf(bid.maxGpus())).doubleValue();
  }

  /** The highest cost and its duration, as a sentence for the user. */
  private static String worstCase(JsonObject arguments, ClusterView declared) {
    Declaration bid = Objects.requireNonNull(declared.cluster().declared(), "declared just now");
    Long until = bid.untilMillis();
    return "at most $%s/h until %s"
        .formatted(
            price(arguments)
                .multiply(BigDecimal.valueOf(bid.maxGpus()))
                .setScale(2, RoundingMode.UNNECESSARY),
            until == null ? "it is changed" : Times.rfc3339(until));
  }

  private static JsonArray list(List<? extends @Nullable String> texts) {
    return new JsonArray(texts);
  }
}
