package dev.bourse.events;

import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.BulkheadPair;
import dev.bourse.core.Digests;
import dev.bourse.logs.RequestContext;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Long polls for the next change of a cluster, for callers that cannot keep a stream open. A wait
 * subscribes like a stream and holds no thread; it ends with the change, at its deadline, or when
 * its caller disconnects.
 *
 * <p>Prices are not a change of the cluster: they move at any tick, and would end every wait of a
 * caller that waits for a node.
 */
public final class ChangeWaits {
  /** Proxies and clients commonly time out after 30 s; this leaves a margin of 5 s. */
  public static final long MOST_MILLIS = 25_000;

  /**
   * Concurrent waits of one caller, a member or an API token; a client with more has leaked some.
   */
  static final int MOST_PER_CALLER = 8;

  /**
   * Concurrent waits in the process, shared fairly among organizations: each holds a request, and
   * reads the activity when it wakes.
   */
  static final int MOST = 1_000;

  /** Entries in one answer; a caller that missed more reads the activity. */
  private static final int ENTRIES = 50;

  private static final int DIGEST_BYTES = 8;
  private static final Pattern CURSOR = Pattern.compile("(\\d{1,18})-([0-9a-f]{16})");

  private final EventService events;
  private final Clusters clusters;
  private final ActivityStore activity;
  private final LongSupplier nanoTime;
  private final BulkheadPair waits;
  private final Set<Wait> open = ConcurrentHashMap.newKeySet();
  private volatile boolean isEnded;

  /**
   * @param nanoTime the monotonic clock
   */
  public ChangeWaits(
      EventService events, Clusters clusters, ActivityStore activity, LongSupplier nanoTime) {
    this(events, clusters, activity, nanoTime, MOST);
  }

  ChangeWaits(
      EventService events,
      Clusters clusters,
      ActivityStore activity,
      LongSupplier nanoTime,
      int most) {
    this.waits =
        new BulkheadPair(
            Bulkhead.of("waits for a change", Integer.MAX_VALUE).sharing(MOST_PER_CALLER),
            Bulkhead.of("waits for a change", most).sharingFairly());
    this.events = events;
    this.clusters = clusters;
    this.activity = activity;
    this.nanoTime = nanoTime;
  }

  /**
   * The state that a caller knows.
   *
   * @param cursor from the previous wait; null for none
   * @param version of the last state read; null for none
   */
  public record Known(@Nullable String cursor, @Nullable Long version) {}

  /**
   * The result of a wait.
   *
   * @param view the cluster now
   * @param isChanged whether it differs from the state that the caller knows
   * @param isGap whether some entries are left out
   * @param entries the activity since, by id
   * @param cursor for the next wait
   */
  public record Change(
      ClusterView view,
      boolean isChanged,
      boolean isGap,
      List<ActivityStore.StoredActivity> entries,
      String cursor) {

    /** Returns the answer without the cluster's state. */
    public JsonObject toJson() {
      JsonArray happened = new JsonArray();
      entries.forEach(
          entry -> happened.add(EventText.entry(entry, view.cluster().kind()).toTree()));
      return new JsonObject()
          .put("cluster", view.cluster().name())
          .put("version", view.cluster().version())
          .put("changed", isChanged)
          .put("gap", isGap)
          .put("activity", happened)
          .put("cursor", cursor);
    }
  }

  /** Returns the number of waits in progress. */
  public int running() {
    return waits.running();
  }

  /** Ends all waits now, and later ones at once, because the service is stopping. */
  public void end() {
    isEnded = true;
    open.forEach(Wait::wake);
  }

  /**
   * Waits until a cluster differs from the state that the caller knows; returns at once if it
   * already does. An audited read of the capacity state of a VM cluster. Fails like reads of the
   * capacity, with {@code bad-request} for an invalid cursor, and with {@code overloaded} for too
   * many waits of the caller, of its organization or in total.
   *
   * @param surface the kind of the cluster
   * @param cluster the named cluster, if any
   * @param known empty to wait for the next change
   * @param millis the longest wait
   * @param ifGone receives the action to run when the caller disconnects
   */
  public Future<Change> next(
      Cluster.Kind surface,
      Principal caller,
      Optional<String> cluster,
      Known known,
      long millis,
      Consumer<Runnable> ifGone) {
    Optional<Matcher> cursor = Optional.ofNullable(known.cursor()).map(ChangeWaits::parsed);
    ClusterView standing = events.resolve(surface, caller, cluster);
    String name = standing.cluster().name();
    BulkheadPair.Places places = waits.enter(caller.budgetKey(), caller.owner());
    events.recordRead(caller, standing.cluster(), "wait");
    Wait wait =
        new Wait(
            name,
            known.version(),
            cursor.map(matched -> matched.group(2)).orElseGet(() -> digest(standing)),
            nanoTime.getAsLong() + TimeUnit.MILLISECONDS.toNanos(Math.min(millis, MOST_MILLIS)));
    open.add(wait);
    RequestContext request = RequestContext.current();
    long begunNanos = request == null ? 0 : request.nanos();
    Topic topic = events.join(name, wait);
    ifGone.accept(wait::leave);
    return topic
        .ready()
        .compose(ready -> begin(wait, cursor.map(matched -> Long.valueOf(matched.group(1)))))
        .compose(begun -> look(wait))
        .onComplete(
            over -> {
              if (request != null) {
                request.recordWait(RequestContext.Wait.CHANGE, begunNanos);
              }
              events.leave(name, wait);
              open.remove(wait);
              places.close();
            });
  }

  private static Matcher parsed(String cursor) {
    Matcher matcher = CURSOR.matcher(cursor);
    if (!matcher.matches()) {
      throw ApiException.badField("cursor", cursor, "the cursor of an earlier wait, or none");
    }
    return matcher;
  }

  /** Determines the caller's position in the activity. */
  private Future<Void> begin(Wait wait, Optional<Long> after) {
    Future<Optional<ActivityStore.Position>> named =
        after.isEmpty()
            ? Future.succeededFuture(Optional.empty())
            : activity.findPosition(after.get());
    return named.compose(
        found -> {
          if (found.isPresent()) {
            wait.position = found.get();
            return Future.succeededFuture();
          }
          // The entry was deleted, and possibly some after it.
          wait.isGap = after.isPresent();
          return activity
              .findNewestAction(wait.name)
              .map(
                  newest -> {
                    wait.position = newest;
                    return null;
                  });
        });
  }

  /** Returns the change if there is one or the time is over; otherwise waits and checks again. */
  private Future<Change> look(Wait wait) {
    Future<Void> woken = wait.listen();
    return activity
        .listActionsAfter(wait.name, wait.position, ENTRIES + 1)
        .compose(
            entries -> {
              ClusterView view =
                  clusters
                      .find(wait.name)
                      .map(ClusterView::fixed)
                      .orElseThrow(() -> ApiException.notFound("cluster", wait.name));
              wait.seen = view;
              String digest = digest(view);
              Long version = wait.version;
              boolean isChanged =
                  wait.isGap
                      || !entries.isEmpty()
                      || !digest.equals(wait.digest)
                      || (version != null && version != view.cluster().version());
              long leftNanos = wait.deadlineNanos - nanoTime.getAsLong();
              if (isChanged || leftNanos <= 0 || wait.isGone || isEnded) {
                return Future.succeededFuture(change(wait, view, digest, isChanged, entries));
              }
              return woken
                  .timeout(leftNanos, TimeUnit.NANOSECONDS)
                  .recover(
                      e ->
                          e instanceof TimeoutException
                              ? Future.succeededFuture()
                              : Future.failedFuture(e))
                  .compose(again -> look(wait));
            });
  }

  private static Change change(
      Wait wait,
      ClusterView view,
      String digest,
      boolean isChanged,
      List<ActivityStore.StoredActivity> entries) {
    boolean isMore = entries.size() > ENTRIES;
    List<ActivityStore.StoredActivity> told = isMore ? entries.subList(0, ENTRIES) : entries;
    return new Change(
        view, isChanged, wait.isGap, told, wait.position.after(told).id() + "-" + digest);
  }

  /**
   * Digests the part of the state that belongs to the cluster: neither prices nor the rest of a
   * notice.
   */
  private static String digest(ClusterView view) {
    JsonObject state = view.encoded().json().toJsonObject();
    state.remove("pool");
    JsonObject hold = state.getJsonObject("billing_hold");
    if (hold != null) {
      hold.remove("enforce_after_ms");
    }
    return HexFormat.of().formatHex(Digests.sha256(state.toBuffer().getBytes()), 0, DIGEST_BYTES);
  }

  /** One wait. Waking up costs nothing, so it is called on any thread. */
  private static final class Wait implements Listener {
    private final String name;
    private final @Nullable Long version;
    private final String digest;
    private final long deadlineNanos;

    // Written by one step of the wait and read by the next.
    private volatile ActivityStore.Position position = ActivityStore.Position.START;
    private volatile boolean isGap;
    private volatile @Nullable ClusterView seen;
    private volatile boolean isGone;
    private volatile Promise<Void> change = Promise.promise();

    Wait(String name, @Nullable Long version, String digest, long deadlineNanos) {
      this.name = name;
      this.version = version;
      this.digest = digest;
      this.deadlineNanos = deadlineNanos;
    }

    /** Succeeds with the next change; must be called before the current state is read. */
    Future<Void> listen() {
      Promise<Void> next = Promise.promise();
      change = next;
      if (isGone) {
        next.tryComplete();
      }
      return next.future();
    }

    void wake() {
      change.tryComplete();
    }

    /** Ends the wait because the caller disconnected. */
    void leave() {
      isGone = true;
      wake();
    }

    @Override
    public Executor loop() {
      return Runnable::run;
    }

    @Override
    public void take(Subscriber.Update update) {
      ClusterView known = seen;
      if (known == null || !update.entries().isEmpty() || !known.isSameAs(update.view())) {
        wake();
      }
    }

    @Override
    public void take(Subscriber.Threat threat) {
      // A close rival is a matter of prices, not a change of the cluster.
    }
  }
}
