package dev.bourse.webhooks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.TrailStore;
import dev.bourse.billing.Month;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.DeliveryKind;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.events.ActivityStore;
import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.mail.MailConfig;
import dev.bourse.mail.MemberMails;
import dev.bourse.mail.OutboxMail;
import dev.bourse.mail.StoredMail;
import dev.bourse.store.Statement;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.TestJobs;
import dev.bourse.traces.Traces;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Deliveries over days, on a simulated clock. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class WebhookDispatcherTest extends StoreFixture {
  private static final long DAY = Duration.ofDays(1).toMillis();

  /** The service's terms, with a shorter poll interval. */
  private static final DeliveryEngine.Terms TERMS = WebhookDispatcher.TERMS.withPollMillis(5);

  private final List<WebhookDispatcher> couriers = new ArrayList<>();
  private WebhookStore store;
  private SigningSecrets secrets;
  private EndpointSwitchOff switchOff;
  private DeliveryClient client;

  @BeforeEach
  void make() throws Exception {
    store = new WebhookStore(database);
    secrets =
        new SigningSecrets(
            new SharedSecrets(database, Keyring.of(List.of(new byte[32])), clock),
            SignedSender.SECRETS,
            new Random(1));
    switchOff =
        new EndpointSwitchOff(
            new MemberMails(
                database,
                new OutboxMail(
                    vertx, folder.resolve("outbox"), "b@b.example", clock, new Random(2))),
            () -> "https://bourse.example");
    client =
        SignedSender.client(vertx, new WebhookConfig(Set.of("localhost"), 3 * DAY), Traces.OFF);
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO member (org_id, username, email, name, created_at)
                    VALUES ('acme', 'ann', 'ann@acme.example', 'Ann', 0)\
                    """))));
  }

  @AfterEach
  void end() throws Exception {
    for (WebhookDispatcher dispatcher : couriers) {
      await(dispatcher.engine().stop());
    }
    await(client.close());
  }

  private WebhookDispatcher dispatcher() {
    WebhookDispatcher dispatcher =
        new WebhookDispatcher(
            vertx,
            database,
            TERMS,
            new SignedSender(
                secrets,
                client,
                new EventLink(() -> "https://bourse.example", name -> false),
                clock),
            switchOff,
            new DeliveryBackoff(3 * DAY),
            clock,
            () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()),
            new Random(3));
    couriers.add(dispatcher);
    dispatcher.start(TestJobs.of(vertx, clock));
    return dispatcher;
  }

  private WebhookEndpoint endpoint(String id, String url) throws Exception {
    return endpoint(id, url, EnumSet.allOf(EventKind.class), null);
  }

  private WebhookEndpoint endpoint(
      String id, String url, Set<EventKind> kinds, @Nullable List<String> clusters)
      throws Exception {
    WebhookEndpoint endpoint =
        new WebhookEndpoint(
            id,
            "acme",
            url,
            "",
            EndpointFormat.STANDARD,
            kinds,
            clusters,
            clock.millis(),
            "member:ann",
            null,
            null,
            1,
            null,
            1);
    await(
        store.create(
            endpoint,
            WebhookService.MAX_ENDPOINTS,
            await(new ActivityStore(database).newestId()),
            await(new TrailStore(database).newestSettled()),
            List.of(secrets.storing(id, 1, secrets.mint())),
            new AuditRow(clock.millis(), "acme", "member:ann", "webhook_add", "acme", "")));
    return endpoint;
  }

  private void cluster() throws Exception {
    await(database.commit(CapacityStore.insert(Sample.empty(), clock.millis())));
  }

  /** Records a number of grants of the cluster. */
  private void grants(int count) throws Exception {
    List<Statement> statements = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      statements.add(
          ActivityRows.insert(
              new Activity("system:market", new ClusterEvent.Granted("198.18.0." + i)),
              Sample.empty().name(),
              clock.millis()));
    }
    await(database.commit(statements));
  }

  private long count(String where) {
    try {
      return integers("SELECT COUNT(*) FROM " + where).get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private List<String> mails() {
    List<String> mails = new ArrayList<>();
    if (!Files.isDirectory(folder.resolve("outbox"))) {
      return mails;
    }
    try (Stream<Path> files = Files.list(folder.resolve("outbox"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".eml")).toList()) {
        mails.add(Files.readString(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return mails;
  }

  /** Records as the market that a node of the cluster c1 stopped or resumed answering. */
  private void tell(String action) throws Exception {
    await(
        database.commit(
            List.of(
                AuditStore.insert(
                    new AuditRow(
                        clock.millis(),
                        "acme",
                        "system:market",
                        action,
                        "c1",
                        "public_ip=198.18.0.1 slot=0")))));
  }

  @Test
  void aSilentNodeIsToldOfOnceInOrderToWhoChoseItForItsCluster() throws Exception {
    Set<EventKind> health = EnumSet.of(EventKind.HEALTH);
    try (Receiver told = new Receiver();
        Receiver others = new Receiver()) {
      endpoint("whk_1", told.url(), health, List.of("c1"));
      endpoint("whk_2", others.url(), health, List.of("c2"));
      endpoint("whk_3", others.url(), EnumSet.of(EventKind.GRANT), null);
      dispatcher();
      for (String action : List.of("node_silent", "node_answers", "node_silent")) {
        tell(action);
      }
      told.await(3);
      await(couriers.get(0).engine().stop());
      dispatcher();
      tell("node_answers");
      told.await(4);
      assertEquals(
          List.of(false, true, false, true),
          told.taken().stream().map(one -> one.data().getBoolean("answers")).toList());
      JsonObject first = told.taken().get(0).data();
      assertEquals("c1", first.getString("cluster"));
      assertEquals("198.18.0.1", first.getString("public_ip"));
      assertEquals(0, first.getInteger("slot"));
      assertEquals("msg_org_" + first.getLong("id"), told.taken().get(0).id());
      assertEquals(0, count("webhook_delivery WHERE endpoint_id <> 'whk_1'"));
      assertEquals(List.of(), others.received());
    }
  }

  /** Posts usage up to the start of a month, for all organizations or for one. */
  private void posted(String name, Month month) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO billing_posted (name, through) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET through = excluded.through\
                    """,
                    name,
                    month.startMillis()),
                // The next poll is a full scan.
                Statement.of("UPDATE webhook_change SET changes = changes + 1"))));
  }

  private void paid(Month month) throws Exception {
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO ledger_transaction (tx_key, made_at, effective_at, month, kind,
                    org_id, actor, memo) VALUES ('p', ?, ?, ?, 'payment', 'acme', 'operator', '')\
                    """,
                    month.startMillis(),
                    month.startMillis(),
                    month.number()))));
  }

  private static List<String> months(Receiver receiver) {
    return receiver.taken().stream().map(one -> one.data().getString("month")).toList();
  }

  @Test
  void aStatementIsToldOfOnceWhenItsMonthIsFinal() throws Exception {
    Month made = Month.at(clock.millis());
    Month second = made.next();
    Month third = second.next();
    try (Receiver told = new Receiver();
        Receiver others = new Receiver()) {
      paid(made);
      endpoint("whk_1", told.url(), EnumSet.of(EventKind.STATEMENT_READY), List.of("c1"));
      endpoint("whk_2", others.url(), EnumSet.of(EventKind.GRANT), null);
      posted("usage", made);
      dispatcher();
      posted("usage", second);
      told.await(1);
      posted("usage", third.next());
      told.await(3);
      // Set back, as after a clock that ran ahead, and advanced again: those months are already
      // reported.
      posted("usage", second);
      await(couriers.get(0).engine().stop());
      posted("usage", third.next().next());
      dispatcher();
      told.await(4);
      assertEquals(
          Stream.of(made, second, third, third.next()).map(Month::toString).toList(), months(told));
      assertEquals("acme", told.taken().get(0).data().getString("org_id"));
      assertEquals(4, told.received().size());
      assertEquals(List.of(), others.received());
      assertEquals(4, count("webhook_delivery"));
      List<Delivery> shown = await(store.listDeliveries("whk_1", 5, Optional.empty())).items();
      assertEquals(4, shown.size());
      assertTrue(shown.stream().allMatch(one -> one.json().getValue("cluster") == null));
    }
  }

  @Test
  void anOrganizationWhoseUsageIsBehindIsToldOfItsStatementLater() throws Exception {
    Month made = Month.at(clock.millis());
    try (Receiver told = new Receiver()) {
      paid(made);
      endpoint("whk_1", told.url());
      posted("org:acme", made);
      posted("usage", made.next().next());
      dispatcher();
      tell("node_silent");
      told.await(1);
      assertEquals("health", told.taken().get(0).type());
      posted("org:acme", made.next());
      told.await(2);
      assertEquals(made.toString(), told.taken().get(1).data().getString("month"));
      await(
          database.commit(
              List.of(Statement.of("DELETE FROM billing_posted WHERE name = 'org:acme'"))));
      posted("usage", made.next().next());
      told.await(3);
      assertEquals(made.next().toString(), told.taken().get(2).data().getString("month"));
    }
  }

  @Test
  void noStatementIsToldOfFromBeforeAnythingHappenedToTheBalance() throws Exception {
    Month made = Month.at(clock.millis());
    Month begun = made.next().next();
    try (Receiver told = new Receiver()) {
      endpoint("whk_1", told.url(), EnumSet.of(EventKind.STATEMENT_READY), null);
      posted("usage", begun);
      dispatcher();
      eventually(
          "the months are passed over",
          () -> count("webhook_cursor WHERE source = '*statements'") == 1);
      paid(begun);
      posted("usage", begun.next());
      told.await(1);
      assertEquals(List.of(begun.toString()), months(told));
    }
  }

  @Test
  void whatIsNotTakenForThreeDaysIsGivenUpWithAllThatWaitsAndMembersAreTold() throws Exception {
    cluster();
    try (Receiver receiver = new Receiver(message -> 500)) {
      WebhookEndpoint endpoint = endpoint("whe_1", receiver.url());
      grants(3);
      dispatcher();
      int tries = 0;
      long begin = clock.millis();
      while (count("webhook_endpoint WHERE disabled_at IS NULL") == 1) {
        int seen = tries;
        eventually(
            "it is tried once more, or given up",
            () ->
                receiver.received().size() > seen
                    || count("webhook_endpoint WHERE disabled_at IS NOT NULL") == 1);
        eventually(
            "what came of it is stored",
            () ->
                count("webhook_delivery WHERE tries > " + seen) == 1
                    || count("webhook_endpoint WHERE disabled_at IS NOT NULL") == 1);
        tries = receiver.received().size();
        long due = integers("SELECT MAX(due_at) FROM webhook_delivery").get(0);
        clock.advance(Math.max(1, due - clock.millis()));
      }
      assertTrue(clock.millis() - begin > 2 * DAY && clock.millis() - begin <= 3 * DAY + 1);
      assertTrue(tries > 12, "" + tries);
      assertEquals(1, receiver.received().stream().map(Receiver.Received::id).distinct().count());
      assertEquals(3, count("webhook_delivery WHERE outcome = 'given-up'"));
      assertEquals(List.of("failing"), texts("SELECT disabled_reason FROM webhook_endpoint"));
      eventually(
          "it names the endpoint",
          () -> mails().stream().anyMatch(mail -> mail.contains(endpoint.endpointId())));
      assertTrue(mails().get(0).contains("To: ann@acme.example"), mails().get(0));
    }
  }

  @Test
  void whatAReceiverRefusesIsTriedAgainWithTheSameIdBeforeWhatFollows() throws Exception {
    cluster();
    AtomicInteger refusals = new AtomicInteger(2);
    try (Receiver receiver = new Receiver(m -> refusals.getAndDecrement() > 0 ? 500 : 200)) {
      endpoint("whe_1", receiver.url());
      grants(2);
      dispatcher();
      for (int tries = 1; tries <= 2; tries++) {
        String refused = "webhook_delivery WHERE outcome IS NULL AND tries = " + tries;
        eventually("attempt " + tries + " is stored", () -> count(refused) == 1);
        assertEquals(tries, receiver.received().size());
        DeliveryKind.Pending pending =
            await(new OutboxStore(database).listQueues(Optional.empty(), 2)).get(0);
        assertEquals(
            List.of(pending.dueMillis()), integers("SELECT MAX(due_at) FROM webhook_delivery"));
        assertEquals(tries, pending.tries());
        clock.advance(integers("SELECT MAX(due_at) FROM webhook_delivery").get(0) - clock.millis());
      }
      receiver.await(2);
      List<String> ids = receiver.received().stream().map(Receiver.Received::id).toList();
      assertEquals(4, ids.size());
      assertEquals(Set.of(ids.get(0)), Set.copyOf(ids.subList(0, 3)));
      assertEquals(2, Set.copyOf(ids).size());
      eventually(
          "both are stored as delivered",
          () -> count("webhook_delivery WHERE outcome = 'delivered'") == 2);
      assertEquals(1, count("webhook_delivery WHERE tries = 3"));
    }
  }

  /** Otherwise a failing receiver would be called each second until the mail server is back. */
  @Test
  void anEndpointIsSwitchedOffThoughNoMailCanWaitAnyMore() throws Exception {
    cluster();
    Keyring keyring = Keyring.of(List.of(new byte[32]));
    MailConfig.Smtp nowhere = new MailConfig.Smtp("127.0.0.1", 1, "", "", MailConfig.Security.NONE);
    StoredMail mail =
        new StoredMail(
            vertx,
            database,
            keyring,
            nowhere,
            "b@b.example",
            clock,
            System::nanoTime,
            new Random(4));
    switchOff =
        new EndpointSwitchOff(new MemberMails(database, mail), () -> "https://bourse.example");
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO outbox_mail (mail_id, key_id, ciphertext, accepted_at, due_at, tries)
                    SELECT 'm' || i, 'of-nobody', '', 0, 0, 0 FROM n\
                    """))));
    try (Receiver receiver = new Receiver(message -> 410)) {
      endpoint("whe_1", receiver.url() + "/T0k3nT0k3nT0k3nT0");
      grants(1);
      dispatcher();
      eventually(
          "it is switched off", () -> count("webhook_endpoint WHERE disabled_at IS NOT NULL") == 1);
      assertEquals(List.of("gone"), texts("SELECT disabled_reason FROM webhook_endpoint"));
      assertEquals(
          List.of("endpoint_id=whe_1 url=" + receiver.url() + "/*** reason=gone"),
          texts("SELECT detail FROM audit WHERE action = 'webhook_disable'"));
      assertEquals(1, receiver.received().size());
      assertEquals(1_000, count("outbox_mail"));
    } finally {
      await(mail.close());
    }
  }

  @Test
  void whatHappensAfterAnEntryOfAClockThatWasAheadIsTold() throws Exception {
    cluster();
    try (Receiver receiver = new Receiver()) {
      endpoint("whe_1", receiver.url());
      await(
          database.commit(
              List.of(
                  ActivityRows.insert(
                      new Activity("system:market", new ClusterEvent.Granted("198.18.1.1")),
                      Sample.empty().name(),
                      clock.millis() + DAY))));
      dispatcher();
      receiver.await(1);
      await(couriers.get(0).engine().stop());
      grants(1);
      dispatcher();
      receiver.await(2);
      assertEquals(1, count("webhook_cursor WHERE source = 'c1' AND at > " + clock.millis()));
    }
  }

  @Test
  void aFailedCommitLosesNothingAndSendsPerhapsTwice() throws Exception {
    cluster();
    try (Receiver receiver = new Receiver()) {
      endpoint("whe_1", receiver.url());
      grants(20);
      dispatcher();
      for (int i = 0; i < 10; i++) {
        failNextCommits(1);
        failNextReads(1);
        int seen = i;
        eventually(
            "more comes",
            () -> {
              // The pause of a queue that waits for the store is measured by this clock.
              clock.advance(1);
              return receiver.taken().size() > seen;
            });
      }
      eventually(
          "all is delivered",
          () -> {
            clock.advance(1);
            return count("webhook_delivery WHERE outcome = 'delivered'") == 20;
          });
      List<Long> places =
          receiver.taken().stream().map(m -> m.data().getLong("id")).distinct().toList();
      assertEquals(integers("SELECT id FROM activity ORDER BY id"), places);
    }
  }

  @Test
  void whatCommittedAndWasNotToldIsNotMadeTwice() throws Exception {
    cluster();
    try (Receiver receiver = new Receiver()) {
      endpoint("whe_1", receiver.url());
      grants(60);
      loseNextAnswer();
      dispatcher();
      eventually(
          "all is delivered",
          () -> {
            // A full scan finds the queue, which the lost answer would have named.
            clock.advance(1_000);
            return count("webhook_delivery WHERE outcome = 'delivered'") == 60;
          });
      assertEquals(60, count("webhook_delivery"));
    }
  }

  @Test
  void deliveriesPastSevenDaysGoAndWhatWaitsStays() throws Exception {
    cluster();
    endpoint("whe_1", "http://localhost:1/");
    WebhookUpkeep upkeep = new WebhookUpkeep(database, secrets, switchOff);
    await(
        database.commit(
            List.of(
                WebhookStore.insertTried(
                    "whe_1", "msg_1", "test", "{}", new Attempt(200, null), clock.millis()))));
    grants(1);
    dispatcher();
    eventually("it waits", () -> count("webhook_delivery WHERE outcome IS NULL") == 1);
    await(upkeep.step(clock.millis() + 7 * DAY - 1));
    assertEquals(2, count("webhook_delivery"));
    await(upkeep.step(clock.millis() + 7 * DAY));
    assertEquals(1, count("webhook_delivery WHERE outcome IS NULL"));
    assertEquals(1, count("webhook_delivery"));
  }

  @Test
  void theEndpointsOfARetiredOrganizationEndWithTheirSecrets() throws Exception {
    cluster();
    try (Receiver receiver = new Receiver()) {
      endpoint("whe_1", receiver.url());
      await(database.commit(List.of(Statement.of("UPDATE org SET retired_at = 1"))));
      grants(1);
      dispatcher();
      await(new WebhookUpkeep(database, secrets, switchOff).step(clock.millis()));
      assertEquals(0, count("webhook_endpoint"));
      assertEquals(0, count("webhook_cursor"));
      assertEquals(0, count("encrypted_secret"));
      assertEquals(List.of(), receiver.received());
    }
  }

  @Test
  void theOldSecretEndsADayAfterARotation() throws Exception {
    WebhookEndpoint before = endpoint("whe_1", "http://localhost:1/");
    WebhookEndpoint next = before.rotated(clock.millis() + DAY);
    await(
        store.update(
            before,
            next,
            List.of(secrets.storing("whe_1", 2, secrets.mint())),
            new AuditRow(clock.millis(), "acme", "member:ann", "webhook_rotate", "acme", "")));
    long until = clock.millis() + DAY;
    assertEquals(2, await(secrets.inForce("whe_1", 2, until, until - 1)).size());
    assertEquals(1, await(secrets.inForce("whe_1", 2, until, until)).size());
    WebhookUpkeep upkeep = new WebhookUpkeep(database, secrets, switchOff);
    await(upkeep.step(clock.millis() + DAY - 1));
    assertEquals(2, count("encrypted_secret"));
    await(upkeep.step(clock.millis() + DAY));
    assertEquals(List.of("webhook/whe_1/2"), texts("SELECT name FROM encrypted_secret"));
  }

  @Test
  void anEndpointForWhichTooMuchWaitsIsSwitchedOff() throws Exception {
    cluster();
    endpoint("whe_1", "http://localhost:1/");
    grants(5);
    dispatcher();
    eventually("it waits", () -> count("webhook_delivery WHERE outcome IS NULL") == 5);
    await(new WebhookUpkeep(database, secrets, switchOff, 5).step(clock.millis()));
    assertEquals(1, count("webhook_endpoint WHERE disabled_at IS NULL"));
    await(new WebhookUpkeep(database, secrets, switchOff, 4).step(clock.millis()));
    assertEquals(List.of("backlog"), texts("SELECT disabled_reason FROM webhook_endpoint"));
    assertEquals(0, count("webhook_delivery WHERE outcome IS NULL"));
  }

  @Test
  void whatEndpointsAreNotToldOfMovesThemOnAllTheSame() throws Exception {
    cluster();
    endpoint("whe_1", "http://localhost:1/");
    dispatcher();
    await(
        database.commit(
            List.of(
                AuditStore.insert(
                    new AuditRow(clock.millis(), "acme", "token:t", "org_update", "acme", "")))));
    eventually(
        "the trail is read",
        () ->
            count("webhook_cursor WHERE source = '' AND position = (SELECT MAX(id) FROM audit)")
                == 1);
    assertEquals(0, count("webhook_delivery"));
  }
}
