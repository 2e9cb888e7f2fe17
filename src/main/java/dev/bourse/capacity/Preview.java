package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a declaration would do, or why it would be refused.
 *
 * @param refusal what the write would be answered with; null when it would be accepted
 * @param expected what it would do; null when it would be refused
 */
public record Preview(@Nullable ApiException refusal, @Nullable Expected expected) {

  /**
   * A node that a declaration costs.
   *
   * @param by what takes it
   * @param atMillis when it goes; empty for at once, and for a node that is given notice once it is
   *     active
   */
  public record Loss(Allocation node, By by, OptionalLong atMillis) {
    /** What takes a node. */
    public enum By {
      /** The declaration, at once. */
      WRITE,
      /** The next tick. */
      TICK,
      /** The end of a notice. */
      NOTICE
    }

    private JsonObject toJson() {
      return new JsonObject()
          .put("public_ip", node.publicIp())
          .put("by", by.name().toLowerCase(Locale.ROOT))
          .put("reclaim_at", atMillis.isEmpty() ? null : Times.rfc3339(atMillis.getAsLong()))
          .put("protected_until", Times.rfc3339OrNull(node.protectedUntilWhileActive()));
    }
  }

  /**
   * What an accepted declaration would do.
   *
   * @param state the cluster right after the write
   * @param nextTick the next tick
   * @param losses nodes the cluster holds now and would lose: first those that the write takes,
   *     then those that the tick takes, then those that the tick leaves without a seat but takes
   *     later
   * @param unprotected nodes that the write leaves to the cluster but whose protection it ends
   * @param costCents what all nodes held and won would cost an hour, in cents
   */
  public record Expected(
      ClusterView state,
      TickPreview nextTick,
      List<Loss> losses,
      List<Allocation> unprotected,
      long costCents) {

    /** Nodes the cluster holds now and would not after that tick. */
    public List<Allocation> victims() {
      return losses.stream().filter(loss -> loss.by() != Loss.By.NOTICE).map(Loss::node).toList();
    }

    /** Nodes that the tick would leave without a seat but not take yet. */
    public List<Allocation> noticed() {
      return losses.stream().filter(loss -> loss.by() == Loss.By.NOTICE).map(Loss::node).toList();
    }

    /**
     * What it can cost at most until it lapses by itself, in US dollars; null when it never does.
     */
    public @Nullable Double worstCaseUsd() {
      Declaration declared = state.cluster().declared();
      return declared == null ? null : Price.toUsdOrNull(declared.worstCaseCents());
    }
  }

  /**
   * What it would do.
   *
   * @throws ApiException what the write would be refused with
   */
  public Expected orElseThrow() {
    if (expected == null) {
      throw Objects.requireNonNull(refusal, "neither refused nor expected");
    }
    return expected;
  }

  /** As the VM contract has it: nodes by their addresses. */
  public JsonObject toJson() {
    Expected would = expected;
    JsonObject json =
        new JsonObject()
            .put("would_refuse", refusal == null ? null : new JsonObject(refusal.fields()));
    if (would == null) {
      return json.putNull("state")
          .putNull("nodes_won")
          .putNull("nodes_granted")
          .putNull("nodes_unfilled")
          .putNull("minimum_missed")
          .put("victims", new JsonArray())
          .put("noticed", new JsonArray())
          .put("losses", new JsonArray())
          .put("unprotected", new JsonArray())
          .putNull("clearing_price_per_gpu_hour")
          .putNull("admission_price_per_gpu_hour")
          .putNull("cost_per_hour")
          .putNull("worst_case_usd")
          .putNull("paused")
          .putNull("tick_at");
    }
    TickPreview nextTick = would.nextTick();
    return json.put("state", new JsonObject(would.state().encoded().json()))
        .put("nodes_won", nextTick.nodesWon())
        .put("nodes_granted", nextTick.nodesGranted())
        .put("nodes_unfilled", nextTick.nodesUnfilled())
        .put("minimum_missed", TickPreview.MinimumMissed.label(nextTick.minimumMissed()))
        .put("victims", addresses(would.victims()))
        .put("noticed", addresses(would.noticed()))
        .put("losses", new JsonArray(would.losses().stream().map(Loss::toJson).toList()))
        .put(
            "unprotected",
            new JsonArray(would.unprotected().stream().map(Preview::unprotected).toList()))
        .put("clearing_price_per_gpu_hour", Price.toUsdOrNull(nextTick.clearingCents()))
        .put("admission_price_per_gpu_hour", Price.toUsdOrNull(nextTick.admissionCents()))
        .put("cost_per_hour", Price.toUsd(would.costCents()))
        .put("worst_case_usd", would.worstCaseUsd())
        .put("paused", nextTick.paused())
        .put("tick_at", Times.rfc3339(nextTick.tickAtMillis()));
  }

  private static JsonObject unprotected(Allocation node) {
    return new JsonObject()
        .put("public_ip", node.publicIp())
        .put("protected_until", Times.rfc3339OrNull(node.protectedUntilWhileActive()));
  }

  private static JsonArray addresses(List<Allocation> nodes) {
    return new JsonArray(
        nodes.stream().map(Allocation::publicIp).filter(Objects::nonNull).toList());
  }
}
