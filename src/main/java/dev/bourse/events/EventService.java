package dev.bourse.events;

import dev.bourse.access.Principal;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditedReads;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterAccess;
import dev.bourse.capacity.Clusters;
import dev.bourse.core.ApiError;
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
 * Streams of what happens to a cluster: its state after each change, nodes granted and reclaimed,
 * and a warning when a rival comes close.
 *
 * <p>An event's id is that of the entry of the stored activity it tells, or of the last one before
 * it. Ids grow with time over all processes, so a stream can go on after any of them on any
 * process. One cluster's entries are committed in the order of their ids, since each commit holds
 * the cluster's row.
 */
public final class EventService {
  private static final Logger LOG = LoggerFactory.getLogger(EventService.class);

  /** How far back a stream resumes; as deep as the activity is read elsewhere. */
  private static final int DEPTH = ActivityStore.DEPTH;

  private static final Pattern ID = Pattern.compile("\\d{1,18}");

  private final Clusters clusters;
  private final ClusterAccess access;
  private final ActivityStore activity;
  private final AuditedReads reads;
  private final Clock clock;
  private final Map<String, Topic> topics = new ConcurrentHashMap<>();
  private Runnable unsubscribe = () -> {};

  public EventService(Clusters clusters, ActivityStore activity, AuditedReads reads, Clock clock) {
    this.clusters = clusters;
    this.access = new ClusterAccess(clusters, Cluster.Kind.VM);
    this.activity = activity;
    this.reads = reads;
    this.clock = clock;
  }

  /** Listens to changes and ticks from now on. */
  public void start() {
    Runnable noChanges =
        clusters.onPublished(
            cluster -> {
              Topic topic = topics.get(cluster.name());
              if (topic != null) {
                topic.changed();
              }
            });
    Runnable noQuotes = clusters.onQuote(this::ticked);
    unsubscribe =
        () -> {
          noChanges.run();
          noQuotes.run();
        };
  }

  /** Listens no more. */
  public Future<Void> stop() {
    unsubscribe.run();
    return Future.succeededFuture();
  }

  private void ticked(String pool, Quote quote) {
    long now = clock.millis();
    for (Topic topic : topics.values()) {
      if (topic.isOf(pool)) {
        topic.ticked(quote, now);
      }
    }
  }

  /** A stream that may begin. */
  @FunctionalInterface
  public interface Stream {
    /**
     * Begins: what was missed first, then the state, then each change.
     *
     * @param loop where the sink is called; streams of one event loop share it
     * @param sink takes encoded events, whole ones
     * @param giveUp is run there when the stream cannot go on
     * @return ends the stream; to be called on the loop
     */
    Runnable begin(Executor loop, Consumer<Buffer> sink, Runnable giveUp);
  }

  /**
   * A stream of a cluster's events; an audited read of its capacity state. Refused as reads of the
   * capacity are, and with {@code bad-request} for an id that is none.
   *
   * @param cluster the cluster it names, if any
   * @param lastEventId the last event the client has seen, empty for none
   */
  public Stream open(Principal caller, Optional<String> cluster, Optional<String> lastEventId) {
    lastEventId
        .filter(id -> !ID.matcher(id).matches())
        .ifPresent(
            id -> {
              throw ApiError.badField("Last-Event-ID", id, "the id of an event of this stream");
            });
    String name = access.resolve(caller, cluster).cluster().name();
    recordRead(caller, name, "events");
    return (loop, sink, giveUp) ->
        begin(name, lastEventId.map(Long::valueOf), new Subscriber(loop, sink), giveUp);
  }

  /**
   * Records that a caller follows a cluster's state.
   *
   * @param detail how
   */
  void recordRead(Principal caller, String name, String detail) {
    reads.record(
        new AuditRow(
            clock.millis(), caller.org().orgId(), caller.actor(), "vm_capacity_get", name, detail));
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

  /** Has somebody told what happens to a cluster from now on, until {@link #leave}. */
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
   * What a client missed.
   *
   * @param afterId where it stood
   * @param entries what followed
   * @param isGap whether more followed, or it is not known what did
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
                subscriber.caughtUp(
                    missed.afterId(),
                    Topic.told(missed.entries()),
                    missed.isGap(),
                    view,
                    topic.threat()));
  }
}
