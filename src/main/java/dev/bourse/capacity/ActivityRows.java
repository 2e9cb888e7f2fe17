package dev.bourse.capacity;

import dev.bourse.capacity.ClusterEvent.Declared;
import dev.bourse.store.Columns;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the rows of clusters' activity. A row has the kind of the event and a column for
 * each of its fields. The previous release knows events only by their note, so this release writes
 * the note and reads it in rows of the previous release. When the previous release cannot run
 * beside this one any more, the column and {@link #former} can be deleted.
 */
public final class ActivityRows {
  /** The notes that the previous release writes for grants and releases. */
  private static final Pattern FORMER =
      Pattern.compile(
          "(?<done>granted|released) (?<node>\\S+)|grant of (?<lost>\\S+) unwound: (?<cause>.*)",
          Pattern.DOTALL);

  private record Written(long atMillis, String cluster, Activity activity) {
    @Nullable Object declared(Function<Declared, Object> part) {
      return activity.event() instanceof Declared declared ? part.apply(declared) : null;
    }
  }

  private static final Columns<Written> COLUMNS =
      Columns.<Written>of("activity")
          .fixed("ts", Written::atMillis)
          .fixed("cluster", Written::cluster)
          .fixed("kind", w -> w.activity.kind())
          .fixed("actor", w -> w.activity.actor())
          .fixed("who", w -> w.activity.who())
          .fixed("event", w -> w.activity.event().kind())
          .fixed("max_gpus", w -> w.declared(Declared::maxGpus))
          .fixed("ceiling_cents", w -> w.declared(Declared::ceilingCents))
          .fixed("public_ip", w -> w.activity.event().publicIp())
          .fixed("reason", w -> w.activity.event().releaseReason())
          .fixed("cause", w -> w.activity.event().cause())
          .fixed("ends_at", w -> w.activity.event().endsAtMillis())
          .fixed("note", w -> w.activity.event().note())
          .fixed("effective_at", w -> w.declared(Declared::effectiveAtMillis))
          .fixed("node_id", w -> w.activity.nodeId());

  /** The columns that {@link #activity} reads, with {@code id}, {@code ts} and {@code cluster}. */
  public static final String NAMES = "id, " + COLUMNS.names();

  private ActivityRows() {}

  /** Returns the insert of an entry. */
  public static Statement insert(Activity entry, String cluster, long nowMillis) {
    return COLUMNS.insert(new Written(nowMillis, cluster, entry)).appending();
  }

  /** Returns the entry of a row. */
  public static Activity activity(Row row) {
    return new Activity(
        row.text("actor"),
        row.text("kind").equals("request") ? declared(row) : action(row),
        row.textOrNull("node_id"));
  }

  private static ClusterEvent declared(Row row) {
    String lapse = row.textOrNull("reason");
    return new Declared(
        row.smallInteger("max_gpus"),
        row.integer("ceiling_cents"),
        lapse == null ? null : Allocation.Reason.of(lapse),
        row.integerOrNull("effective_at"));
  }

  private static ClusterEvent action(Row row) {
    String kind = Objects.requireNonNullElse(row.textOrNull("event"), "");
    String node = row.textOrNull("public_ip");
    String cause = String.valueOf(row.textOrNull("cause"));
    String reason = row.textOrNull("reason");
    return switch (kind) {
      case "granted" -> new ClusterEvent.Granted(node);
      case "released", "given-up" -> new ClusterEvent.Released(node, Allocation.Reason.of(reason));
      case "notice" ->
          new ClusterEvent.NoticeGiven(node, Allocation.Reason.of(reason), row.integer("ends_at"));
      case "notice-withdrawn" -> new ClusterEvent.NoticeWithdrawn(node);
      case "unwound" -> new ClusterEvent.Unwound(node, cause);
      case "swap-lapsed" -> new ClusterEvent.SwapLapsed(node);
      case "swap-ended" -> new ClusterEvent.SwapEnded(node);
      case "hold-grace" -> new ClusterEvent.HoldPlaced(Hold.Stage.GRACE, cause);
      case "hold-notice" -> new ClusterEvent.HoldPlaced(Hold.Stage.NOTICE, cause);
      case "hold-enforce" -> new ClusterEvent.HoldPlaced(Hold.Stage.ENFORCE, cause);
      case "hold-lifted" -> new ClusterEvent.HoldLifted();
      case "alert-rival", "alert-price", "alert-supply", "alert-spend", "alert-lease" ->
          new ClusterEvent.AlertRaised(
              Alerts.Kind.of(kind.substring(ClusterEvent.AlertRaised.PREFIX.length())), cause);
      default -> former(row.textOrNull("note"), reason);
    };
  }

  /** Parses a note of the previous release, because streams must show the nodes that it grants. */
  private static ClusterEvent former(@Nullable String note, @Nullable String reason) {
    Matcher known = FORMER.matcher(String.valueOf(note));
    if (!known.matches()) {
      return new ClusterEvent.Unrecognized(note, reason);
    }
    String done = String.valueOf(known.group("done"));
    return switch (done) {
      case "granted" -> new ClusterEvent.Granted(known.group("node"));
      case "released" ->
          new ClusterEvent.Released(known.group("node"), Allocation.Reason.of(reason));
      default -> new ClusterEvent.Unwound(known.group("lost"), known.group("cause"));
    };
  }
}
