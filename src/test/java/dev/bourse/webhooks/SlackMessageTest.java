package dev.bourse.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.TrailEntry;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.events.ActivityStore.StoredActivity;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages for people: their sentences, their links, and texts that try to be more than text. */
@Tag("fast")
class SlackMessageTest {
  private static final long AT = Instant.parse("2026-03-01T10:00:00Z").toEpochMilli();
  private static final EventLink LINK =
      new EventLink(() -> "https://bourse.example", name -> name.equals("acme-k8s"));

  private static JsonObject of(String cluster, ClusterEvent event) {
    return new JsonObject(
        WebhookEvent.of(
                new StoredActivity(7, AT, cluster, new Activity("system:market", event)),
                Cluster.Kind.VM)
            .orElseThrow()
            .body());
  }

  private static JsonObject of(String action, String detail) {
    return new JsonObject(
        WebhookEvent.of(new TrailEntry(8, AT, "member:ann", action, "acme-train", detail))
            .orElseThrow()
            .body());
  }

  private static String text(JsonObject event) {
    JsonObject message = new JsonObject(SlackMessage.of(event, LINK));
    assertEquals(1, message.size());
    return message.getString("text");
  }

  private static String sentence(ClusterEvent event) {
    return EventWords.sentence(of("acme-train", event));
  }

  @Test
  void aNoticeNamesTheNodeAndTheTimeAndLeadsToTheCeilingThatKeepsIt() {
    ClusterEvent notice =
        new ClusterEvent.NoticeGiven("198.18.0.1", Allocation.Reason.OUTBID, AT + 600_000);
    assertEquals(
        """
        acme-train: node 198.18.0.1 will be reclaimed at 2026-03-01 10:10 UTC (outbid).
        <https://bourse.example/console/clusters/acme-train?ceiling=keep|Open in the console>\
        """,
        text(of("acme-train", notice)));
    assertTrue(
        text(of("acme-k8s", notice))
            .contains("<https://bourse.example/console/kubernetes/acme-k8s?ceiling=keep|"));
  }

  @Test
  void eachEventOfAClusterIsASentence() {
    assertEquals(
        "acme-train: a node is being reclaimed (unwound).",
        sentence(new ClusterEvent.Unwound(null, "no answer")));
    assertEquals(
        "acme-train: node 198.18.0.1 was granted and is being prepared.",
        sentence(new ClusterEvent.Granted("198.18.0.1")));
    assertEquals(
        "acme-train: the declaration ended because its budget is used up.",
        sentence(new ClusterEvent.Declared(0, 350, Allocation.Reason.SPENT, null)));
    assertEquals(
        "acme-train: the billing hold was lifted.", sentence(new ClusterEvent.HoldLifted()));
    assertEquals(
        "acme-train: alert: a bid came near.",
        sentence(new ClusterEvent.AlertRaised(Alerts.Kind.RIVAL, "a bid came near")));
    assertEquals(
        "acme-train: node 198.18.0.1 does not answer the service.",
        EventWords.sentence(of("node_silent", "public_ip=198.18.0.1 slot=0")));
    assertEquals(
        "acme-train: the health of node 198.18.0.1 is now failed (xid 79; hot).",
        EventWords.sentence(
            of("node_health", "public_ip=198.18.0.1 slot=0 health=failed reasons=xid 79; hot")));
  }

  @Test
  void aTextOfAMemberCannotNotifyAChannelPointElsewhereOrAddALine() {
    String text =
        text(of("checkpoint_review", "title=<!channel> & <https://evil.example|Open>\nsecond"));
    assertFalse(text.contains("<!"), text);
    assertTrue(
        text.contains("title=&lt;!channel&gt; &amp; &lt;https://evil.example|Open&gt; second"),
        text);
    assertEquals(2, text.lines().count());
    assertEquals(1, text.chars().filter(c -> c == '<').count());
    String plain = text(of("checkpoint_review", "title=@everyone [Open](https://evil.example)"));
    assertFalse(plain.contains("@everyone"), plain);
    assertFalse(plain.contains("]("), plain);
  }

  @Test
  void aLongDetailIsCut() {
    assertTrue(text(of("vm_token_mint", "x".repeat(50_000))).length() < 1_200);
  }

  @Test
  void anEventOfALaterReleaseIsNamed() {
    assertEquals(
        "Event later.\n<https://bourse.example/console/|Open in the console>",
        text(new JsonObject().put("type", "later").put("timestamp", "t")));
  }
}
