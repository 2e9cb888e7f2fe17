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
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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
 * Keeps this process's in-memory state in step with the writes of other processes: each topic has a
 * {@link ChangeLane}. Changes reported before the parts exist are kept for them, so that listening
 * can start before the first read.
 *
 * <p>Periodically all state is compared with the store. A difference means that the feed missed a
 * change, so it is logged and counted as a fault.
 *
 * <p>The embedded store reports nothing, because one process alone has it; but changes of this
 * process that it failed to read back are read again here for every store.
 */
final class Replication implements ChangeListener, FreshCredentials.Knowledge {
  private static final Logger LOG = LoggerFactory.getLogger(Replication.class);

  /** The most pending marks; beyond this the latest replaces the previous one. */
  private static final int MOST_MARKS = 64;

  /**
   * How long a write waits for recent revocations: enough for several reads of the log and a lost
   * connection. Further writes are rejected while the store is unreachable.
   */
  private static final long AWAIT_MILLIS = 3_000;

  /** The most writes that wait for revocations; each belongs to a request in progress. */
  private static final int MOST_AWAITING = 4_096;

  /** The most unknown topics that are logged; a release has some ten of its own. */
  private static final int MOST_UNKNOWN = 64;

  /** The topics of access rights, whose age is the age of the revocations known here. */
  private static final List<String> ACCESS =
      List.of(
          Tokens.CHANGED,
          Tokens.ORGANIZATION_CHANGED,
          Members.CHANGED,
          Operators.CHANGED,
          SigningKeys.CHANGED,
          Revocations.CHANGED,
          Revocations.MEMBER_CHANGED);

  /**
   * Topics that a change without a key also covers, because processes of the previous release leave
   * the key out.
   */
  private static final Map<String, String> ALONG =
      Map.of(
          Tokens.CHANGED,
          Tokens.ORGANIZATION_CHANGED,
          Revocations.CHANGED,
          Revocations.MEMBER_CHANGED);

  /** A moment: all changes stored before it are in force when all earlier reports are applied. */
  private record Mark(long sequence, long nanoTime) {}

  /** A write that waits until all changes stored before a moment are in force. */
  private record Awaited(long sinceNanos, Promise<Boolean> known) {}

  private final Context context;
  private final Map<String, ChangeLane> lanes = new LinkedHashMap<>();
  private final AtomicLong missedChanges = new AtomicLong();
  private final LongAdder retries = new LongAdder();
  private final LongSupplier nanoTime;
  private final AtomicLong knownAsOf;

  // Confined to the context.

  /** The unknown topics that were logged. */
  private final Set<String> unknownTopics = new HashSet<>();

  private final Set<Awaited> awaiting = new LinkedHashSet<>();

  /** The moment up to which revocations were known when a wait last timed out. */
  private long stalledAt;

  private boolean isStalled;
  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private long sequence;

  /**
   * @param nanoTime the monotonic clock
   */
  Replication(Vertx vertx, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    knownAsOf = new AtomicLong(nanoTime.getAsLong());
    context = vertx.getOrCreateContext();
    Steps steps = new Steps();
    ChangeLane pools = lane(PoolStore.CHANGED, steps, List.of());
    lane(SwitchService.CHANGED, steps, List.of());
    // A cluster can be applied only after its pool.
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

  /** The topics, for each of which {@link #follow} takes a mirror. */
  Set<String> topics() {
    return lanes.keySet();
  }

  /**
   * Starts to apply changes, beginning with those reported so far.
   *
   * @param mirrors exactly one for each topic
   */
  void follow(Map<String, Mirror> mirrors) {
    if (!mirrors.keySet().equals(topics())) {
      throw new IllegalArgumentException("not the topics: " + mirrors.keySet());
    }
    context.runOnContext(v -> mirrors.forEach((topic, mirror) -> lane(topic).start(mirror)));
  }

  /**
   * Compares everything; differences that the feed did not report are logged and counted. Succeeds
   * when every row was compared, and fails if a row could not be read.
   */
  Future<Void> inspect() {
    Promise<Void> compared = Promise.promise();
    context.runOnContext(
        v ->
            Future.join(lanes.values().stream().map(ChangeLane::inspect).toList())
                .<Void>mapEmpty()
                .onComplete(compared));
    return compared.future();
  }

  /**
   * Registers metrics of the replication.
   *
   * @param isShared whether other processes change the store
   */
  void registerMetrics(Signals signals, boolean isShared) {
    signals.counter(
        "bourse_changes_untold_total",
        "Changes of other processes that the change feed missed and a comparison found.",
        missedChanges::get);
    signals.counter(
        "bourse_changes_retries_total",
        "Reads of changes that failed or could not be applied yet, and are retried.",
        retries::sum);
    signals.gauge(
        "bourse_changes_waiting",
        "Changes that the feed reported and that are not read yet.",
        () -> lanes.values().stream().mapToInt(ChangeLane::waiting).sum());
    if (isShared) {
      registerAge(signals);
    }
  }

  private void registerAge(Signals signals) {
    signals.gauge(
        "bourse_changes_known_age_seconds",
        """
        For how long changes to what callers may do may have been stored without being in \
        force here.\
        """,
        () -> (nanoTime.getAsLong() - knownAsOfNanos()) / 1e9);
  }

  /** The number of changes that the feed missed. */
  long missedChanges() {
    return missedChanges.get();
  }

  /**
   * A moment of the monotonic clock: every change to access rights stored before it is applied
   * here. With an embedded store it stays at the time of the start and has no meaning.
   */
  @Override
  public long knownAsOfNanos() {
    return knownAsOf.get();
  }

  @Override
  public Future<Boolean> awaitKnown(long sinceNanos) {
    if (knownAsOf.get() - sinceNanos >= 0) {
      return Future.succeededFuture(true);
    }
    Awaited awaited = new Awaited(sinceNanos, Promise.promise());
    context.runOnContext(v -> await(awaited));
    return awaited.known().future();
  }

  private void await(Awaited awaited) {
    long known = knownAsOf.get();
    boolean isKnown = known - awaited.sinceNanos() >= 0;
    // Commands of one cluster wait one after the other, so they must not all wait in vain.
    if (isKnown || isStalledAt(known) || awaiting.size() == MOST_AWAITING) {
      awaited.known().complete(isKnown);
      return;
    }
    awaiting.add(awaited);
    // After a pause of the process, changes that have arrived are applied before the wait ends.
    context.owner().setTimer(AWAIT_MILLIS, late -> context.runOnContext(v -> giveUp(awaited)));
  }

  private boolean isStalledAt(long known) {
    return isStalled && stalledAt == known;
  }

  private void giveUp(Awaited awaited) {
    if (awaiting.remove(awaited)) {
      isStalled = true;
      stalledAt = knownAsOf.get();
      awaited.known().complete(false);
    }
  }

  /** Reports changes of this process, which it may have failed to read back. */
  void changedHere(List<Change> changes) {
    for (Change change : changes) {
      // Owners of clusters and markets apply their own writes without reading them back.
      if (change.topic().equals(CapacityStore.CHANGED)
          || change.topic().equals(NodeStore.CHANGED)) {
        context.runOnContext(v -> lane(change.topic()).noteLocalWrite(change.key()));
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
      // A later release has more topics, whose changes may affect state that is held here under
      // other names: it may have split a topic, and report revocations under the new name only.
      noteUnknown(change.topic());
      lanes.values().forEach(any -> any.compare(since));
    } else if (change.key().isEmpty()) {
      lane.compare(since);
      Optional.ofNullable(ALONG.get(change.topic())).ifPresent(also -> lane(also).compare(since));
    } else {
      lane.reported(change, since);
    }
  }

  /** Logs each unknown topic once, because a later release may report it many times a second. */
  private void noteUnknown(String topic) {
    if (unknownTopics.size() < MOST_UNKNOWN && unknownTopics.add(topic)) {
      LOG.warn(
          "a process of another release reports changes of {}, which this release does not know;"
              + " after each of them everything in memory is compared with the store",
          topic);
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
    long known = knownAsOf.get();
    List<Awaited> met =
        awaiting.stream().filter(awaited -> known - awaited.sinceNanos() >= 0).toList();
    met.forEach(awaiting::remove);
    met.forEach(awaited -> awaited.known().complete(true));
  }

  private final class Steps implements ChangeLane.Owner {
    @Override
    public void applied() {
      settle();
      // Other lanes may have waited for this one.
      lanes.values().forEach(ChangeLane::run);
    }

    @Override
    public void retried() {
      retries.increment();
    }

    @Override
    public void missedChanges(String topic, Set<String> keys) {
      missedChanges.addAndGet(keys.size());
      LOG.warn(
          "the change feed missed {} changes of {}, such as {}: please report this",
          keys.size(),
          topic,
          keys.iterator().next());
    }
  }
}
