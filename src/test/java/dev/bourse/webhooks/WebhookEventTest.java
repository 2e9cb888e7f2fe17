package dev.bourse.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.TrailEntry;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Hold;
import dev.bourse.contract.Contract;
import dev.bourse.events.ActivityStore.StoredActivity;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events derived from activity and trail entries, compared with the contract's schemas. */
@Tag("fast")
class WebhookEventTest {
  private static final long AT = 1_764_000_000_000L;
  private static final JsonObject CONTRACT = Contract.load("console").document();

  private static final List<ClusterEvent> TOLD =
      List.of(
          new ClusterEvent.Granted("198.18.0.1"),
          new ClusterEvent.NoticeGiven("198.18.0.1", Allocation.Reason.OUTBID, AT + 1),
          new ClusterEvent.NoticeWithdrawn("198.18.0.1"),
          new ClusterEvent.Released("198.18.0.1", Allocation.Reason.SCALE_DOWN),
          new ClusterEvent.Unwound(null, "no answer"),
          new ClusterEvent.Declared(0, 350, Allocation.Reason.LAPSED, null),
          new ClusterEvent.HoldPlaced(Hold.Stage.NOTICE, "the balance"),
          new ClusterEvent.HoldLifted(),
          new ClusterEvent.AlertRaised(Alerts.Kind.RIVAL, "a bid came near"));

  private static final WebhookEvent STATEMENT =
      WebhookEvent.statement("acme", Month.ofNumber(202_610));

  private static Optional<WebhookEvent> of(ClusterEvent event) {
    return of(event, Cluster.Kind.VM);
  }

  private static Optional<WebhookEvent> of(ClusterEvent event, Cluster.Kind surface) {
    return WebhookEvent.of(
        new StoredActivity(
            7, AT, "acme-train", new Activity("system:market", event, "demo-h100-00007")),
        surface);
  }

  /** Returns a text that has all that an event tells programs and people. */
  private static String told(WebhookEvent event) {
    return event.body() + ' ' + EventWords.sentence(new JsonObject(event.body()));
  }

  private static Optional<WebhookEvent> of(String action) {
    return WebhookEvent.of(new TrailEntry(8, AT, "member:ann", action, "acme", "detail"));
  }

  private static JsonObject schema(String name) {
    return CONTRACT.getJsonObject("components").getJsonObject("schemas").getJsonObject(name);
  }

  /** Returns the schema of the data in the contract's webhook of a kind. */
  private static JsonObject dataOf(EventKind kind) {
    String body =
        CONTRACT
            .getJsonObject("webhooks")
            .getJsonObject(kind.label())
            .getJsonObject("post")
            .getJsonObject("requestBody")
            .getJsonObject("content")
            .getJsonObject("application/json")
            .getJsonObject("schema")
            .getString("$ref");
    JsonObject fields = named(body).getJsonObject("properties");
    assertEquals(kind.label(), fields.getJsonObject("type").getString("const"));
    return named(fields.getJsonObject("data").getString("$ref"));
  }

  private static JsonObject named(String reference) {
    return schema(reference.substring(reference.lastIndexOf('/') + 1));
  }

  @Test
  void eachKindIsToldWithTheFieldsOfItsWebhookInTheContract() {
    Set<EventKind> seen = EnumSet.noneOf(EventKind.class);
    for (ClusterEvent event : TOLD) {
      assertDescribed(of(event).orElseThrow(), seen);
      assertDescribed(of(event, Cluster.Kind.K8S).orElseThrow(), seen);
    }
    for (String action :
        List.of(
            "node_silent",
            "node_answers",
            "node_health",
            "vm_token_mint",
            "vm_token_revoke",
            "member_add",
            "member_join",
            "member_invite",
            "member_update",
            "member_remove",
            "checkpoint_review")) {
      assertDescribed(of(action).orElseThrow(), seen);
    }
    assertDescribed(STATEMENT, seen);
    assertEquals(EnumSet.allOf(EventKind.class), seen);
    assertEquals(
        CONTRACT.getJsonObject("webhooks").fieldNames(),
        Set.copyOf(EventKind.labels(EnumSet.allOf(EventKind.class))));
  }

  @Test
  void consoleAndGuideHaveTheKindsThatThereAre() throws IOException {
    Set<String> labels = Set.copyOf(EventKind.labels(EnumSet.allOf(EventKind.class)));
    assertEquals(labels, found("console/components/webhook.js", "\\{ name: '([a-z-]+)', text:"));
    assertEquals(labels, found("console/components/webhook.js", "[{|] ?'([a-z-]+)'"));
    String guide = resource("guides/webhooks.md");
    assertEquals(
        List.of(), labels.stream().filter(label -> !guide.contains('`' + label + '`')).toList());
  }

  private static Set<String> found(String resource, String pattern) throws IOException {
    return Pattern.compile(pattern)
        .matcher(resource(resource))
        .results()
        .map(one -> one.group(1))
        .collect(Collectors.toSet());
  }

  private static String resource(String name) throws IOException {
    return Files.readString(Path.of("src/main/resources", name));
  }

  private static void assertDescribed(WebhookEvent event, Set<EventKind> seen) {
    seen.add(event.kind());
    JsonObject data = dataOf(event.kind());
    assertEquals(
        new TreeSet<>(data.getJsonObject("properties").fieldNames()),
        new TreeSet<>(event.data().fieldNames()),
        event.toString());
    assertEquals(Set.of("type", "timestamp", "data"), new JsonObject(event.body()).fieldNames());
  }

  @Test
  void aNodeIsIdentifiedAsOnItsSurface() {
    List<String> vm = new ArrayList<>();
    List<String> k8s = new ArrayList<>();
    for (ClusterEvent event : TOLD) {
      vm.add(told(of(event).orElseThrow()));
      k8s.add(told(of(event, Cluster.Kind.K8S).orElseThrow()));
    }
    for (String action : List.of("node_silent", "node_health")) {
      vm.add(told(ofNode(action, "public_ip=198.18.0.1 slot=0 health=failed")));
      k8s.add(told(ofNode(action, "name=demo-h100-00007 slot=0 health=failed")));
    }
    assertFalse(vm.toString().contains("demo-h100"), vm.toString());
    assertFalse(k8s.toString().contains("198.18."), k8s.toString());
    assertEquals(7, k8s.stream().filter(text -> text.contains("node demo-h100-00007 ")).count());
  }

  private static WebhookEvent ofNode(String action, String detail) {
    return WebhookEvent.of(new TrailEntry(8, AT, "system:market", action, "acme-k8s", detail))
        .orElseThrow();
  }

  @Test
  void whatNoKindIsAboutIsNotTold() {
    assertTrue(of(new ClusterEvent.Declared(8, 350)).isEmpty());
    assertTrue(of(new ClusterEvent.SwapLapsed("198.18.0.1")).isEmpty());
    assertTrue(of("vm_capacity_put").isEmpty());
    assertTrue(of("webhook_add").isEmpty());
  }

  @Test
  void anEventHasTheSameIdWhoeverReadsItsEntry() {
    assertEquals("msg_cluster_7", of(TOLD.get(0)).orElseThrow().messageId());
    assertEquals("msg_org_8", of("vm_token_mint").orElseThrow().messageId());
    assertEquals("msg_statement_acme_202610", STATEMENT.messageId());
  }
}
