package dev.bourse.webhooks;

import static dev.bourse.capacity.StoreFixture.await;
import static dev.bourse.testing.RunningBourse.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.Browser;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.Receiver.Received;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Webhooks end to end: members' settings, receivers' messages, and failures. */
@EachEngine
class WebhooksApiTest extends WebhookFixture {
  private static final String RESEND = "/resend";

  private static List<String> types(List<Received> messages) {
    return messages.stream().map(Received::type).toList();
  }

  private static List<Long> places(List<Received> messages) {
    return messages.stream().map(message -> message.data().getLong("id")).toList();
  }

  /** Holds and releases nodes: as many grants, then reclaims. */
  private static void comeAndGo(ClusterClient cluster, int nodes) {
    cluster.hold(nodes, 3);
    cluster.declare(0, 3);
  }

  @Test
  void grantsAndReclaimsComeSignedInTheirOrderWithTheFieldsOfTheStream() {
    Receiver receiver = receiver(new Receiver());
    JsonObject endpoint = endpoint(receiver.url(), "grant", "reclaim");
    comeAndGo(market.redA(), 2);
    receiver.await(4);
    List<Received> taken = receiver.taken();
    assertEquals(List.of("grant", "grant", "reclaim", "reclaim"), types(taken));
    for (Received message : taken) {
      assertTrue(message.isSignedWith(endpoint.getString("secret")), message.toString());
      assertEquals(market.name() + "-red-a", message.data().getString("cluster"));
      assertEquals("msg_cluster_" + message.data().getLong("id"), message.id());
    }
    assertEquals(
        List.of("cluster", "id", "public_ip", "granted_at", "name"),
        List.copyOf(taken.get(0).data().fieldNames()));
    assertEquals("scale-down", taken.get(2).data().getString("reason"));
    assertEquals(
        taken.get(2).body().getString("timestamp"), taken.get(2).data().getString("reclaimed_at"));
    assertEquals(places(taken).stream().sorted().toList(), places(taken));
  }

  @Test
  void anEndpointIsToldOfWhatItChoseFromThenOn() {
    comeAndGo(market.redA(), 1);
    Receiver receiver = receiver(new Receiver());
    HttpAnswer made =
        member.post(
            ROOT,
            order(receiver.url(), "reclaim")
                .put("clusters", new JsonArray().add(market.name() + "-red-b")));
    assertEquals(201, made.status(), made.toString());
    comeAndGo(market.redA(), 1);
    comeAndGo(market.redB(), 1);
    Received only = receiver.await(1);
    assertEquals(market.name() + "-red-b", only.data().getString("cluster"));
    assertEquals(List.of("reclaim"), types(receiver.received()));
    assertEquals(1, deliveries(made.json()).size());
  }

  @Test
  void whatAReceiverRefusesShowsWhyAndComesWithTheSameIdBeforeWhatFollows() {
    // It refuses until the refusal has been looked at, however long that takes.
    Receiver receiver = receiver(new Receiver(m -> 500));
    JsonObject endpoint = endpoint(receiver.url(), "grant", "reclaim");
    comeAndGo(market.redA(), 1);
    until(
        "the first is refused",
        () -> deliveries(endpoint).stream().anyMatch(d -> d.getInteger("attempts") > 0));
    JsonObject waiting = oldest(endpoint);
    assertEquals("pending", waiting.getString("state"));
    assertEquals("answered with status 500: status 500", waiting.getString("fault"));
    assertEquals(500, waiting.getInteger("response_status"));
    receiver.answer(m -> 200);
    // A new address is tried at once; WebhookDispatcherTest tests the pause before a retry.
    member.patch(path(endpoint), new JsonObject().put("url", receiver.url() + "/moved")).ok();
    receiver.await(2);
    List<Received> all = receiver.received();
    assertEquals(List.of("grant", "reclaim"), types(receiver.taken()));
    assertEquals("reclaim", all.get(all.size() - 1).type());
    List<Received> before = all.subList(0, all.size() - 1);
    assertTrue(before.size() > 1, all::toString);
    assertEquals(Set.of("grant"), Set.copyOf(types(before)));
    assertEquals(1, before.stream().map(Received::id).distinct().count());
    until(
        "both show as delivered",
        () ->
            deliveries(endpoint).stream().allMatch(d -> d.getString("state").equals("delivered")));
  }

  @Test
  void oneClustersRefusedEventHoldsUpNoOtherCluster() {
    String choking = market.name() + "-red-a";
    Receiver receiver =
        receiver(new Receiver(m -> m.data().getString("cluster").equals(choking) ? 500 : 200));
    endpoint(receiver.url(), "grant");
    market.redA().hold(1, 3);
    until("the first is refused", () -> !receiver.received().isEmpty());
    market.redB().hold(1, 3);
    assertEquals(market.name() + "-red-b", receiver.await(1).data().getString("cluster"));
  }

  @Test
  void aReceiverThatDoesNotAnswerDelaysNobodyElse() throws InterruptedException {
    CountDownLatch over = new CountDownLatch(1);
    Receiver hanging =
        receiver(
            new Receiver(
                message -> {
                  try {
                    over.await(60, TimeUnit.SECONDS);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                  return 200;
                }));
    Receiver quick = receiver(new Receiver());
    for (int i = 0; i < 5; i++) {
      endpoint(hanging.url(), "grant");
    }
    endpoint(memberOf(market.blue()), quick.url(), "grant");
    market.redA().hold(1, 3);
    until("the others hang", () -> hanging.received().size() == 5);
    market.blueA().hold(1, 3);
    quick.await(1);
    assertEquals(0, hanging.taken().size());
    over.countDown();
    hanging.await(5);
  }

  @Test
  void aRedirectIsNotFollowed() {
    Receiver receiver = receiver(new Receiver(message -> 307));
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    JsonObject tried = member.post(path(endpoint) + "/test", new JsonObject()).ok();
    assertEquals("given-up", tried.getString("state"));
    assertEquals(307, tried.getInteger("response_status"));
    assertEquals(1, receiver.received().size());
  }

  @Test
  void whatWaitsGoesToTheNewAddressOfAnEndpointThatMoves() {
    Receiver old = receiver(new Receiver(message -> 503));
    Receiver next = receiver(new Receiver());
    JsonObject endpoint = endpoint(old.url(), "grant", "reclaim");
    comeAndGo(market.redA(), 1);
    until("the old one refuses", () -> !old.received().isEmpty());
    member.patch(path(endpoint), new JsonObject().put("url", next.url())).ok();
    next.await(2);
    assertEquals(List.of("grant", "reclaim"), types(next.taken()));
    assertEquals(old.received().get(0).id(), next.taken().get(0).id());
  }

  @Test
  void anEndpointThatAnswersGoneIsSwitchedOffAtOnceAndMembersAreToldByMail() {
    Receiver receiver = receiver(new Receiver(message -> 410));
    JsonObject endpoint = endpoint(receiver.url(), "grant", "reclaim");
    comeAndGo(market.redA(), 1);
    until("it is switched off", () -> !read(endpoint).getBoolean("enabled"));
    assertEquals("gone", read(endpoint).getString("disabled_reason"));
    assertEquals(1, receiver.received().size());
    until(
        "nothing waits",
        () -> deliveries(endpoint).stream().allMatch(d -> d.getString("state").equals("given-up")));
    assertTrue(
        bourse.audit(market.red(), false).stream()
            .anyMatch(
                row ->
                    row.action().equals("webhook_disable")
                        && row.actor().equals("system:webhooks")));
    until("a mail is there", () -> mails().stream().anyMatch(m -> m.contains(receiver.url())));
    // After it is enabled again it receives new events, and old ones can be resent.
    receiver.answer(message -> 200);
    member.patch(path(endpoint), new JsonObject().put("enabled", true)).ok();
    market.redB().hold(1, 3);
    assertEquals(market.name() + "-red-b", receiver.await(1).data().getString("cluster"));
    JsonObject oldest = oldest(endpoint);
    JsonObject resent =
        member
            .post(
                path(endpoint) + "/deliveries/" + oldest.getString("delivery_id") + RESEND,
                new JsonObject())
            .ok();
    assertEquals("delivered", resent.getString("state"));
    assertEquals(receiver.received().get(0).id(), receiver.await(2).id());
  }

  private static List<String> mails() {
    Path folder = bourse.data().resolve("outbox");
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    List<String> mails = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".eml")).toList()) {
        mails.add(Files.readString(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return mails;
  }

  @Test
  void whileASecretIsRotatedBothSignAndAfterASecondRotationTheFirstDoesNot() {
    Receiver receiver = receiver(new Receiver());
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    String first = endpoint.getString("secret");
    JsonObject rotated = member.post(path(endpoint) + "/secret", new JsonObject()).ok();
    String second = rotated.getString("secret");
    assertNotEquals(first, second);
    assertFalse(rotated.getString("old_secret_until").isEmpty());
    member.post(path(endpoint) + "/test", new JsonObject()).ok();
    Received both = receiver.await(1);
    assertTrue(both.isSignedWith(first) && both.isSignedWith(second), both.toString());
    member.post(path(endpoint) + "/secret", new JsonObject()).ok();
    member.post(path(endpoint) + "/test", new JsonObject()).ok();
    Received later = receiver.await(2);
    assertTrue(later.isSignedWith(second) && !later.isSignedWith(first), later.toString());
  }

  @Test
  void aTestTellsWhatCameOfItAndIsSentOnce() {
    Receiver receiver = receiver(new Receiver(message -> 500));
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    JsonObject tried = member.post(path(endpoint) + "/test", new JsonObject()).ok();
    assertEquals("test", tried.getString("type"));
    assertEquals("given-up", tried.getString("state"));
    assertEquals(tried.getJsonObject("body"), receiver.received().get(0).body());
    assertEquals(tried, deliveries(endpoint).get(0));
    assertTrue(read(endpoint).getBoolean("enabled"));
  }

  @Test
  void anEndpointForPeopleReceivesSignedMessagesAndShowsTheEvents() {
    Receiver receiver = receiver(new Receiver(message -> 503));
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    assertEquals("standard", endpoint.getString("format"));
    market.redA().hold(1, 3);
    until("the event is refused", () -> !receiver.received().isEmpty());
    receiver.answer(message -> message.body().containsKey("text") ? 200 : 503);
    JsonObject change = new JsonObject().put("format", "slack");
    assertEquals("slack", member.patch(path(endpoint), change).ok().getString("format"));
    // The delivery that was stored before is sent in the new format; a new address makes it due.
    member.patch(path(endpoint), new JsonObject().put("url", receiver.url() + "/moved")).ok();
    Received message = receiver.await(1);
    assertTrue(message.isSignedWith(endpoint.getString("secret")), message.toString());
    assertEquals(Set.of("text"), message.body().fieldNames());
    String text = message.body().getString("text");
    assertTrue(text.startsWith(market.name() + "-red-a: node "), text);
    assertTrue(text.contains("/console/clusters/" + market.name() + "-red-a|"), text);
    assertEquals("grant", oldest(endpoint).getJsonObject("body").getString("type"));
    JsonObject unknown =
        member
            .patch(path(endpoint), new JsonObject().put("format", "teams"))
            .refused(ErrorCode.BAD_REQUEST);
    assertTrue(unknown.getString("detail").startsWith("format: "), unknown.encode());
  }

  @Test
  void aMemberIsMailedTheEventsThatItChoseUntilItUnsubscribesWithoutASession() throws Exception {
    String choices = "/api/console/mails";
    assertEquals(
        new JsonObject()
            .put("notice", "at-once")
            .put("lapse", "digest")
            .put("alert", "off")
            .put("health", "off")
            .put("hold", "off"),
        member
            .patch(choices, new JsonObject().put("notice", "at-once").put("lapse", "digest"))
            .ok());
    long now = System.currentTimeMillis();
    String cluster = market.name() + "-red-a";
    await(
        bourse
            .database()
            .commit(
                List.of(
                    ActivityRows.insert(
                        new Activity(
                            "system:market",
                            new ClusterEvent.NoticeGiven(
                                "198.18.9.9", Allocation.Reason.OUTBID, now + 600_000)),
                        cluster,
                        now))));
    bourse.operator().send("POST", "/api/operator/jobs/mail-members/run", null).ok();
    until("a mail is there", () -> mails().stream().anyMatch(m -> m.contains(cluster)));
    String mail = mails().stream().filter(m -> m.contains(cluster)).findFirst().orElseThrow();
    assertTrue(mail.contains("\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), mail);
    assertTrue(mail.contains("/console/clusters/" + cluster + "?ceiling=keep\r\n"), mail);
    String link = mail.replaceAll("(?s).*\r\nList-Unsubscribe: <[^/]*//[^/]*([^>]*)>.*", "$1");
    Browser stranger = new Browser(bourse);
    assertEquals(200, stranger.get(link).statusCode());
    assertEquals("at-once", member.get(choices).ok().getString("notice"));
    assertEquals(410, stranger.post(link + "0", Map.of()).statusCode());
    Map<String, String> oneClick = Map.of("List-Unsubscribe", "One-Click");
    assertEquals(200, stranger.post(link, oneClick).statusCode());
    assertEquals(200, stranger.post(link, oneClick).statusCode());
    assertEquals("off", member.get(choices).ok().getString("notice"));
    assertEquals("off", member.get(choices).ok().getString("lapse"));
    assertEquals(
        List.of("mail_choices_set member:ann", "mail_unsubscribe system:mail-link"),
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.action().startsWith("mail_"))
            .map(row -> row.action() + ' ' + row.actor())
            .toList());
  }

  @Test
  void whatStillWaitsIsNotResent() {
    Receiver receiver = receiver(new Receiver(message -> 500));
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    market.redA().hold(1, 3);
    until("it is refused", () -> !receiver.received().isEmpty());
    String waiting = deliveries(endpoint).get(0).getString("delivery_id");
    JsonObject refused =
        member
            .post(path(endpoint) + "/deliveries/" + waiting + RESEND, new JsonObject())
            .refused(ErrorCode.CONFLICT);
    assertEquals("wrong-status", refused.getString("reason"));
  }

  @Test
  void whatHappensToTheOrganizationComesInItsOrder() {
    Receiver receiver = receiver(new Receiver());
    endpoint(receiver.url(), "token-minted", "token-revoked", "members-changed");
    String tokens = "/api/console/tokens";
    String minted =
        member
            .post(tokens, new JsonObject().put("name", "n").put("scopes", new JsonArray()))
            .json()
            .getString("token_id");
    member.delete(tokens + "/" + minted).ok();
    memberOf(market.red(), "bob");
    receiver.await(3);
    List<Received> taken = receiver.taken();
    assertEquals(List.of("token-minted", "token-revoked", "members-changed"), types(taken));
    JsonObject first = taken.get(0).data();
    assertEquals("vm_token_mint", first.getString("action"));
    assertTrue(first.getString("detail").contains(minted), first.encode());
    assertEquals("msg_org_" + first.getLong("id"), taken.get(0).id());
  }

  @Test
  void everyChangeIsInTheTrail() {
    Receiver receiver = receiver(new Receiver());
    JsonObject endpoint = endpoint(receiver.url() + "/in?token=topsecret", "grant");
    String delivery =
        member.post(path(endpoint) + "/test", new JsonObject()).ok().getString("delivery_id");
    member.post(path(endpoint) + "/deliveries/" + delivery + RESEND, new JsonObject()).ok();
    member.post(path(endpoint) + "/secret", new JsonObject()).ok();
    member.patch(path(endpoint), new JsonObject().put("description", "d")).ok();
    member.delete(path(endpoint)).ok();
    assertEquals(
        List.of(
            "webhook_add",
            "webhook_test",
            "webhook_resend",
            "webhook_rotate",
            "webhook_update",
            "webhook_delete"),
        bourse.audit(market.red(), false).stream()
            .filter(row -> row.actor().equals("member:ann"))
            .map(row -> row.action())
            .filter(action -> action.startsWith("webhook_"))
            .toList());
    assertEquals(404, member.get(path(endpoint)).status());
    assertTrue(
        bourse.audit(market.red(), false).stream()
            .noneMatch(row -> row.detail().contains("topsecret")));
  }

  @Test
  void anAddressThatOnlyThisMachineCanReachIsRefused() {
    for (String url :
        List.of(
            "https://127.0.0.1/",
            "https://10.1.2.3/x",
            "https://169.254.169.254/latest/meta-data",
            "https://192.168.0.1/",
            "https://0.0.0.0/",
            "https://localhost.localdomain/",
            "https://168.63.129.16/metadata/instance",
            "https://100.100.100.200/latest/meta-data",
            "http://hooks.example.com/",
            "https://93.184.216.34:22/",
            "https://user@hooks.example.com/",
            "https://[::1]/",
            "https://h.example/%zz",
            "ftp://localhost/",
            "https://",
            "nonsense")) {
      JsonObject refused = member.post(ROOT, order(url, "grant")).refused(ErrorCode.BAD_REQUEST);
      assertTrue(refused.getString("detail").startsWith("url: "), refused.encode());
    }
    assertEquals(0, member.get(ROOT).ok().getJsonArray("endpoints").size());
  }

  @Test
  void anEndpointThatWasMadeCannotMoveToSuchAnAddress() {
    Receiver receiver = receiver(new Receiver());
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    member
        .patch(path(endpoint), new JsonObject().put("url", "https://127.0.0.1/"))
        .refused(ErrorCode.BAD_REQUEST);
    assertEquals(receiver.url(), read(endpoint).getString("url"));
  }

  @Test
  void whatIsAskedForMustBeKnown() {
    JsonObject order = order("http://localhost:1/", "grant");
    member.post(ROOT, order.copy().put("kinds", new JsonArray())).refused(ErrorCode.BAD_REQUEST);
    member.post(ROOT, order("http://localhost:1/", "no-such")).refused(ErrorCode.BAD_REQUEST);
    JsonObject foreign =
        member
            .post(ROOT, order.copy().put("clusters", new JsonArray().add(market.blue())))
            .refused(ErrorCode.BAD_REQUEST);
    assertTrue(foreign.getString("detail").contains(market.blue()), foreign.encode());
  }

  @Test
  void anOrganizationHasSixteenEndpointsAtMost() {
    for (int i = 0; i < WebhookService.MAX_ENDPOINTS; i++) {
      endpoint("http://localhost:1/" + i, "grant");
    }
    JsonObject refused =
        member.post(ROOT, order("http://localhost:1/", "grant")).refused(ErrorCode.CONFLICT);
    assertEquals("limit", refused.getString("reason"));
    JsonObject list = member.get(ROOT).ok();
    assertEquals(WebhookService.MAX_ENDPOINTS, list.getJsonArray("endpoints").size());
    assertFalse(list.encode().contains("whsec_"));
  }

  @Test
  void anotherOrganizationSeesNothing() {
    JsonObject endpoint = endpoint("http://localhost:1/", "grant");
    ApiClient other = memberOf(market.blue());
    assertEquals(0, other.get(ROOT).ok().getJsonArray("endpoints").size());
    other.get(path(endpoint)).refused(ErrorCode.NOT_FOUND);
    other.get(path(endpoint) + "/deliveries").refused(ErrorCode.NOT_FOUND);
    other.delete(path(endpoint)).refused(ErrorCode.NOT_FOUND);
    other.post(path(endpoint) + "/test", new JsonObject()).refused(ErrorCode.NOT_FOUND);
  }

  @Test
  void deliveriesArePagesFromTheNewestOn() {
    Receiver receiver = receiver(new Receiver());
    JsonObject endpoint = endpoint(receiver.url(), "grant");
    for (int i = 0; i < 5; i++) {
      member.post(path(endpoint) + "/test", new JsonObject()).ok();
    }
    List<String> seen = new ArrayList<>();
    String after = "";
    JsonObject page;
    do {
      page = member.get(path(endpoint) + "/deliveries?limit=2" + after).ok();
      ClusterClient.objects(page.getJsonArray("deliveries"))
          .forEach(delivery -> seen.add(delivery.getString("message_id")));
      after = "&after=" + page.getString("next");
    } while (page.getBoolean("more"));
    List<String> sent = new ArrayList<>(receiver.received().stream().map(Received::id).toList());
    Collections.reverse(sent);
    assertEquals(sent, seen);
  }
}
