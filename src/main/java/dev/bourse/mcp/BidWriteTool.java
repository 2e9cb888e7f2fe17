package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import dev.bourse.access.TokenLimits;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.CapacityService;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Conditions;
import dev.bourse.capacity.Declaration;
import dev.bourse.capacity.Preview;
import dev.bourse.capacity.TickPreview;
import dev.bourse.core.ApiException;
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
 * Declares the capacity of a VM cluster, swaps one of its nodes, or bids for a Kubernetes cluster,
 * in two phases. The preview for a VM cluster reads its capacity, and is recorded as a read. Nodes
 * are named as on the cluster's surface.
 */
public final class BidWriteTool implements Tool {
  private static final String NAME = "bid_write";

  private static final ArgumentRules FIELDS =
      new ArgumentRules(
          "kind",
          Set.of(
              "phase",
              "cluster",
              "max_gpus",
              "max_price_per_gpu_hour",
              "expected_version",
              "until",
              "max_spend_usd",
              "confirm_token"),
          Map.of(
              ClusterKind.VM.label(),
              Stream.concat(Stream.of("release"), Conditions.Changes.FIELDS.stream())
                  .collect(Collectors.toUnmodifiableSet()),
              ClusterKind.K8S.label(),
              Set.of()));

  private static final String SWAP = "swap";

  private static final ArgumentRules SWAP_FIELDS =
      new ArgumentRules(
          "action",
          Set.of("kind", "phase", "cluster", "confirm_token"),
          Map.of(SWAP, Set.of("node")));

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
    return Optional.of(
        switch (ClusterKind.of(arguments)) {
          case VM -> Scope.CAPACITY_WRITE;
          case K8S -> Scope.BID_WRITE;
        });
  }

  @Override
  public Future<Buffer> call(Principal caller, JsonObject arguments) {
    boolean preview = arguments.getString("phase").equals("preview");
    if (SWAP.equals(arguments.getString("action"))) {
      SWAP_FIELDS.check(arguments);
      return preview ? previewSwap(caller, arguments) : confirmSwap(caller, arguments);
    }
    JsonObject declaration = arguments.copy();
    declaration.remove("action");
    FIELDS.check(declaration);
    FIELDS.require(arguments, "max_price_per_gpu_hour");
    return switch (ClusterKind.of(arguments)) {
      case VM -> {
        FIELDS.require(arguments, "max_gpus");
        yield preview
            ? capacity.readLimits(caller).compose(limits -> previewVm(caller, arguments, limits))
            : confirmVm(caller, arguments);
      }
      case K8S ->
          preview
              ? capacity.readLimits(caller).compose(limits -> previewK8s(caller, arguments, limits))
              : confirmK8s(caller, arguments);
    };
  }

  private Future<Buffer> previewVm(Principal caller, JsonObject arguments, TokenLimits limits) {
    CapacityService.Nominated named =
        capacity.nominate(
            caller, Optional.ofNullable(arguments.getString("cluster")), release(arguments));
    long version = arguments.getLong("expected_version", named.version());
    return capacity
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
            .put("releases", list(expected.victims().stream().map(Allocation::publicIp).toList()))
            .put("noticed", list(expected.noticed().stream().map(Allocation::publicIp).toList()))
            .put(
                "unprotected",
                list(expected.unprotected().stream().map(Allocation::publicIp).toList()))
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

  private Future<Buffer> confirmVm(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                capacity.declareCapacity(
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
    release.ifPresent(addresses -> body.put("release", new JsonArray(addresses)));
    return Capacity.Declare.of(caller.actor(), CapacityDeclarationJson.read(body));
  }

  private static Optional<List<String>> release(JsonObject arguments) {
    return Optional.ofNullable(arguments.getJsonArray("release"))
        .map(release -> release.stream().map(String.class::cast).toList());
  }

  private Future<Buffer> previewK8s(Principal caller, JsonObject arguments, TokenLimits limits) {
    ClusterView standing =
        k8s.readCapacity(caller, Optional.ofNullable(arguments.getString("cluster")));
    String cluster = standing.cluster().name();
    long version = arguments.getLong("expected_version", standing.cluster().version());
    return k8s.preview(caller, Optional.of(cluster), bid(caller, arguments, version))
        .map(
            preview -> {
              Preview.Expected expected = preview.orElseThrow();
              JsonObject json =
                  outlook(arguments, cluster, version, expected, limits)
                      .put(
                          "releases",
                          list(expected.victims().stream().map(Allocation::nodeId).toList()))
                      .put(
                          "noticed",
                          list(expected.noticed().stream().map(Allocation::nodeId).toList()))
                      .put(
                          "unprotected",
                          list(expected.unprotected().stream().map(Allocation::nodeId).toList()));
              return state(
                  confirmable(json, caller, arguments, cluster, version),
                  expected.state().encoded().json());
            });
  }

  private Future<Buffer> confirmK8s(Principal caller, JsonObject arguments) {
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                k8s.declareCapacity(
                    caller,
                    Optional.of(confirmation.subject()),
                    bid(caller, arguments, confirmation.version()),
                    List.of(confirms.use(confirmation))))
        .map(after -> state(written(arguments, after), after.encoded().json()));
  }

  private static Capacity.Declare bid(Principal caller, JsonObject arguments, long version) {
    JsonObject body =
        arguments
            .copy()
            .put("limit_price_per_gpu_hour", arguments.getValue("max_price_per_gpu_hour"))
            .put("expected_version", version);
    return Capacity.Declare.of(caller.actor(), BidJson.read(body));
  }

  /** Kubernetes clusters have no swaps, because their nodes have no public IPs to name them by. */
  private static String node(JsonObject arguments) {
    if (ClusterKind.of(arguments) == ClusterKind.K8S) {
      throw ApiException.badField("kind", ClusterKind.K8S.label(), "vm, for action swap");
    }
    return SWAP_FIELDS.text(arguments, "node");
  }

  private Future<Buffer> previewSwap(Principal caller, JsonObject arguments) {
    String node = node(arguments);
    ClusterView standing =
        capacity.previewSwap(caller, Optional.ofNullable(arguments.getString("cluster")), node);
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
    String node = node(arguments);
    return confirms
        .check(caller, NAME, arguments)
        .compose(
            confirmation ->
                capacity.swapNode(
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
   * The part of a preview common to both kinds: the highest cost, and the expected outcome of the
   * next tick.
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
