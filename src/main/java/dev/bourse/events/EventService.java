package dev.bourse.events;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditedReads;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.ClusterView;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiException;
import dev.bourse.pools.Quote;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Streams of a cluster's events: its state after each change, nodes granted and reclaimed, and a
 * warning when a rival's bid comes close.
 *
 * <p>An event's id is that of its entry in the stored activity, or of the last one before it. Ids
 * grow with time over all processes, so a stream can resume after any of them on any process. One
 * cluster's entries are committed in the order of their ids, because each commit locks the
 * cluster's row.
 */
public final class EventService {
  private static final Logger LOG = LoggerFactory.getLogger(EventService.class);

  /** How far back a stream resumes: the same period as for other reads of the activity. */
  private static final int DEPTH = ActivityStore.DEPTH;

  private static final Pattern ID = Pattern.compile("\\d{1,18}");

  private final Clusters clusters;
  private final ActivityStore activity;
  private final AuditedReads reads;
  private final Clock clock;
  private final Map<String, Topic> topics = new ConcurrentHashMap<>();
  private Runnable unsubscribe = () -> {};

  public EventService(Clusters clusters, ActivityStore activity, AuditedReads reads, Clock clock) {
    this.clusters = clusters;
    this.activity = activity;
    this.reads = reads;
    this.clock = clock;
  }

  /** Subscribes to changes and ticks. */
  public void start() {
    Runnable noChanges =
        clusters.onPublished(
            cluster -> {
              Topic topic = topics.get(cluster.name());
              if (topic != null) {
                topic.changed();
              }
            });
    Runnable noQuotes = clusters.onQuote(this::onTick);
    unsubscribe =
        () -> {
          noChanges.run();
          noQuotes.run();
        };
  }

  /** Unsubscribes. */
  public Future<Void> stop() {
    unsubscribe.run();
    return Future.succeededFuture();
  }

  private void onTick(String pool, Quote quote) {
    long now = clock.millis();
    for (Topic topic : topics.values()) {
      if (topic.isOf(pool)) {
        topic.onTick(quote, now);
      }
    }
  }

  /** A stream that is ready to start. */
  @FunctionalInterface
  public interface Stream {
    /**
     * Starts the stream: first the missed events, then the state, then each change.
     *
     * @param loop where the sink is called; streams of one event loop share it
     * @param sink receives whole encoded events
     * @param giveUp runs there if the stream cannot continue
     * @return ends the stream; call it on the loop
     */
    Runnable begin(Executor loop, Consumer<Buffer> sink, Runnable giveUp);
  }

  /**
   * Opens a stream of a cluster's events; an audited read of the capacity state of a VM cluster.
   * Fails like reads of the capacity, and with {@code bad-request} for an invalid id.
   *
   * @param surface the kind of the cluster
   * @param cluster the named cluster, if any
   * @param lastEventId the last event the client has received, empty for none
   */
  public Stream open(
      Cluster.Kind surface,
      Principal caller,
      Optional<String> cluster,
      Optional<String> lastEventId) {
    lastEventId
        .filter(id -> !ID.matcher(id).matches())
        .ifPresent(
            id -> {
              throw ApiException.badField("Last-Event-ID", id, "the id of an event of this stream");
            });
    Cluster followed = resolve(surface, caller, cluster).cluster();
    String name = followed.name();
    recordRead(caller, followed, "events");
    return (loop, sink, giveUp) ->
        begin(name, lastEventId.map(Long::valueOf), new Subscriber(loop, sink), giveUp);
  }

  /** Returns the cluster that a call is about, see {@link ClusterAccess#resolve}. */
  ClusterView resolve(Cluster.Kind surface, Principal caller, Optional<String> cluster) {
    return new ClusterAccess(clusters, surface).resolve(caller, cluster);
  }

  /**
   * Records that a caller follows the state of a VM cluster. Reads of Kubernetes clusters are not
   * recorded.
   *
   * @param detail the kind of the request
   */
  void recordRead(Principal caller, Cluster followed, String detail) {
    if (followed.kind() == Cluster.Kind.VM) {
      reads.record(
          new AuditRow(
              clock.millis(),
              caller.org().orgId(),
              caller.actor(),
              "vm_capacity_get",
              followed.name(),
              detail));
    }
  }

  private Runnable begin(
      String name, Optional<Long> lastEventId, Subscriber subscriber, Runnable giveUp) {
    Topic topic = join(name, subscriber);
    topic
        .ready()
        .compose(ready -> missed(name, lastEventId))
        .onSuccess(
            missed -> subscriber.loop().execute(() -> catchUp(name, topic, subscriber, missed)))
        .onFailure(
            e -> {
              LOG.warn("events of cluster {} cannot be read: {}", name, e.toString());
              subscriber.loop().execute(giveUp);
            });
    return () -> {
      subscriber.end();
      leave(name, subscriber);
    };
  }

  /** Subscribes a listener to a cluster's events, until {@link #leave}. */
  Topic join(String name, Listener subscriber) {
    return topics.compute(
        name,
        (key, known) -> {
          Topic topic = known == null ? new Topic(name, clusters, activity) : known;
          topic.add(subscriber);
          return topic;
        });
  }

  void leave(String name, Listener subscriber) {
    topics.computeIfPresent(name, (key, topic) -> topic.remove(subscriber) ? topic : null);
  }

  /**
   * The events that a client missed.
   *
   * @param afterId the client's position
   * @param entries the entries after it
   * @param isGap whether some are left out or unknown
   */
  private record Missed(long afterId, List<ActivityStore.StoredActivity> entries, boolean isGap) {}

  private Future<Missed> missed(String name, Optional<Long> lastEventId) {
    if (lastEventId.isEmpty()) {
      return activity.findNewestAction(name).map(p -> new Missed(p.id(), List.of(), false));
    }
    long after = lastEventId.get();
    return activity
        .findPosition(after)
        .compose(
            position ->
                position.isEmpty()
                    ? lost(name)
                    : activity
                        .listActionsAfter(name, position.get(), DEPTH + 1)
                        .compose(
                            entries ->
                                entries.size() > DEPTH
                                    ? lost(name)
                                    : Future.succeededFuture(new Missed(after, entries, false))));
  }

  private Future<Missed> lost(String name) {
    return activity.findNewestAction(name).map(p -> new Missed(p.id(), List.of(), true));
  }

  private void catchUp(String name, Topic topic, Subscriber subscriber, Missed missed) {
    clusters
        .find(name)
        .ifPresent(
            view ->
                subscriber.startLive(
                    missed.afterId(),
                    Topic.encode(missed.entries(), view.cluster().kind()),
                    missed.isGap(),
                    view,
                    topic.threat()));
  }
}
