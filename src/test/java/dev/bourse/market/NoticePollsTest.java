package dev.bourse.market;

import static dev.bourse.capacity.Sample.T0;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.NodeAgent;
import dev.bourse.capacity.Capacity;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.Clusters;
import dev.bourse.capacity.Sample;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.FakeClock;
import dev.bourse.pools.Switches;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An agent learns of a notice when it begins, and keeps nobody else from learning of theirs. */
@Tag("fast")
class NoticePollsTest {
  private final FakeClock clock = new FakeClock(T0 + 100_000);
  private final Clusters clusters = new Clusters(new Switches(true, true, true), clock);
  private final NoticePolls polls = polls(clusters, 10);
  private final List<Runnable> departures = new ArrayList<>();
  private Cluster cluster = Sample.active(2);

  NoticePollsTest() {
    clusters.put(Sample.POOL);
    publish(cluster);
  }

  private NoticePolls polls(Clusters known, int most) {
    return new NoticePolls(known, clock, () -> clock.millis() * 1_000_000, Runnable::run, most);
  }

  private void publish(Cluster next) {
    cluster = Sample.revised(next, cluster.revision() + 1);
    Sample.publish(clusters, cluster);
  }

  private void drill() {
    publish(Capacity.drill(cluster, Sample.ACTOR, Sample.TERMS, clock.millis()).next());
  }

  private Future<Optional<JsonObject>> poll(int node, @Nullable String after) {
    return polls.next(
        new NodeAgent("a" + node, "acme"), Optional.ofNullable(after), 25_000, departures::add);
  }

  private static JsonObject told(Future<Optional<JsonObject>> poll) {
    assertTrue(poll.isComplete(), "it waits");
    return poll.result().orElseThrow();
  }

  private static String after(JsonObject told) {
    return "%s:%s:%s"
        .formatted(told.getString("id"), told.getString("state"), told.getLong("sequence"));
  }

  @Test
  void aDrillIsToldWhenItBeginsAndWhenTheTimeEndsIt() {
    Future<Optional<JsonObject>> waiting = poll(0, null);
    publish(cluster);
    assertFalse(waiting.isComplete(), "nothing for the node has changed");
    drill();
    JsonObject given = told(waiting);
    assertEquals("given", given.getString("state"));
    assertTrue(given.getBoolean("drill"));
    assertEquals(given, told(poll(0, null)), "an agent that starts now is told at once");

    Future<Optional<JsonObject>> next = poll(0, after(given));
    clock.advance(20_000);
    polls.sweep();
    assertFalse(next.isComplete());
    clock.advance(5_000);
    polls.sweep();
    assertEquals(Optional.empty(), next.result(), "its time is over");
    next = poll(0, after(given));
    clock.advance(95_000);
    polls.sweep();
    JsonObject withdrawn = told(next);
    assertEquals("withdrawn", withdrawn.getString("state"));
    assertEquals(given.getString("id"), withdrawn.getString("id"));
    assertTrue(withdrawn.getLong("sequence") > given.getLong("sequence"));
    assertFalse(poll(0, after(withdrawn)).isComplete());
    assertEquals(1, polls.running());
  }

  @Test
  void aPollThatBeginsAfterAChangeHidesItFromNoOther() {
    drill();
    String given = after(told(poll(0, null)));
    Future<Optional<JsonObject>> first = poll(0, given);
    clock.advance(120_000);
    assertEquals("withdrawn", told(poll(1, given)).getString("state"));
    assertFalse(first.isComplete());
    polls.sweep();
    assertEquals("withdrawn", told(first).getString("state"));
  }

  @Test
  void aProcessThatKnowsOnlyAnEarlierStateTellsNothing() {
    drill();
    JsonObject given = told(poll(0, null));
    Clusters behind = new Clusters(new Switches(true, true, true), clock);
    behind.put(Sample.POOL);
    Sample.publish(behind, Sample.revised(Sample.active(2), 1));
    Future<Optional<JsonObject>> waiting =
        polls(behind, 1)
            .next(new NodeAgent("a0", "acme"), Optional.of(after(given)), 25_000, gone -> {});
    assertFalse(waiting.isComplete(), "it would withdraw a drill that it has not heard of");
    Sample.publish(behind, cluster);
    assertFalse(waiting.isComplete());
  }

  @Test
  void aPollEndsWithItsAllocationWithItsClientAndWithTheProcess() {
    Future<Optional<JsonObject>> ended = poll(0, null);
    Future<Optional<JsonObject>> other = poll(1, null);
    publish(
        Capacity.declare(
                cluster,
                Sample.order(8, "2", cluster.version(), List.of()),
                Sample.TERMS,
                clock.millis())
            .next());
    Future<Optional<JsonObject>> taken = ended.isComplete() ? ended : other;
    ApiException refused = assertInstanceOf(ApiException.class, taken.cause());
    assertEquals(ErrorCode.UNAUTHORIZED, refused.code());
    assertEquals(1, polls.running());
    assertInstanceOf(ApiException.class, poll(ended == taken ? 0 : 1, null).cause());

    departures.forEach(Runnable::run);
    assertEquals(0, polls.running(), "its client is gone");
    Future<Optional<JsonObject>> last = poll(ended == taken ? 1 : 0, null);
    polls.end();
    assertEquals(Optional.empty(), last.result());
    assertInstanceOf(ApiException.class, poll(ended == taken ? 1 : 0, null).cause());
    assertEquals(0, polls.running());
  }

  private void refused(Runnable poll) {
    assertEquals(ErrorCode.OVERLOADED, assertThrows(ApiException.class, poll::run).code());
  }

  @Test
  void aNodeAndAnOrganizationTakeNoMoreThanTheirShare() {
    poll(0, null);
    poll(0, null);
    refused(() -> poll(0, null));
    publish(Sample.active(8));
    IntStream.range(1, 4).forEach(node -> poll(node, null));
    refused(() -> poll(4, null));
    assertFalse(
        polls
            .next(new NodeAgent("a5", "globex"), Optional.empty(), 25_000, gone -> {})
            .isComplete());
  }

  /** The polls of a large cluster cost one pass over its nodes for each state that is published. */
  @Test
  void thousandsOfPollsOfOneClusterWaitInOneProcess() {
    publish(Sample.active(2_000));
    NoticePolls many = polls(clusters, 4_000);
    List<Future<Optional<JsonObject>>> waiting =
        IntStream.range(0, 2_000)
            .mapToObj(
                node ->
                    many.next(
                        new NodeAgent("a" + node, "acme"), Optional.empty(), 25_000, gone -> {}))
            .toList();
    assertEquals(2_000, many.running());
    many.sweep();
    drill();
    assertTrue(waiting.stream().allMatch(poll -> poll.result().isPresent()));
    assertEquals(0, many.running());
  }
}
