package dev.bourse.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Hold;
import dev.bourse.capacity.Sample;
import dev.bourse.core.Page;
import io.vertx.core.buffer.Buffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The encoding of events, in a page of activity and in a stream. */
@Tag("fast")
class EventTextTest {
  private static ActivityStore.StoredActivity entry(ClusterEvent event) {
    return new ActivityStore.StoredActivity(
        7, Sample.T0, "c1", new Activity("system:market", event));
  }

  private static @Nullable String note(ClusterEvent event) {
    return EventText.entry(entry(event), Cluster.Kind.VM).note();
  }

  private static String told(ClusterEvent event) {
    return EventText.node(entry(event), Cluster.Kind.VM).map(Buffer::toString).orElse("");
  }

  @Test
  void aGrantIsToldWithItsNode() {
    assertEquals(
        """
        id: 7
        event: grant
        data: {"public_ip":"10.0.0.1","granted_at":"2023-11-14T22:13:20.000Z"}

        """,
        told(new ClusterEvent.Granted("10.0.0.1")));
  }

  @Test
  void aReleaseIsToldWithItsReason() {
    assertEquals(
        """
        id: 7
        event: reclaim
        data: {"public_ip":"10.0.0.1","reason":"outbid","reclaimed_at":"2023-11-14T22:13:20.000Z"}

        """,
        told(new ClusterEvent.Released("10.0.0.1", Allocation.Reason.OUTBID)));
  }

  @Test
  void aNoticeIsToldWithWhenItEndsAndSoIsItsWithdrawal() {
    assertEquals(
        """
        id: 7
        event: notice
        data: {"public_ip":"10.0.0.1","reason":"outbid",\
        "noticed_at":"2023-11-14T22:13:20.000Z","reclaim_at":"2023-11-14T22:15:20.000Z"}

        """,
        told(
            new ClusterEvent.NoticeGiven(
                "10.0.0.1", Allocation.Reason.OUTBID, 1_700_000_120_000L)));
    assertEquals(
        """
        id: 7
        event: notice-withdrawn
        data: {"public_ip":"10.0.0.1","withdrawn_at":"2023-11-14T22:13:20.000Z"}

        """,
        told(new ClusterEvent.NoticeWithdrawn("10.0.0.1")));
  }

  @Test
  void aGrantThatIsUnwoundIsToldAsAReclaim() {
    assertEquals(
        """
        id: 7
        event: reclaim
        data: {"public_ip":"10.0.0.1","reason":"unwound","reclaimed_at":"2023-11-14T22:13:20.000Z"}

        """,
        told(new ClusterEvent.Unwound("10.0.0.1", "it did not boot")));
  }

  @Test
  void anAlertAWarningAndAGapHaveTheirData() {
    assertEquals(
        """
        id: 7
        event: alert
        data: {"alert":"rival","detail":"a rival","raised_at":"2023-11-14T22:13:20.000Z"}

        """,
        told(new ClusterEvent.AlertRaised(Alerts.Kind.RIVAL, "a rival")));
    assertEquals(
        """
        id: 8
        event: warning
        data: {"max_price_per_gpu_hour":2.5,"rival_price_per_gpu_hour":2.4,"nodes_unprotected":3}

        """,
        EventText.warning(8, 250, 240, 3).toString());
    assertEquals(
        """
        id: 9
        event: gap
        data: {"last_event_id":5}

        """,
        EventText.gap(9, 5).toString());
  }

  @Test
  void theHistoryHasItsSeriesInOrder() {
    assertEquals(
        """
        {"cluster":"c1","t0":1700000000,"step":60,"max_nodes":[1,null],"granted":[2,3],\
        "max_price":[20.0,null],"price":[16.4,null]}\
        """,
        EventRoutes.history(
                new ActivityService.ClusterHistory(
                    "c1",
                    8,
                    new HistorySeries(
                        1_700_000_000,
                        60,
                        Arrays.asList(1L, null),
                        List.of(2L, 3L),
                        Arrays.asList(250L, null),
                        Arrays.asList(205.0, null))))
            .toBuffer()
            .toString());
  }

  @Test
  void whatMovesNoNodeIsNotTold() {
    assertEquals("", told(new ClusterEvent.Declared(8, 250)));
    assertEquals("", told(new ClusterEvent.SwapLapsed("10.0.0.1")));
    assertEquals("", told(new ClusterEvent.SwapEnded("10.0.0.1")));
    assertEquals("", told(new ClusterEvent.HoldLifted()));
    assertEquals("", told(new ClusterEvent.Unrecognized("granted a wish", null)));
  }

  @Test
  void aDeclarationShowsWhatWasDeclaredAndByWhom() {
    ActivityStore.StoredActivity entry =
        new ActivityStore.StoredActivity(
            7, Sample.T0, "c1", new Activity("token:abc", new ClusterEvent.Declared(16, 250)));
    assertEquals(
        """
        {"entries":[{"id":7,"ts":"2023-11-14T22:13:20.000Z","cluster":"c1","kind":"request",\
        "actor":"token:abc","who":"user","max_gpus":16,"max_price_per_gpu_hour":2.5,\
        "note":null,"reason":null}],"more":true}\
        """,
        EventRoutes.entries(new Page<>(List.of(entry), true), Cluster.Kind.VM)
            .toBuffer()
            .toString());
  }

  @Test
  void anActionShowsItsNoteAndReason() {
    assertEquals(
        """
        {"id":7,"ts":"2023-11-14T22:13:20.000Z","cluster":"c1","kind":"action",\
        "actor":"system:market","who":null,"max_gpus":null,"max_price_per_gpu_hour":null,\
        "note":"released 10.0.0.1","reason":"scale-down"}\
        """,
        EventText.entry(
                entry(new ClusterEvent.Released("10.0.0.1", Allocation.Reason.SCALE_DOWN)),
                Cluster.Kind.VM)
            .toBuffer()
            .toString());
  }

  @Test
  void eachActionHasItsNote() {
    assertEquals("granted 10.0.0.1", note(new ClusterEvent.Granted("10.0.0.1")));
    assertEquals(
        "grant of 10.0.0.1 unwound: it did not boot",
        note(new ClusterEvent.Unwound("10.0.0.1", "it did not boot")));
    assertEquals("swap of 10.0.0.1 lapsed", note(new ClusterEvent.SwapLapsed("10.0.0.1")));
    assertEquals(
        "swap of 10.0.0.1 ended: an operator pinned it",
        note(new ClusterEvent.SwapEnded("10.0.0.1")));
    assertEquals(
        "billing hold grace because of balance",
        note(new ClusterEvent.HoldPlaced(Hold.Stage.GRACE, "balance")));
    assertEquals("billing hold lifted", note(new ClusterEvent.HoldLifted()));
    assertEquals("some text", note(new ClusterEvent.Unrecognized("some text", null)));
    assertNull(note(new ClusterEvent.Unrecognized(null, null)));
    assertEquals(
        Optional.empty(),
        EventText.node(entry(new ClusterEvent.Unrecognized(null, null)), Cluster.Kind.VM));
  }

  private static String onK8s(ClusterEvent event, @Nullable String node) {
    ActivityStore.StoredActivity entry =
        new ActivityStore.StoredActivity(
            7, Sample.T0, "c1", new Activity("system:market", event, node));
    return EventText.node(entry, Cluster.Kind.K8S)
            .map(Buffer::toString)
            .map(text -> text.lines().toList().get(2))
            .orElse("")
        + " / "
        + EventText.entry(entry, Cluster.Kind.K8S).note();
  }

  @Test
  void theKubernetesSurfaceNamesNodesAndShowsNoAddress() {
    assertEquals(
        List.of(
            "data: {\"name\":\"n1\",\"granted_at\":\"2023-11-14T22:13:20.000Z\"} / granted n1",
            "data: {\"name\":\"n1\",\"reason\":\"outbid\",\"noticed_at\":"
                + "\"2023-11-14T22:13:20.000Z\",\"reclaim_at\":\"2023-11-14T22:13:21.000Z\"}"
                + " / notice for n1, until 2023-11-14T22:13:21.000Z",
            "data: {\"name\":\"n1\",\"withdrawn_at\":\"2023-11-14T22:13:20.000Z\"}"
                + " / notice for n1 withdrawn",
            "data: {\"name\":\"n1\",\"reason\":\"outbid\",\"reclaimed_at\":"
                + "\"2023-11-14T22:13:20.000Z\"} / released n1",
            "data: {\"name\":\"n1\",\"reason\":\"unwound\",\"reclaimed_at\":"
                + "\"2023-11-14T22:13:20.000Z\"} / grant of n1 unwound: it failed",
            " / swap of n1 lapsed",
            " / swap of n1 ended: an operator pinned it",
            " / billing hold lifted",
            " / null"),
        Stream.of(
                new ClusterEvent.Granted("10.0.0.1"),
                new ClusterEvent.NoticeGiven(
                    "10.0.0.1", Allocation.Reason.OUTBID, Sample.T0 + 1_000),
                new ClusterEvent.NoticeWithdrawn("10.0.0.1"),
                new ClusterEvent.Released("10.0.0.1", Allocation.Reason.OUTBID),
                new ClusterEvent.Unwound("10.0.0.1", "it failed"),
                new ClusterEvent.SwapLapsed("10.0.0.1"),
                new ClusterEvent.SwapEnded("10.0.0.1"),
                new ClusterEvent.HoldLifted(),
                new ClusterEvent.Unrecognized("granted 10.0.0.1 again", null))
            .map(event -> onK8s(event, "n1"))
            .toList());
    assertEquals(
        "data: {\"name\":null,\"granted_at\":\"2023-11-14T22:13:20.000Z\"} / granted a node",
        onK8s(new ClusterEvent.Granted("10.0.0.1"), null),
        "stored by an earlier release");
  }
}
