package dev.bourse.capacity;

import dev.bourse.core.ApiException;
import dev.bourse.core.Price;
import dev.bourse.schemas.vm.CapacityPreviewJson;
import dev.bourse.schemas.vm.PreviewedLossJson;
import dev.bourse.schemas.vm.PreviewedProtectionJson;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

    private PreviewedLossJson toJson() {
      return new PreviewedLossJson(
          node.publicIp(),
          by.name().toLowerCase(Locale.ROOT),
          atMillis.isEmpty() ? null : atMillis.getAsLong(),
          node.protectedUntilWhileActive());
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
  CapacityPreviewJson toJson() {
    Map<String, Object> error = refusal == null ? null : refusal.fields();
    Expected would = expected;
    if (would == null) {
      return new CapacityPreviewJson(
          error, null, null, null, null, null, List.of(), List.of(), List.of(), List.of(), null,
          null, null, null, null, null);
    }
    TickPreview nextTick = would.nextTick();
    return new CapacityPreviewJson(
        error,
        would.state().toJson(),
        nextTick.nodesWon(),
        nextTick.nodesGranted(),
        nextTick.nodesUnfilled(),
        TickPreview.MinimumMissed.label(nextTick.minimumMissed()),
        would.state().cluster().namesOf(would.victims()),
        would.state().cluster().namesOf(would.noticed()),
        would.losses().stream().map(Loss::toJson).toList(),
        would.unprotected().stream().map(Preview::unprotected).toList(),
        Price.toUsdOrNull(nextTick.clearingCents()),
        Price.toUsdOrNull(nextTick.admissionCents()),
        Price.toUsd(would.costCents()),
        would.worstCaseUsd(),
        nextTick.paused(),
        nextTick.tickAtMillis());
  }

  private static PreviewedProtectionJson unprotected(Allocation node) {
    return new PreviewedProtectionJson(node.publicIp(), node.protectedUntilWhileActive());
  }
}
