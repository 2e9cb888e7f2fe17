package dev.bourse.capacity;

import dev.bourse.core.Price;
import dev.bourse.nodes.Health;
import dev.bourse.pools.Pool;
import dev.bourse.pools.PoolPrices;
import dev.bourse.schemas.k8s.BidOutlookJson;
import dev.bourse.schemas.k8s.BidPreviewJson;
import dev.bourse.schemas.k8s.BidStateJson;
import dev.bourse.schemas.k8s.BidTermsJson;
import dev.bourse.schemas.k8s.K8sClusterJson;
import dev.bourse.schemas.k8s.K8sClusterSummaryJson;
import dev.bourse.schemas.k8s.K8sExpectedLossJson;
import dev.bourse.schemas.k8s.K8sNodeHealthJson;
import dev.bourse.schemas.k8s.K8sNodeJson;
import dev.bourse.schemas.k8s.K8sPreviewedLossJson;
import dev.bourse.schemas.k8s.K8sPreviewedProtectionJson;
import dev.bourse.schemas.k8s.MetricsJson;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** Clusters as the Kubernetes contract shows them: with their nodes by name. */
final class K8sText {
  private K8sText() {}

  /** Returns a cluster without its nodes, as lists show it. */
  static K8sClusterSummaryJson summary(ClusterView view) {
    Cluster cluster = view.cluster();
    Pool pool = view.pool();
    return new K8sClusterSummaryJson(
        cluster.name(),
        cluster.version(),
        lower(cluster.posture()),
        pool.gpuVendor(),
        pool.gpuModel(),
        pool.gpusPerNode(),
        held(cluster),
        cluster.pending(pool.gpusPerNode()));
  }

  /** Returns a cluster with its nodes. */
  static K8sClusterJson cluster(ClusterView view, PoolPrices prices) {
    Cluster cluster = view.cluster();
    Pool pool = prices.pool();
    return new K8sClusterJson(
        cluster.name(),
        cluster.version(),
        lower(cluster.posture()),
        pool.gpuVendor(),
        pool.gpuModel(),
        pool.gpusPerNode(),
        held(cluster),
        cluster.pending(pool.gpusPerNode()),
        prices.toJson(),
        terms(cluster),
        cluster.standing().ranksLastUntilMillis(),
        view.billingHold(),
        cluster.allocations().stream().map(K8sText::node).toList(),
        cluster.namesOf(cluster.releaseOrder()),
        view.nominations(),
        view.swaps());
  }

  /** Returns a cluster's bid. */
  static BidStateJson bid(ClusterView view) {
    return new BidStateJson(
        view.cluster().name(),
        view.cluster().version(),
        view.pool().gpusPerNode(),
        terms(view.cluster()),
        view.billingHold(),
        view.prices().toJson());
  }

  /** Returns a cluster's holdings in numbers. */
  static MetricsJson metrics(ClusterView view, OptionalDouble utilisation) {
    Cluster cluster = view.cluster();
    int gpusPerNode = view.pool().gpusPerNode();
    int held = held(cluster);
    return new MetricsJson(
        cluster.name(),
        held,
        in(cluster, Allocation.State.ACTIVE),
        cluster.pending(gpusPerNode),
        held * gpusPerNode,
        utilisation.isPresent() ? utilisation.getAsDouble() : null);
  }

  /** Returns the preview of a bid. */
  static BidPreviewJson preview(Preview preview) {
    Map<String, Object> error = preview.refusal() == null ? null : preview.refusal().fields();
    Preview.Expected would = preview.expected();
    if (would == null) {
      return new BidPreviewJson(
          error, null, null, null, null, null, List.of(), List.of(), List.of(), List.of(), null,
          null, null, null, null, null);
    }
    TickPreview nextTick = would.nextTick();
    return new BidPreviewJson(
        error,
        cluster(would.state(), would.state().prices()),
        nextTick.nodesWon(),
        nextTick.nodesGranted(),
        nextTick.nodesUnfilled(),
        TickPreview.MinimumMissed.label(nextTick.minimumMissed()),
        would.state().cluster().namesOf(would.victims()),
        would.state().cluster().namesOf(would.noticed()),
        would.losses().stream().map(K8sText::loss).toList(),
        would.unprotected().stream()
            .map(a -> new K8sPreviewedProtectionJson(a.nodeId(), a.protectedUntilWhileActive()))
            .toList(),
        Price.toUsdOrNull(nextTick.clearingCents()),
        Price.toUsdOrNull(nextTick.admissionCents()),
        Price.toUsd(would.costCents()),
        would.worstCaseUsd(),
        nextTick.paused(),
        nextTick.tickAtMillis());
  }

  private static K8sPreviewedLossJson loss(Preview.Loss loss) {
    return new K8sPreviewedLossJson(
        loss.node().nodeId(),
        lower(loss.by()),
        loss.atMillis().isEmpty() ? null : loss.atMillis().getAsLong(),
        loss.node().protectedUntilWhileActive());
  }

  /** Returns a cluster's outlook. */
  static BidOutlookJson outlook(String cluster, Outlook outlook) {
    return new BidOutlookJson(
        cluster,
        outlook.tickAtMillis(),
        outlook.paused(),
        outlook.safeUntilMillis(),
        outlook.losses().stream().map(K8sText::loss).toList(),
        Price.toUsdOrNull(outlook.keepCents()),
        outlook.pendingNodes(),
        Price.toUsdOrNull(outlook.pendingCents()));
  }

  private static K8sExpectedLossJson loss(Outlook.ExpectedLoss loss) {
    return new K8sExpectedLossJson(
        loss.node().nodeId(),
        lower(loss.by()),
        loss.reclaimAtMillis(),
        loss.node().protectedUntilWhileActive());
  }

  private static K8sNodeJson node(Allocation a) {
    Allocation.Notice notice = a.notice();
    return new K8sNodeJson(
        a.nodeId(),
        lower(a.state()),
        a.grantedAtMillis(),
        a.isSwapping(),
        a.protectedUntilWhileActive(),
        notice == null ? null : notice.endsAtMillis(),
        notice == null ? null : notice.reason().label(),
        health(a));
  }

  private static K8sNodeHealthJson health(Allocation a) {
    HeldHealth health = a.health();
    return new K8sNodeHealthJson(
        lower(health == null ? Health.State.UNKNOWN : health.state()),
        health == null ? a.grantedAtMillis() : health.sinceMillis(),
        health == null ? List.of() : health.reasons());
  }

  private static @Nullable BidTermsJson terms(Cluster cluster) {
    Declaration declared = cluster.declared();
    if (declared == null) {
      return null;
    }
    Conditions.Budget budget = declared.budget();
    return new BidTermsJson(
        Price.toUsd(declared.ceilingCents()),
        declared.maxGpus(),
        cluster.verdict().bidTooLow(),
        cluster.verdict().capacityUnavailable(),
        declared.effectiveAtMillis(),
        declared.updatedAtMillis(),
        declared.updatedBy(),
        declared.conditions().minGpus(),
        declared.untilMillis(),
        budget == null ? null : Price.toUsd(budget.maxSpendCents()),
        budget == null ? null : budget.sinceMillis(),
        declared.conditions().autoSwap());
  }

  private static int held(Cluster cluster) {
    return in(cluster, Allocation.State.PROVISIONING) + in(cluster, Allocation.State.ACTIVE);
  }

  private static int in(Cluster cluster, Allocation.State state) {
    return (int) cluster.allocations().stream().filter(a -> a.state() == state).count();
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
