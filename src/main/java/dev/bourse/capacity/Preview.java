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
 * The preview of a declaration: its effects, or the error of the write.
 *
 * @param refusal the error of the write; null if it would be accepted
 * @param expected the effects of the write; null if it would be rejected
 */
public record Preview(@Nullable ApiException refusal, @Nullable Expected expected) {

  /**
   * A node that the cluster would lose.
   *
   * @param by the cause
   * @param atMillis when it is reclaimed; empty for at once, and for a node that gets its notice
   *     when it becomes active
   */
  public record Loss(Allocation node, By by, OptionalLong atMillis) {
    /** The cause of a loss. */
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
   * The effects of an accepted declaration.
   *
   * @param state the cluster right after the write
   * @param nextTick the next tick
   * @param losses held nodes that the cluster would lose: first those that the write reclaims, then
   *     those that the tick reclaims, then those that the tick gives notice
   * @param unprotected nodes that the cluster keeps but whose protection the write ends
   * @param costCents the hourly cost of all nodes held and won, in cents
   */
  public record Expected(
      ClusterView state,
      TickPreview nextTick,
      List<Loss> losses,
      List<Allocation> unprotected,
      long costCents) {

    /** Returns the held nodes that the cluster would not hold after that tick. */
    public List<Allocation> victims() {
      return losses.stream().filter(loss -> loss.by() != Loss.By.NOTICE).map(Loss::node).toList();
    }

    /** Returns the nodes that would have no seat but are not reclaimed by that tick. */
    public List<Allocation> noticed() {
      return losses.stream().filter(loss -> loss.by() == Loss.By.NOTICE).map(Loss::node).toList();
    }

    /** Returns the most that it can cost until it lapses, in US dollars; null without an end. */
    public @Nullable Double worstCaseUsd() {
      Declaration declared = state.cluster().declared();
      return declared == null ? null : Price.toUsdOrNull(declared.worstCaseCents());
    }
  }

  /**
   * Returns the effects of the write.
   *
   * @throws ApiException the error of the write, if it would be rejected
   */
  public Expected orElseThrow() {
    if (expected == null) {
      throw Objects.requireNonNull(refusal, "neither refused nor expected");
    }
    return expected;
  }

  /** Returns the preview as the VM contract shows it, with nodes by their addresses. */
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
