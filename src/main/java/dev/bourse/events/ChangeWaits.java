package dev.bourse.events;

import dev.bourse.access.Principal;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiError;
import dev.bourse.core.Digests;
import dev.bourse.core.Limit;
import dev.bourse.core.LimitPair;
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
 * Waits for the next change of a cluster, for callers who cannot keep a stream open. A wait listens
 * as a stream does and holds no thread; it is over with the change, at its deadline, or once its
 * caller is gone.
 *
 * <p>Prices are not a change of the cluster: they move at any tick, and a caller who waits for a
 * node would be told of nothing else.
 */
public final class ChangeWaits {
  /** Proxies and clients commonly give an answer 30 s to begin; this leaves 5 of them. */
  public static final long MOST_MILLIS = 25_000;

  /** Of one caller, a member or an API token; more is a client that forgets its waits. */
  static final int MOST_PER_CALLER = 8;

  /**
   * In the process, of which an organization may have as many as are free: a request each, and a
   * read of the activity each when all are woken at once.
   */
  static final int MOST = 1_000;

  /** What an answer tells of what happened; whoever missed more reads the activity. */
  private static final int ENTRIES = 50;

  private static final int DIGEST_BYTES = 8;
  private static final Pattern CURSOR = Pattern.compile("(\\d{1,18})-([0-9a-f]{16})");

  private final EventService events;
  private final Clusters clusters;
  private final ClusterAccess access;
  private final ActivityStore activity;
  private final LongSupplier nanoTime;
  private final LimitPair waits;
  private final Set<Wait> open = ConcurrentHashMap.newKeySet();
  private volatile boolean isEnded;

  /**
   * @param nanoTime a clock that nobody sets
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
        new LimitPair(
            Limit.of("waits for a change", Integer.MAX_VALUE).sharing(MOST_PER_CALLER),
            Limit.of("waits for a change", most).sharingFairly());
    this.events = events;
    this.clusters = clusters;
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.activity = activity;
    this.nanoTime = nanoTime;
  }

  /**
   * What a caller knows.
   *
   * @param cursor the one that the wait before gave; null for none
   * @param version of the state it has read; null for none
   */
  public record Known(@Nullable String cursor, @Nullable Long version) {}

  /**
   * How a wait ended.
   *
   * @param view the cluster now
   * @param isChanged whether it is other than the caller knew it
   * @param isGap whether more happened than is told
   * @param entries what happened meanwhile, by id
   * @param cursor for the next wait
   */
  public record Change(
      ClusterView view,
      boolean isChanged,
      boolean isGap,
      List<ActivityStore.StoredActivity> entries,
      String cursor) {

    /** All but the cluster's state. */
    public JsonObject toJson() {
      JsonArray happened = new JsonArray();
      entries.forEach(entry -> happened.add(EventText.entry(entry)));
      return new JsonObject()
          .put("cluster", view.cluster().name())
          .put("version", view.cluster().version())
          .put("changed", isChanged)
          .put("gap", isGap)
          .put("activity", happened)
          .put("cursor", cursor);
    }
  }

  /** How many waits there are now. */
  public int running() {
    return waits.running();
  }

  /** Has all waits answer now, and later ones at once: the service stops. */
  public void end() {
    isEnded = true;
    open.forEach(Wait::wake);
  }

  /**
   * Waits until a cluster is other than the caller knows it; at once when it is already. An audited
   * read of the capacity state. Refused as reads of the capacity are, with {@code bad-request} for
   * a cursor that is none, and with {@code overloaded} while there are too many waits, of the
   * caller, of its organization or of all.
   *
   * @param cluster the cluster it names, if any
   * @param known empty to wait for whatever comes next
   * @param millis for how long at most
   * @param ifGone is given what to run when the caller goes away
   */
  public Future<Change> next(
      Principal caller,
      Optional<String> cluster,
      Known known,
      long millis,
      Consumer<Runnable> ifGone) {
    Optional<Matcher> cursor = Optional.ofNullable(known.cursor()).map(ChangeWaits::parsed);
    ClusterView standing = access.resolve(caller, cluster);
    String name = standing.cluster().name();
    LimitPair.Places places = waits.enter(caller.budgetKey(), caller.owner());
    events.recordRead(caller, name, "wait");
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
                request.waited(RequestContext.Wait.CHANGE, begunNanos);
              }
              events.leave(name, wait);
              open.remove(wait);
              places.close();
            });
  }

  private static Matcher parsed(String cursor) {
    Matcher matcher = CURSOR.matcher(cursor);
    if (!matcher.matches()) {
      throw ApiError.badField("cursor", cursor, "the one that an earlier wait gave, or none");
    }
    return matcher;
  }

  /** Where the caller stands in the activity. */
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
          // An entry that is gone, with what followed it for all that is known.
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

  /** Answers if there is something to tell or no time is left; else looks again once woken. */
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
                      .orElseThrow(() -> ApiError.notFound("VM cluster", wait.name));
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

  /** What the state tells of the cluster itself: neither prices nor how long a notice has left. */
  private static String digest(ClusterView view) {
    JsonObject state = view.encoded().json().toJsonObject();
    state.remove("pool");
    JsonObject hold = state.getJsonObject("billing_hold");
    if (hold != null) {
      hold.remove("enforce_after_ms");
    }
    return HexFormat.of().formatHex(Digests.sha256(state.toBuffer().getBytes()), 0, DIGEST_BYTES);
  }

  /** One wait. It does nothing but wake up, so it is called wherever something happens. */
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

    /** Succeeds with the next change; to be called before what stands is read. */
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

    /** The caller is gone. */
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
      if (known == null || !update.told().isEmpty() || !known.isSameAs(update.view())) {
        wake();
      }
    }

    @Override
    public void take(Subscriber.Threat threat) {
      // A rival comes close by a price, which is no change of the cluster.
    }
  }
}
