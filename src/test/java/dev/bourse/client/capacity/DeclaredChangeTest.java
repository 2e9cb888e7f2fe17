package dev.bourse.client.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.command.Question;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The text that is shown before a declaration or a bid is made. */
@Tag("fast")
class DeclaredChangeTest {
  private static final Instant NOW = Instant.parse("2026-03-01T08:00:00Z");
  private static final String LATER = "2026-03-01T08:40:00.000Z";

  private static JsonObject node(@Nullable String address) {
    return new JsonObject().put("public_ip", address).put("protected_until", LATER);
  }

  private static JsonObject loss(@Nullable String address, String by, @Nullable String at) {
    return node(address).put("by", by).put("reclaim_at", at);
  }

  private static DeclaredChange change(JsonObject preview) {
    JsonObject declared = new JsonObject().put("max_gpus", 24).put("max_price_per_gpu_hour", 4.5);
    return new DeclaredChange(
        new JsonObject()
            .put("cluster", "acme-train")
            .put("gpus_per_node", 8)
            .put("declared", declared),
        new JsonObject().put("max_gpus", 16),
        preview,
        NOW);
  }

  @Test
  void protectionThatEndsAndNodesThatGoAreToldWithTheirTimes() {
    List<String> lines =
        change(
                new JsonObject()
                    .put("unprotected", new JsonArray().add(node("198.18.0.2")))
                    .put(
                        "losses",
                        new JsonArray()
                            .add(loss("198.18.0.1", "write", null))
                            .add(loss("198.18.0.2", "tick", "2026-03-01T08:00:10.000Z"))
                            .add(loss(null, "notice", null))
                            .add(loss("198.18.0.3", "notice", "2026-03-01T08:02:00.000Z"))))
            .lines();
    assertEquals(
        List.of(
            "acme-train: 24 GPUs declared, 16 from now on (2 nodes) at no more than $4.50 a"
                + " GPU-hour",
            "at most $72.00 an hour, for as long as it stands",
            "ends 40 minutes of protection of 1 node: rivals can take it from the next tick on:"
                + " 198.18.0.2",
            "loses 1 node and all data on it: 198.18.0.1",
            "at today's bids loses at 2026-03-01T08:00:10.000Z 1 node and all data on it:"
                + " 198.18.0.2",
            "2 nodes under notice because rivals bid more, the first goes at"
                + " 2026-03-01T08:02:00.000Z: one without an address yet, 198.18.0.3"),
        lines);
  }

  @Test
  void whatWouldBeRefusedIsNotAskedAbout() {
    DeclaredChange change =
        change(
            new JsonObject()
                .put(
                    "would_refuse",
                    new JsonObject().put("error", "no-ssh-keys").put("detail", "none")));
    RefusedException refused = assertThrows(RefusedException.class, change::requireAccepted);
    assertTrue(refused.getMessage().contains("bourse keys add"), refused.getMessage());
  }

  private static JsonObject named(String name) {
    return new JsonObject().put("name", name).put("protected_until", LATER);
  }

  /** Returns the question of a bid, as the Kubernetes surface answers. */
  private static Question ofBid(JsonObject body, JsonObject preview) {
    JsonObject state =
        K8sCapacity.of(
            new JsonObject()
                .put("cluster", "acme-k8s")
                .put("version", 3)
                .put("gpus_per_node", 8)
                .put(
                    "bid",
                    new JsonObject().put("max_gpus", 24).put("limit_price_per_gpu_hour", 3)));
    return new DeclaredChange(
            state, K8sCapacity.declaration(body, state), K8sCapacity.preview(preview), NOW)
        .question();
  }

  @Test
  void aBidNamesTheNodesThatGo() {
    JsonObject preview =
        new JsonObject()
            .put("unprotected", new JsonArray().add(named("n2")))
            .put("losses", new JsonArray().add(named("n3").put("by", "write")));
    Question question =
        ofBid(new JsonObject().put("max_gpus", 16).put("limit_price_per_gpu_hour", 2.5), preview);
    assertEquals(
        List.of(
            "acme-k8s: 24 GPUs declared, 16 from now on (2 nodes) at no more than $2.50 a GPU-hour",
            "at most $40.00 an hour, for as long as it stands",
            "ends 40 minutes of protection of 1 node: rivals can take it from the next tick on: n2",
            "loses 1 node and all data on it: n3"),
        question.lines());
    assertEquals(Set.of("write n3", "unprotected n2"), question.losses());
  }

  @Test
  void aBidThatKeepsItsSizeEndsWithTheNodesThatItHoldsThen() {
    JsonObject state =
        new JsonObject()
            .put("bid", new JsonObject())
            .put("nodes", new JsonArray().add(named("n1").put("state", "active")));
    Question question =
        ofBid(
            new JsonObject()
                .put("limit_price_per_gpu_hour", 3)
                .put("until", "2026-03-02T10:00:00+02:00"),
            new JsonObject().put("state", state));
    assertEquals(
        "the node is given back, with all data on it, at 2026-03-02 08:00 UTC",
        question.lines().get(question.lines().size() - 1));
    assertEquals(Set.of("end n1"), question.losses());
  }

  private static JsonObject held(String... addresses) {
    JsonArray allocations = new JsonArray();
    for (String address : addresses) {
      allocations.add(node(address).put("state", "active"));
    }
    allocations.add(node("198.18.0.99").put("state", "reclaiming"));
    return new JsonObject()
        .put("state", new JsonObject().put("allocations", allocations))
        .put("cost_per_hour", 16);
  }

  private static List<String> end(JsonObject sent, JsonObject standing, JsonObject preview) {
    List<String> lines =
        new DeclaredChange(
                new JsonObject()
                    .put("cluster", "acme-train")
                    .put("gpus_per_node", 8)
                    .put("declared", standing.put("max_gpus", 16).put("max_price_per_gpu_hour", 2)),
                sent.put("max_gpus", 16),
                preview,
                NOW)
            .lines();
    return lines.stream().filter(line -> line.contains("given back")).toList();
  }

  private static JsonObject until(String time) {
    return new JsonObject().put("until", time);
  }

  private static JsonObject budget(double usd) {
    return new JsonObject().put("max_spend_usd", usd);
  }

  @Test
  void aNewOrSoonerEndTellsThatAllNodesAreGivenBack() {
    String soon = "2026-03-01T08:01:00Z";
    List<String> expectedLines =
        List.of("all 2 nodes are given back, with all data on them, at 08:01 UTC");
    JsonObject two = held("198.18.0.1", "198.18.0.2");
    assertEquals(expectedLines, end(until(soon), new JsonObject(), two));
    assertEquals(expectedLines, end(until(soon), until(LATER), two));
    assertEquals(List.of(), end(until(LATER), until(LATER), two), "the same");
    assertEquals(List.of(), end(until("2026-03-01T09:40:00Z"), until(LATER), two), "later");
    assertEquals(List.of(), end(new JsonObject(), until(soon), two), "left as it stands");
    assertEquals(List.of(), end(new JsonObject().putNull("until"), until(soon), two), "cleared");
    assertEquals(List.of(), end(until(soon), new JsonObject(), held()), "no node is held");
    assertEquals(
        List.of("the node is given back, with all data on it, at 08:01 UTC"),
        end(until(soon), new JsonObject(), held("198.18.0.1")));
  }

  @Test
  void aNewOrSmallerBudgetTellsWhenAllNodesAreGivenBack() {
    JsonObject two = held("198.18.0.1", "198.18.0.2");
    String all = "all 2 nodes are given back, with all data on them, once they have cost ";
    assertEquals(
        List.of(all + "$0.02, at today's price within a minute"),
        end(budget(0.02), new JsonObject(), two));
    assertEquals(
        List.of(all + "$8.00, at today's price after about 30 minutes"),
        end(budget(8), budget(100), two));
    assertEquals(
        List.of(all + "$80.00, at today's price after about 5 hours"),
        end(budget(80), budget(100), two));
    assertEquals(List.of(), end(budget(100), budget(100), two));
    assertEquals(List.of(), end(budget(0.02), new JsonObject(), held()));
  }

  @Test
  void nodesGrantedMeanwhileAreLossesOfTheirOwn() {
    JsonObject one = new JsonObject().put("losses", new JsonArray().add(loss("a", "write", null)));
    JsonObject more = one.copy();
    more.getJsonArray("losses").add(loss(null, "write", null));
    assertEquals(Set.of("write a"), change(one).question().losses());
    assertEquals(2, change(more).question().losses().size());
  }

  @Test
  void anotherWritersVersionIsNotAskedAbout() {
    DeclaredChange change =
        new DeclaredChange(
            new JsonObject().put("version", 7).putNull("declared"),
            new JsonObject().put("max_gpus", 8),
            new JsonObject()
                .put(
                    "would_refuse",
                    new JsonObject().put("error", "version-mismatch").put("detail", "old")),
            NOW);
    RefusedException refused = assertThrows(RefusedException.class, change::requireAccepted);
    assertTrue(
        refused
            .getMessage()
            .startsWith("another writer changed the cluster first: it is at version 7"),
        refused.getMessage());
  }
}
