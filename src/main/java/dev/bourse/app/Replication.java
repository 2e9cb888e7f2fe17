package dev.bourse.app;

import dev.bourse.access.Members;
import dev.bourse.access.Operators;
import dev.bourse.access.Revocations;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.market.NodeStore;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.pools.settings.SwitchService;
import dev.bourse.signals.Signals;
import dev.bourse.sshkeys.SshKeyStore;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import dev.bourse.store.Mirror;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what this process holds in memory in step with what other processes store: each topic has a
 * {@link ChangeLane}. What is heard before the parts are there waits for them, so that listening
 * can begin before the first read.
 *
 * <p>At an interval all that is held is compared with all that is stored. A difference means that
 * the feed missed a change, so it is logged and counted as a fault.
 *
 * <p>The embedded store tells nothing, for one process alone has it; but what this process stored
 * and could not read back is read again here whatever the store.
 */
final class Replication implements ChangeListener {
  private static final Logger LOG = LoggerFactory.getLogger(Replication.class);

  /** Moments that wait for what was told before them; past these the latest take their place. */
  private static final int MOST_MARKS = 64;

  /** What callers are told apart by: as old as this is what is known of revocations. */
  private static final List<String> ACCESS =
      List.of(
          Tokens.CHANGED,
          Tokens.ORGANIZATION_CHANGED,
          Members.CHANGED,
          Operators.CHANGED,
          SigningKeys.CHANGED,
          Revocations.CHANGED,
          Revocations.MEMBER_CHANGED);

  /** What a process of the release before means too when it leaves the key empty. */
  private static final Map<String, String> ALONG =
      Map.of(
          Tokens.CHANGED,
          Tokens.ORGANIZATION_CHANGED,
          Revocations.CHANGED,
          Revocations.MEMBER_CHANGED);

  /** All that was stored at a moment is known once everything told before is in force. */
  private record Mark(long sequence, long nanoTime) {}

  private final Context context;
  private final Map<String, ChangeLane> lanes = new LinkedHashMap<>();
  private final AtomicLong untold = new AtomicLong();
  private final LongAdder retries = new LongAdder();
  private final LongSupplier nanoTime;
  private final long compareMillis;
  private final AtomicLong knownAsOf;

  // On the context alone.
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private long sequence;

  /**
   * @param nanoTime the monotonic clock
   * @param compareMillis how often everything is compared with a shared store
   */
  Replication(Vertx vertx, LongSupplier nanoTime, long compareMillis) {
    this.nanoTime = nanoTime;
    this.compareMillis = compareMillis;
    knownAsOf = new AtomicLong(nanoTime.getAsLong());
    context = vertx.getOrCreateContext();
    Steps steps = new Steps();
    ChangeLane pools = lane(PoolStore.CHANGED, steps, List.of());
    lane(SwitchService.CHANGED, steps, List.of());
    // A cluster can be shown only once its pool is known.
    lane(CapacityStore.CHANGED, steps, List.of(pools));
    lane(NodeStore.CHANGED, steps, List.of());
    lane(SshKeyStore.CHANGED, steps, List.of());
    ACCESS.forEach(topic -> lane(topic, steps, List.of()));
  }

  private ChangeLane lane(String topic, Steps steps, List<ChangeLane> before) {
    ChangeLane lane = new ChangeLane(topic, context, nanoTime, steps, before);
    lanes.put(topic, lane);
    return lane;
  }

  /**
   * The parts are there; what was heard so far is caught up with.
   *
   * @param mirrors by topic, one for each there is
   * @param isShared whether other processes change the store
   */
  void follow(Map<String, Mirror> mirrors, boolean isShared) {
    if (!mirrors.keySet().equals(lanes.keySet())) {
      throw new IllegalArgumentException("not the topics: " + mirrors.keySet());
    }
    context.runOnContext(v -> mirrors.forEach((topic, mirror) -> lane(topic).start(mirror)));
    if (isShared) {
      context.owner().setPeriodic(compareMillis, timer -> inspect());
    }
  }

  /** Compares everything; what the feed does not tell of is found and counted. */
  void inspect() {
    context.runOnContext(v -> lanes.values().forEach(ChangeLane::inspect));
  }

  /**
   * Shows how far this process follows.
   *
   * @param isShared whether other processes change the store
   */
  void show(Signals signals, boolean isShared) {
    signals.counter(
        "bourse_changes_untold_total",
        "Changes of other processes that were found in the store though nobody told of them.",
        untold::get);
    signals.counter(
        "bourse_changes_retries_total",
        "Readings of changes that failed, or could not be put in force yet, and are done again.",
        retries::sum);
    signals.gauge(
        "bourse_changes_waiting",
        "Changes that were heard of and are not read yet.",
        () -> lanes.values().stream().mapToInt(ChangeLane::waiting).sum());
    if (isShared) {
      showAge(signals);
    }
  }

  private void showAge(Signals signals) {
    signals.gauge(
        "bourse_changes_known_age_seconds",
        """
        For how long changes to what callers may do may have been stored without being in \
        force here.\
        """,
        () -> (nanoTime.getAsLong() - knownAsOfNanos()) / 1e9);
  }

  /** How many changes were found that nobody told of. */
  long untold() {
    return untold.get();
  }

  /**
   * Every change to what callers may do that was stored before this moment is in force here; as the
   * monotonic clock has it. On a store of this process alone it stays where it was at the start,
   * and means nothing.
   */
  long knownAsOfNanos() {
    return knownAsOf.get();
  }

  /** What this process changed itself: it may not have been able to read that back. */
  void changedHere(List<Change> changes) {
    for (Change change : changes) {
      // Owners of clusters and markets know what they stored without reading it.
      if (change.topic().equals(CapacityStore.CHANGED)
          || change.topic().equals(NodeStore.CHANGED)) {
        context.runOnContext(v -> lane(change.topic()).storedHere(change.key()));
      } else {
        changed(change);
      }
    }
  }

  @Override
  public void changed(Change change) {
    context.runOnContext(v -> add(change));
  }

  private void add(Change change) {
    long since = ++sequence;
    ChangeLane lane = lanes.get(change.topic());
    if (lane == null) {
      // A later release has more topics; what they are about may be held here by other names.
      LOG.warn("{}: no such topic is known here, so everything is compared", change);
      lanes.values().forEach(any -> any.compare(since));
    } else if (change.key().isEmpty()) {
      lane.compare(since);
      Optional.ofNullable(ALONG.get(change.topic())).ifPresent(also -> lane(also).compare(since));
    } else {
      lane.told(change, since);
    }
  }

  private ChangeLane lane(String topic) {
    return Objects.requireNonNull(lanes.get(topic), topic);
  }

  @Override
  public void missed() {
    context.runOnContext(
        v -> {
          long since = ++sequence;
          lanes.values().forEach(lane -> lane.compare(since));
        });
  }

  @Override
  public void heardUntil(long nanoTime) {
    context.runOnContext(
        v -> {
          if (marks.size() == MOST_MARKS) {
            marks.removeLast();
          }
          marks.add(new Mark(sequence, nanoTime));
          lanes.values().forEach(lane -> lane.heardUntil(nanoTime));
          settle();
        });
  }

  private void settle() {
    long oldest = Long.MAX_VALUE;
    for (ChangeLane lane : lanes.values()) {
      if (ACCESS.contains(lane.topic())) {
        oldest = Math.min(oldest, lane.oldest());
      }
    }
    Mark mark = marks.peek();
    while (mark != null && mark.sequence() < oldest) {
      knownAsOf.set(mark.nanoTime());
      marks.remove();
      mark = marks.peek();
    }
  }

  private final class Steps implements ChangeLane.Owner {
    @Override
    public void moved() {
      settle();
      // Some may have waited for this one.
      lanes.values().forEach(ChangeLane::run);
    }

    @Override
    public void triesAgain() {
      retries.increment();
    }

    @Override
    public void foundUntold(String topic, Set<String> keys) {
      untold.addAndGet(keys.size());
      LOG.warn(
          "{} changes of {} were found that nobody had told of, such as {}: please report this",
          keys.size(),
          topic,
          keys.iterator().next());
    }
  }
}
