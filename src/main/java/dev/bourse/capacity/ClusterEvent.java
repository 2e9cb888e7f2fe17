package dev.bourse.capacity;

import dev.bourse.core.Times;
import org.jspecify.annotations.Nullable;

/**
 * What happened to a cluster. A node is told by its public IP, as its tenant knows it; that is null
 * while the provider has not assigned one.
 */
public sealed interface ClusterEvent {
  /** What it is stored as; null for an entry that is only text. */
  @Nullable String kind();

  /** How people read it; null for a declaration. Nothing is ever read out of this text. */
  @Nullable String note();

  /** Why a node was released, or will be, or a declaration lapsed; null for everything else. */
  default @Nullable String releaseReason() {
    return null;
  }

  /** From when on something happens that it announces; null where nothing is announced. */
  default @Nullable Long endsAtMillis() {
    return null;
  }

  /** The node it happened to; null for none. */
  default @Nullable String publicIp() {
    return null;
  }

  /** What brought it about; null where nothing is told of that. */
  default @Nullable String cause() {
    return null;
  }

  /**
   * Capacity was declared. The history reads from these what was in force.
   *
   * @param maxGpus GPUs wanted
   * @param ceilingCents the most to pay per GPU-hour, in cents
   * @param lapse why the one before came to its end by itself, which left this; null for one that
   *     somebody wrote
   * @param effectiveAtMillis when the ceiling is in force at the latest; null in events of earlier
   *     releases, where it was at once
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
    public String kind() {
      return "granted";
    }

    @Override
    public String note() {
      return "granted " + publicIp;
    }
  }

  /** A node is being taken back. */
  record Released(@Nullable String publicIp, Allocation.Reason reason) implements ClusterEvent {
    /** Whether the release before knows of such. It fails at a reason that it does not know. */
    private boolean isKnownBefore() {
      return reason == reason.inRow();
    }

    @Override
    public String kind() {
      return isKnownBefore() ? "released" : "given-up";
    }

    @Override
    public String note() {
      String node = publicIp == null ? "a node that was being prepared" : publicIp;
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
   * A node will be taken back unless it wins a seat again.
   *
   * @param endsAt from when on
   */
  record NoticeGiven(@Nullable String publicIp, Allocation.Reason reason, long endsAt)
      implements ClusterEvent {
    @Override
    public String kind() {
      return "notice";
    }

    @Override
    public String note() {
      return "notice for %s, until %s".formatted(publicIp, Times.rfc3339(endsAt));
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
    public String kind() {
      return "notice-withdrawn";
    }

    @Override
    public String note() {
      return "notice for %s withdrawn".formatted(publicIp);
    }
  }

  /**
   * A grant came to nothing.
   *
   * @param cause why its machine could not be prepared
   */
  record Unwound(@Nullable String publicIp, String cause) implements ClusterEvent {
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
    public String kind() {
      return "swap-lapsed";
    }

    @Override
    public String note() {
      return "swap of %s lapsed".formatted(publicIp);
    }
  }

  /** A swap ended because an operator pinned its node. */
  record SwapEnded(@Nullable String publicIp) implements ClusterEvent {
    @Override
    public String kind() {
      return "swap-ended";
    }

    @Override
    public String note() {
      return "swap of %s ended: an operator pinned it".formatted(publicIp);
    }
  }

  /** A billing hold came into force, or went on to its next stage. */
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
   * The market saw what the cluster wanted to be told of.
   *
   * @param cause what it saw
   */
  record AlertRaised(Alerts.Kind alert, String cause) implements ClusterEvent {
    /** What the kind of each alert begins with. */
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

  /** An entry of an earlier release whose text is none that this release knows. */
  record Unrecognized(@Nullable String note, @Nullable String releaseReason)
      implements ClusterEvent {
    @Override
    public @Nullable String kind() {
      return null;
    }
  }
}
