package dev.bourse.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.delivery.Schedule.Queue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The choice of the next queue. */
@Tag("fast")
class ScheduleTest {
  private static final int MOST = 8;
  private static final int MOST_OF_ENDPOINT = 3;
  private static final int WALKS = 300;
  private static final int STEPS = 400;

  private final Schedule schedule = new Schedule(MOST, MOST_OF_ENDPOINT, MOST / 2);

  private static Queue queue(String endpoint, int source) {
    return new Queue(endpoint, "c" + source);
  }

  private List<Queue> takeAll(long now) {
    return takeAll(schedule, now);
  }

  private static List<Queue> takeAll(Schedule schedule, long now) {
    List<Queue> taken = new ArrayList<>();
    Optional<Queue> next = schedule.take(now);
    while (next.isPresent()) {
      taken.add(next.get());
      next = schedule.take(now);
    }
    return taken;
  }

  @Test
  void whatIsDueLaterIsNotTried() {
    schedule.put(queue("a", 1), 100);
    assertEquals(List.of(), takeAll(99));
    assertEquals(List.of(queue("a", 1)), takeAll(100));
  }

  @Test
  void aQueueHasOneAttemptAtATime() {
    schedule.put(queue("a", 1), 0);
    assertEquals(List.of(queue("a", 1)), takeAll(0));
    schedule.put(queue("a", 1), 0);
    assertEquals(List.of(), takeAll(1));
    schedule.recordSuccess(queue("a", 1), 2);
    assertEquals(List.of(queue("a", 1)), takeAll(2));
  }

  @Test
  void whatComesWhileAQueueIsFoundEmptyIsTried() {
    schedule.put(queue("a", 1), 0);
    takeAll(0);
    schedule.put(queue("a", 1), 0);
    schedule.recordEmpty(queue("a", 1), 1);
    assertEquals(List.of(queue("a", 1)), takeAll(1));
    schedule.recordEmpty(queue("a", 1), 1);
    assertEquals(List.of(), takeAll(2));
    assertEquals(0, schedule.queues());
  }

  @Test
  void aDroppedFailureKeepsItsEndpointFailing() {
    schedule.put(queue("a", 1), 0);
    schedule.put(queue("a", 2), 1);
    schedule.put(queue("a", 3), 1);
    takeAll(0);
    schedule.dropFailed(queue("a", 1), 1);
    assertEquals(List.of(queue("a", 2)), takeAll(1));
    assertEquals(1, schedule.queues());
  }

  @Test
  void aDroppedFailureThatIsFollowedIsTriedAtOnce() {
    schedule.put(queue("a", 1), 0);
    takeAll(0);
    schedule.put(queue("a", 1), 0);
    schedule.dropFailed(queue("a", 1), 1);
    assertEquals(List.of(queue("a", 1)), takeAll(1));
    schedule.dropFailed(queue("a", 1), 1);
    assertEquals(List.of(), takeAll(2));
    assertEquals(0, schedule.queues());
  }

  @Test
  void anItemThatFailedBeforeMakesItsEndpointFailing() {
    schedule.put(queue("a", 1), 0, true);
    schedule.put(queue("a", 2), 0);
    assertEquals(List.of(queue("a", 1)), takeAll(0));
    schedule.recordSuccess(queue("a", 1), 1);
    assertEquals(List.of(queue("a", 2), queue("a", 1)), takeAll(1));
  }

  @Test
  void failingEndpointsHaveTheShareThatIsGiven() {
    for (int share = 1; share <= MOST; share++) {
      Schedule given = new Schedule(MOST, MOST_OF_ENDPOINT, share);
      for (int i = 0; i < 2 * MOST; i++) {
        given.put(queue("e" + i, 1), 0, true);
      }
      assertEquals(share, takeAll(given, 0).size());
    }
  }

  @Test
  void onlyAQueueThatWaitsIsBroughtForward() {
    schedule.bringForward(queue("a", 1), 0);
    assertEquals(List.of(), takeAll(0));
    schedule.put(queue("a", 1), 100);
    schedule.bringForward(queue("a", 1), 50);
    schedule.bringForward(queue("a", 1), 70);
    assertEquals(List.of(queue("a", 1)), takeAll(50));
    schedule.bringForward(queue("a", 1), 60);
    schedule.recordFailure(queue("a", 1), 1_000, 70);
    assertEquals(List.of(), takeAll(999));
  }

  @Test
  void whatComesWhileAnAttemptFailsOrIsPostponedIsTriedAtOnce() {
    schedule.put(queue("a", 1), 0);
    takeAll(0);
    schedule.put(queue("a", 1), 0);
    schedule.recordFailure(queue("a", 1), 1_000, 1);
    assertEquals(List.of(queue("a", 1)), takeAll(1));
    schedule.put(queue("a", 1), 1);
    schedule.postpone(queue("a", 1), 1_000, 2);
    assertEquals(List.of(queue("a", 1)), takeAll(2));
    schedule.recordFailure(queue("a", 1), 1_000, 3);
    assertEquals(List.of(), takeAll(999));
  }

  @Test
  void endpointsTakeTurnsHoweverManyQueuesTheyHave() {
    for (int source = 0; source < 50; source++) {
      schedule.put(queue("loud", source), 0);
    }
    schedule.put(queue("quiet", 1), 0);
    List<Queue> first = takeAll(0);
    assertTrue(first.subList(0, 2).contains(queue("quiet", 1)), first.toString());
    assertEquals(
        MOST_OF_ENDPOINT, first.stream().filter(q -> q.endpointId().equals("loud")).count());
  }

  @Test
  void anEndpointThatFailsHasOneAttemptUntilOneSucceeds() {
    schedule.put(queue("a", 1), 0);
    schedule.put(queue("a", 2), 0);
    schedule.put(queue("a", 3), 0);
    Queue one = schedule.take(0).orElseThrow();
    schedule.recordFailure(one, 1_000, 0);
    Queue other = schedule.take(0).orElseThrow();
    assertEquals(List.of(), takeAll(0));
    schedule.recordSuccess(other, 0);
    assertEquals(2, takeAll(0).size());
  }

  @Test
  void endpointsThatFailLeaveHalfOfTheRoomToOthers() {
    for (int i = 0; i < 20; i++) {
      schedule.put(queue("dead" + i, 1), 0);
    }
    List<Queue> taken = takeAll(0);
    while (!taken.isEmpty()) {
      taken.forEach(queue -> schedule.recordFailure(queue, 1, 0));
      taken = takeAll(0);
    }
    assertEquals(MOST / 2, takeAll(1).size());
    schedule.put(queue("alive", 1), 1);
    assertEquals(List.of(queue("alive", 1)), takeAll(1));
  }

  @Test
  void ofManyEndpointsThatFailNoMoreAreTriedAtOnceThanLeaveOthersThreadsToLookUpTheirHosts() {
    Schedule large = new Schedule(256, MOST_OF_ENDPOINT, 8);
    for (int i = 0; i < 100; i++) {
      large.put(queue("dead" + i, 1), 0);
    }
    List<Queue> first = takeAll(large, 0);
    assertEquals(100, first.size());
    first.forEach(queue -> large.recordFailure(queue, 1, 0));
    assertEquals(8, takeAll(large, 1).size());
    large.put(queue("alive", 1), 1);
    assertEquals(List.of(queue("alive", 1)), takeAll(large, 1));
  }

  /** A simple model of pending queues and attempts in progress. */
  private static final class Model {
    final Map<Queue, Long> waiting = new HashMap<>();
    final Map<Queue, Boolean> underWay = new HashMap<>();
    final Set<Queue> followed = new HashSet<>();
    final Set<String> failing = new HashSet<>();

    long of(String endpoint) {
      return underWay.keySet().stream().filter(q -> q.endpointId().equals(endpoint)).count();
    }

    long doubtful() {
      return underWay.values().stream().filter(doubtful -> doubtful).count();
    }

    boolean mayBegin(Queue queue, long now) {
      boolean isFailing = failing.contains(queue.endpointId());
      return waiting.getOrDefault(queue, Long.MAX_VALUE) <= now
          && underWay.size() < MOST
          && of(queue.endpointId()) < (isFailing ? 1 : MOST_OF_ENDPOINT)
          && (!isFailing || doubtful() < MOST / 2);
    }

    void put(Queue queue, long due) {
      if (underWay.containsKey(queue)) {
        followed.add(queue);
      } else {
        waiting.merge(queue, due, Math::min);
      }
    }
  }

  /**
   * Never starts an attempt too early, too many at once or two of one queue; never idle while one
   * may start.
   */
  @Test
  void anyWalkKeepsTheBoundsAndLeavesNothingThatMayBegin() {
    for (int seed = 0; seed < WALKS; seed++) {
      walk(new Random(seed), "seed " + seed);
    }
  }

  private static void walk(Random random, String seed) {
    Schedule schedule = new Schedule(MOST, MOST_OF_ENDPOINT, MOST / 2);
    Model model = new Model();
    long now = 0;
    for (int step = 0; step < STEPS; step++) {
      now += random.nextInt(3);
      int what = random.nextInt(3);
      if (what == 0 || model.underWay.isEmpty()) {
        Queue queue = queue("e" + random.nextInt(6), random.nextInt(5));
        long due = now + random.nextInt(10);
        schedule.put(queue, due);
        model.put(queue, due);
      } else {
        List<Queue> underWay = new ArrayList<>(model.underWay.keySet());
        end(random, schedule, model, underWay.get(random.nextInt(underWay.size())), now);
      }
      begin(schedule, model, now, seed + " step " + step);
    }
  }

  private static void end(Random random, Schedule schedule, Model model, Queue queue, long now) {
    model.underWay.remove(queue);
    boolean isFollowed = model.followed.remove(queue);
    switch (random.nextInt(4)) {
      case 0 -> {
        schedule.recordSuccess(queue, now);
        model.failing.remove(queue.endpointId());
        model.put(queue, now);
      }
      case 1 -> {
        long due = now + random.nextInt(20);
        schedule.recordFailure(queue, due, now);
        model.failing.add(queue.endpointId());
        model.put(queue, isFollowed ? now : due);
      }
      case 2 -> {
        schedule.postpone(queue, now + 5, now);
        model.put(queue, isFollowed ? now : now + 5);
      }
      default -> {
        schedule.recordEmpty(queue, now);
        if (isFollowed) {
          model.put(queue, now);
        } else if (model.of(queue.endpointId()) == 0
            && model.waiting.keySet().stream()
                .noneMatch(q -> q.endpointId().equals(queue.endpointId()))) {
          // Nothing is remembered of an endpoint without queues.
          model.failing.remove(queue.endpointId());
        }
      }
    }
  }

  private static void begin(Schedule schedule, Model model, long now, String where) {
    Optional<Queue> next = schedule.take(now);
    while (next.isPresent()) {
      Queue queue = next.get();
      assertTrue(model.mayBegin(queue, now), where + " began " + queue);
      model.waiting.remove(queue);
      model.underWay.put(queue, model.failing.contains(queue.endpointId()));
      next = schedule.take(now);
    }
    for (Queue queue : model.waiting.keySet()) {
      assertTrue(!model.mayBegin(queue, now), where + " left " + queue);
    }
    assertEquals(model.waiting.size(), schedule.queues(), where);
    assertEquals(model.underWay.size(), schedule.underWay(), where);
  }
}
