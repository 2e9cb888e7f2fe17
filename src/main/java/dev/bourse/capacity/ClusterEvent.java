package dev.bourse.capacity;

import dev.bourse.core.Times;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An event in the life of a cluster. A node is identified by its public IP, which is null until the
 * provider assigns one; {@link #named} replaces it by the node's name on another surface.
 */
public sealed interface ClusterEvent {
  /** Returns the kind in its row; null for an entry that is only text. */
  @Nullable String kind();

  /** Returns the text for people; null for a declaration. Programs do not parse this text. */
  @Nullable String note();

  /** Returns the reason for a release, a notice or a lapse; null for other events. */
  default @Nullable String releaseReason() {
    return null;
  }

  /** Returns when the announced change happens; null if the event announces nothing. */
  default @Nullable Long endsAtMillis() {
    return null;
  }

  /** Returns the address of the event's node; null without a node. */
  default @Nullable String publicIp() {
    return null;
  }

  /**
   * Returns this event with another name of its node; itself if it has no node.
   *
   * @param name null if it is unknown
   */
  default ClusterEvent named(@Nullable String name) {
    return this;
  }

  /** Returns the cause of the event; null if it has none. */
  default @Nullable String cause() {
    return null;
  }

  /**
   * Capacity was declared. The history derives the declarations in force from these events.
   *
   * @param maxGpus the number of GPUs wanted
   * @param ceilingCents the ceiling per GPU-hour, in cents
   * @param lapse why the previous declaration lapsed; null for a declaration that was written
   * @param effectiveAtMillis when the ceiling is in force at the latest; null in events of earlier
   *     releases, whose ceilings were in force at once
   */
  record Declared(
      int maxGpus,
      long ceilingCents,
      Allocation.@Nullable Reason lapse,
      @Nullable Long effectiveAtMillis)
      implements ClusterEvent {
    public Declared(int maxGpus, long ceilingCents) {
      this(maxGpus, ceilingCents, null, null);
    }

    @Override
    public @Nullable String releaseReason() {
      return lapse == null ? null : lapse.label();
    }

    @Override
    public String kind() {
      return "declared";
    }

    @Override
    public @Nullable String note() {
      return null;
    }
  }

  /** The market granted a node. For a gang the event comes when its nodes become active. */
  record Granted(@Nullable String publicIp) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new Granted(name);
    }

    @Override
    public String kind() {
      return "granted";
    }

    @Override
    public String note() {
      return "granted " + Objects.requireNonNullElse(publicIp, "a node");
    }
  }

  /** A reclaim of a node began. */
  record Released(@Nullable String publicIp, Allocation.Reason reason) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new Released(name, reason);
    }

    /** True if the previous release knows the reason; it fails at reasons that it does not know. */
    private boolean isKnownBefore() {
      return reason == reason.inRow();
    }

    @Override
    public String kind() {
      return isKnownBefore() ? "released" : "given-up";
    }

    @Override
    public String note() {
      String node = Objects.requireNonNullElse(publicIp, "a node that was being prepared");
      return isKnownBefore()
          ? "released " + node
          : "released %s: %s".formatted(node, reason.label());
    }

    @Override
    public String releaseReason() {
      return reason.label();
    }
  }

  /**
   * A node will be reclaimed unless it wins a seat again.
   *
   * @param endsAt the earliest time of the reclaim
   */
  record NoticeGiven(@Nullable String publicIp, Allocation.Reason reason, long endsAt)
      implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new NoticeGiven(name, reason, endsAt);
    }

    @Override
    public String kind() {
      return "notice";
    }

    @Override
    public String note() {
      return "notice for %s, until %s"
          .formatted(Objects.requireNonNullElse(publicIp, "a node"), Times.rfc3339(endsAt));
    }

    @Override
    public String releaseReason() {
      return reason.label();
    }

    @Override
    public Long endsAtMillis() {
      return endsAt;
    }
  }

  /** A node under notice won a seat again and stays. */
  record NoticeWithdrawn(@Nullable String publicIp) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new NoticeWithdrawn(name);
    }

    @Override
    public String kind() {
      return "notice-withdrawn";
    }

    @Override
    public String note() {
      return "notice for %s withdrawn".formatted(Objects.requireNonNullElse(publicIp, "a node"));
    }
  }

  /**
   * A grant was unwound.
   *
   * @param cause why its machine could not be prepared
   */
  record Unwound(@Nullable String publicIp, String cause) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new Unwound(name, cause);
    }

    @Override
    public String kind() {
      return "unwound";
    }

    @Override
    public String note() {
      return publicIp == null
          ? "a grant unwound: " + cause
          : "grant of %s unwound: %s".formatted(publicIp, cause);
    }
  }

  /** A swap waited too long for a replacement. */
  record SwapLapsed(@Nullable String publicIp) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new SwapLapsed(name);
    }

    @Override
    public String kind() {
      return "swap-lapsed";
    }

    @Override
    public String note() {
      return "swap of %s lapsed".formatted(Objects.requireNonNullElse(publicIp, "a node"));
    }
  }

  /** A swap ended because an operator pinned its node. */
  record SwapEnded(@Nullable String publicIp) implements ClusterEvent {
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new SwapEnded(name);
    }

    @Override
    public String kind() {
      return "swap-ended";
    }

    @Override
    public String note() {
      return "swap of %s ended: an operator pinned it"
          .formatted(Objects.requireNonNullElse(publicIp, "a node"));
    }
  }

  /** A billing hold came into force or entered its next stage. */
  record HoldPlaced(Hold.Stage stage, String cause) implements ClusterEvent {
    @Override
    public String kind() {
      return "hold-" + stage.label();
    }

    @Override
    public String note() {
      return "billing hold %s because of %s".formatted(stage.label(), cause);
    }
  }

  /** The billing hold was lifted. */
  record HoldLifted() implements ClusterEvent {
    @Override
    public String kind() {
      return "hold-lifted";
    }

    @Override
    public String note() {
      return "billing hold lifted";
    }
  }

  /**
   * A tick raised an alert.
   *
   * @param cause the reading that raised it, as text
   */
  record AlertRaised(Alerts.Kind alert, String cause) implements ClusterEvent {
    /** The prefix of the kinds of alerts. */
    static final String PREFIX = "alert-";

    @Override
    public String kind() {
      return PREFIX + alert.label();
    }

    @Override
    public String note() {
      return "alert %s: %s".formatted(alert.label(), cause);
    }
  }

  /** An entry of another release whose text this release does not know. */
  record Unrecognized(@Nullable String note, @Nullable String releaseReason)
      implements ClusterEvent {
    /** Leaves out the text, because it may have the address of a node. */
    @Override
    public ClusterEvent named(@Nullable String name) {
      return new Unrecognized(null, releaseReason);
    }

    @Override
    public @Nullable String kind() {
      return null;
    }
  }
}
