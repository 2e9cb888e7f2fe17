package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.store.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Events are stored as a kind and its columns, and texts of earlier releases are converted. */
class ActivityRowsTest extends StoreFixture {
  private static final List<ClusterEvent> ACTIONS =
      List.of(
          new ClusterEvent.Granted("10.0.0.1"),
          new ClusterEvent.Granted(null),
          new ClusterEvent.Released("10.0.0.1", Allocation.Reason.SCALE_DOWN),
          new ClusterEvent.Unwound("10.0.0.2", "it said\n unwound: again"),
          new ClusterEvent.SwapLapsed("10.0.0.3"),
          new ClusterEvent.SwapEnded("10.0.0.4"),
          new ClusterEvent.HoldPlaced(Hold.Stage.GRACE, "balance"),
          new ClusterEvent.HoldPlaced(Hold.Stage.NOTICE, "spend because of much"),
          new ClusterEvent.HoldPlaced(Hold.Stage.ENFORCE, "balance"),
          new ClusterEvent.HoldLifted());

  /** Events that the previous release has as text only, and does not publish. */
  private static final List<ClusterEvent> TOLD_BEFOREHAND =
      List.of(
          new ClusterEvent.NoticeGiven("10.0.0.1", Allocation.Reason.OUTBID, 1_700_000_120_000L),
          new ClusterEvent.NoticeWithdrawn("10.0.0.1"),
          new ClusterEvent.AlertRaised(Alerts.Kind.RIVAL, "another organization bids 3.90"),
          new ClusterEvent.AlertRaised(Alerts.Kind.LEASE, "the declaration lapses in 60 s"));

  /** Events that the previous release does not know. */
  private static final List<ClusterEvent> LAPSES =
      List.of(
          new ClusterEvent.Declared(0, 250, Allocation.Reason.LAPSED, null),
          new ClusterEvent.Released("10.0.0.1", Allocation.Reason.LAPSED),
          new ClusterEvent.Released(null, Allocation.Reason.SPENT));

  @Test
  void whatIsWrittenIsReadAsItWas() throws Exception {
    List<ClusterEvent> events = new ArrayList<>(ACTIONS);
    events.add(new ClusterEvent.Declared(16, 250));
    events.addAll(LAPSES);
    events.addAll(TOLD_BEFOREHAND);
    List<Statement> rows = new ArrayList<>();
    events.forEach(e -> rows.add(ActivityRows.insert(new Activity("a", e), "c1", Sample.T0)));
    await(database.commit(rows));

    assertEquals(events, stored());
  }

  @Test
  void aProcessOfTheReleaseBeforeIsUnderstoodWhereNodesComeAndGo() throws Exception {
    writeTexts();

    List<ClusterEvent> told = stored();
    assertEquals(ACTIONS.get(0), told.get(0));
    assertEquals(ACTIONS.get(2), told.get(2));
    assertEquals(ACTIONS.get(3), told.get(3));
    assertEquals(
        new ClusterEvent.Unrecognized(ACTIONS.get(4).note(), null),
        told.get(4),
        "no stream publishes it, so its text is enough");
    assertEquals(notes(ACTIONS), notes(told.subList(0, ACTIONS.size())), "all read as before");
  }

  @Test
  void theReleaseBeforeReadsALapseAsTextAndFailsAtNone() throws Exception {
    List<Statement> rows = new ArrayList<>();
    LAPSES.forEach(e -> rows.add(ActivityRows.insert(new Activity("a", e), "c1", Sample.T0)));
    // The previous release knows none of these kinds, and reads the text then.
    rows.add(Statement.of("UPDATE activity SET event = 'unheard of' WHERE kind = 'action'"));
    await(database.commit(rows));

    List<ClusterEvent> told = stored();
    assertEquals(
        List.of(
            new ClusterEvent.Unrecognized("released 10.0.0.1: lapsed", "lapsed"),
            new ClusterEvent.Unrecognized(
                "released a node that was being prepared: spent", "spent")),
        told.subList(1, 3));
    assertEquals(
        List.of(),
        texts("SELECT reason AS value FROM activity WHERE kind = 'action' AND event = 'released'"));
  }

  /** Writes rows like the previous release: the text only. */
  private void writeTexts() throws Exception {
    List<Statement> rows = new ArrayList<>();
    ACTIONS.forEach(event -> rows.add(text(event.note(), event.releaseReason())));
    rows.add(text("an operator did something", null));
    rows.add(text(null, null));
    await(database.commit(rows));
  }

  private static Statement text(@Nullable String note, @Nullable String reason) {
    return Statement.of(
        "INSERT INTO activity (ts, cluster, kind, actor, who, note, reason)"
            + " VALUES (?, 'c1', 'action', 'system:market', 'system', ?, ?)",
        Sample.T0,
        note,
        reason);
  }

  private static List<@Nullable String> notes(List<ClusterEvent> events) {
    List<@Nullable String> notes = new ArrayList<>();
    events.forEach(event -> notes.add(event.note()));
    return notes;
  }

  private List<ClusterEvent> stored() throws Exception {
    List<ActivityStore.StoredActivity> all =
        new ArrayList<>(
            await(new ActivityStore(database).listNewest(List.of("c1"), Optional.empty())));
    all.sort(Comparator.comparingLong(ActivityStore.StoredActivity::id));
    return all.stream().map(entry -> entry.activity().event()).toList();
  }
}
