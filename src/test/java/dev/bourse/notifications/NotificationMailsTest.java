package dev.bourse.notifications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Offboarding.Author;
import dev.bourse.access.ServiceSecrets;
import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.Alerts;
import dev.bourse.capacity.Allocation;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.ApiException;
import dev.bourse.mail.Mail;
import dev.bourse.mail.MailSender;
import dev.bourse.notifications.ChoiceStore.Start;
import dev.bourse.notifications.NewsStore.Due;
import dev.bourse.notifications.UnsubscribeToken.Recipient;
import dev.bourse.store.Correction;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.webhooks.EventLink;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Mails of members who leave, of markets that flap, of processes that die, and of forged links. */
class NotificationMailsTest extends StoreFixture {
  private static final long MINUTE = Duration.ofMinutes(1).toMillis();
  private static final long DAY = Duration.ofDays(1).toMillis();
  private static final String CLUSTER = Sample.empty().name();
  private static final Recipient ANN = new Recipient("acme", "ann");

  /** Mails that were committed. */
  private final List<Mail> sent = new ArrayList<>();

  private ChoiceStore store;
  private NewsStore news;
  private UnsubscribeToken tokens;
  private boolean isQueueFull;
  private String broken = "";

  /** Keeps mails as rows of the store, so that a mail is lost or kept with its commit. */
  private final class Rows implements MailSender {
    @Override
    public boolean send(Mail mail) {
      throw new AssertionError("a mail without a commit");
    }

    @Override
    public Future<Void> send(Mail mail, Function<List<Statement>, Future<Void>> commit) {
      if (isQueueFull) {
        return Future.failedFuture(
            new StoreUnavailableException("the queue of mails is full", null));
      }
      if (mail.to().equals(broken)) {
        return Future.failedFuture(new IllegalStateException("made to fail"));
      }
      return commit
          .apply(
              List.of(
                  Statement.of(
                      "INSERT INTO service_secret (name, secret) VALUES (?, ?)",
                      "mail-" + clock.millis() + "-" + mail.to(),
                      mail.subject())))
          .onSuccess(stored -> sent.add(mail));
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  @BeforeEach
  void make() throws Exception {
    store = new ChoiceStore(database);
    news = new NewsStore(database);
    tokens = new UnsubscribeToken(new ServiceSecrets(database, new Random(1)));
    // Generates the secret, so that the tests' next commit is one of a mail.
    await(tokens.of(ANN));
    await(database.commit(CapacityStore.insert(Sample.empty(), clock.millis())));
    member("ann");
  }

  private void member(String username) throws Exception {
    execute(
        "INSERT INTO member (org_id, username, email, name, created_at) VALUES (?, ?, ?, ?, 0)",
        "acme",
        username,
        username + "@acme.example",
        username);
  }

  private void execute(String sql, Object... parameters) throws Exception {
    await(database.commit(List.of(Statement.of(sql, parameters))));
  }

  private ChoiceService service() {
    return new ChoiceService(database, clock);
  }

  private void choose(Recipient member, Map<String, String> choices) throws Exception {
    await(
        store.change(
            member,
            choices,
            new Start(
                integers("SELECT COALESCE(MAX(id), 0) FROM activity").get(0),
                integers("SELECT COALESCE(MAX(id), 0) FROM audit").get(0)),
            new AuditRow(clock.millis(), "acme", "member:ann", "mail_choices_set", "acme", "")));
  }

  private void happens(ClusterEvent event) throws Exception {
    happens(CLUSTER, event);
  }

  private void happens(String cluster, ClusterEvent event) throws Exception {
    await(
        database.commit(
            List.of(
                ActivityRows.insert(
                    new Activity("system:market", event), cluster, clock.millis()))));
  }

  /** Adds a cluster like the first one. */
  private void cluster(String name) throws Exception {
    String others =
        String.join(
            ", ", texts("SELECT name FROM pragma_table_info('cluster') WHERE name <> 'name'"));
    execute(
        "INSERT INTO cluster (name, %1$s) SELECT ?, %1$s FROM cluster WHERE name = ?"
            .formatted(others),
        name,
        CLUSTER);
  }

  private void noticeOf(String cluster) throws Exception {
    happens(
        cluster,
        new ClusterEvent.NoticeGiven("198.18.0.1", Allocation.Reason.OUTBID, clock.millis()));
  }

  private void untilEight() {
    clock.advance(Pace.DIGEST.earliest(clock.millis()) - clock.millis());
  }

  private long told(String words) {
    return sent.stream().filter(mail -> mail.text().contains(words)).count();
  }

  private void notice(int node) throws Exception {
    happens(
        new ClusterEvent.NoticeGiven(
            "198.18.0." + node, Allocation.Reason.OUTBID, clock.millis() + 10 * MINUTE));
  }

  @Test
  void aMailAboutAKubernetesClusterHasNoAddressOfANode() throws Exception {
    execute("UPDATE cluster SET kind = 'K8S' WHERE name = ?", CLUSTER);
    choose(ANN, Map.of("notice", "at-once"));
    happens(
        new ClusterEvent.NoticeGiven("198.18.0.1", Allocation.Reason.OUTBID, clock.millis() + 1));
    run();
    assertTrue(
        sent.get(0).subject().startsWith(CLUSTER + ": a node will be reclaimed at "),
        sent.get(0).subject());
    assertFalse(sent.get(0).text().contains("198.18."), sent.get(0).text());
  }

  private NotificationMails process() {
    return new NotificationMails(
        database,
        new Rows(),
        new NotificationText(
            () -> "https://bourse.example",
            new EventLink(() -> "https://bourse.example", name -> false),
            tokens));
  }

  private void run() throws Exception {
    while (await(process().step(clock.millis(), true))) {}
  }

  private long rows() throws Exception {
    return integers("SELECT COUNT(*) FROM service_secret WHERE name LIKE 'mail-%'").get(0);
  }

  @Test
  void aNoticeIsMailedOnceWithALinkThatFillsInTheCeiling() throws Exception {
    notice(1);
    choose(ANN, Map.of("notice", "at-once"));
    notice(2);
    happens(new ClusterEvent.Granted("198.18.0.9"));
    run();
    run();
    assertEquals(1, sent.size());
    Mail mail = sent.get(0);
    assertEquals("ann@acme.example", mail.to());
    assertTrue(
        mail.subject().startsWith(CLUSTER + ": node 198.18.0.2 will be reclaimed at "),
        mail.subject());
    assertTrue(
        mail.text()
            .contains("\nhttps://bourse.example/console/clusters/" + CLUSTER + "?ceiling=keep\n"),
        mail.text());
    assertFalse(mail.text().contains("198.18.0.1 "), "the notice before the choice");
    assertTrue(mail.text().endsWith(mail.unsubscribe() + "\n"), mail.text());
  }

  @Test
  void aMarketThatFlapsSendsThreeMailsAndThenOneInTenMinutesWithEachEventOnce() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    for (int i = 0; i < 60; i++) {
      happens(
          i % 2 == 0
              ? new ClusterEvent.NoticeGiven(
                  "198.18.1." + i, Allocation.Reason.OUTBID, clock.millis() + MINUTE)
              : new ClusterEvent.NoticeWithdrawn("198.18.1." + i));
      run();
      clock.advance(MINUTE);
    }
    assertEquals(8, sent.size());
    clock.advance(10 * MINUTE);
    run();
    String all = String.join("", sent.stream().map(Mail::text).toList());
    for (int i = 0; i < 60; i++) {
      assertEquals(1, all.split("198\\.18\\.1\\." + i + " ", -1).length - 1, "event " + i);
    }
  }

  @Test
  void ofTwoProcessesOneMails() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    notice(1);
    await(Future.all(process().step(clock.millis(), true), process().step(clock.millis(), true)));
    assertEquals(1, rows());
  }

  @Test
  void aCommitThatFailsOrWhoseAnswerIsLostNeitherLosesNorRepeatsAMail() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    notice(1);
    failNextCommits(1);
    assertThrows(Exception.class, this::run);
    assertEquals(0, rows());
    // The lines are written.
    loseNextAnswer();
    assertThrows(Exception.class, this::run);
    assertEquals(0, rows());
    failNextCommits(1);
    assertThrows(Exception.class, this::run);
    assertEquals(0, rows());
    loseNextAnswer();
    assertThrows(Exception.class, this::run);
    assertEquals(1, rows());
    clock.advance(10 * MINUTE);
    run();
    assertEquals(1, rows());
  }

  @Test
  void aFullQueueOfMailsDelaysTheMail() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    notice(1);
    isQueueFull = true;
    assertThrows(Exception.class, this::run);
    isQueueFull = false;
    run();
    assertEquals(1, sent.size());
  }

  @Test
  void aMailThatFailsIsTriedAgainLaterAndKeepsNoOther() throws Exception {
    member("bob");
    choose(ANN, Map.of("notice", "at-once"));
    choose(new Recipient("acme", "bob"), Map.of("notice", "at-once"));
    notice(1);
    broken = "ann@acme.example";
    run();
    broken = "";
    run();
    assertEquals(List.of("bob@acme.example"), sent.stream().map(Mail::to).toList());
    clock.advance(10 * MINUTE);
    run();
    assertEquals(2, sent.size());
  }

  @Test
  void aMemberWhoLeftOrIsSuspendedAndARetiredOrganizationReceiveNothing() throws Exception {
    choose(ANN, Map.of("notice", "at-once", "lapse", "digest"));
    notice(1);
    execute("UPDATE member SET suspended_at = 1");
    run();
    execute("UPDATE member SET suspended_at = NULL");
    execute("UPDATE org SET retired_at = 1");
    run();
    execute("UPDATE org SET retired_at = NULL");
    assertFalse(await(store.prune(10)));
    Due known = await(news.listDue(Pace.AT_ONCE, clock.millis(), 1)).get(0);
    // A process of the previous release knows no mails, so it leaves the rows behind.
    execute("DELETE FROM member");
    run();
    assertEquals(0, rows());
    fails(ApiException.class, news.end(known, 0, List.of()));
    await(store.prune(10));
    assertEquals(0, integers("SELECT COUNT(*) FROM mail_choice").get(0));
    assertEquals(0, integers("SELECT COUNT(*) FROM mail_due").get(0));
  }

  @Test
  void theChoicesOfAMemberWhoIsRemovedEndInTheSameCommit() throws Exception {
    member("bob");
    choose(ANN, Map.of("notice", "at-once"));
    choose(new Recipient("acme", "bob"), Map.of("notice", "at-once"));
    await(
        database.commit(
            ChoiceStore.offboarding().ending(new Author("acme", "ann"), clock.millis())));
    assertEquals(List.of("bob"), texts("SELECT username FROM mail_choice"));
    assertEquals(List.of("bob"), texts("SELECT username FROM mail_due"));
  }

  @Test
  void aDigestComesOnceADayAndOldEventsAreLeftOut() throws Exception {
    choose(ANN, Map.of("notice", "digest"));
    notice(1);
    run();
    assertEquals(0, sent.size());
    untilEight();
    assertEquals(8, Instant.ofEpochMilli(clock.millis()).atOffset(ZoneOffset.UTC).getHour());
    notice(2);
    run();
    assertEquals("acme: 2 events of your clusters", sent.get(0).subject());
    notice(3);
    run();
    assertEquals(1, sent.size());
    clock.advance(3 * DAY);
    run();
    assertEquals(1, sent.size(), "the third notice is three days old");
  }

  /** A clock that is ahead would take all news for old, and all digests for due. */
  @Test
  void untilTheClockIsConfirmedNothingIsDiscardedAndNoDigestIsSent() throws Exception {
    choose(ANN, Map.of("notice", "digest"));
    notice(1);
    run();
    notice(2);
    clock.advance(3 * DAY);
    assertFalse(await(process().step(clock.millis(), false)));
    assertEquals(1, integers("SELECT COUNT(*) FROM mail_line").get(0), "the second is not read");
    assertEquals(0, sent.size());

    clock.advance(-3 * DAY);
    untilEight();
    run();
    assertEquals("acme: 2 events of your clusters", sent.get(0).subject());
  }

  @Test
  void aKindThatIsOffIsNotMailedAndItsReturnDoesNotTellThePast() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    choose(ANN, Map.of("notice", "off"));
    notice(1);
    run();
    choose(ANN, Map.of("notice", "at-once"));
    run();
    assertEquals(0, sent.size());
  }

  @Test
  void aFailedNodeIsMailedFromTheTrail() throws Exception {
    choose(ANN, Map.of("health", "at-once"));
    await(
        database.commit(
            List.of(
                AuditStore.insert(
                    new AuditRow(
                        clock.millis(),
                        "acme",
                        "system:market",
                        "node_silent",
                        CLUSTER,
                        "public_ip=198.18.0.1 slot=0")))));
    await(database.settledTrail(Long.MAX_VALUE));
    eventually(
        "it is mailed",
        () -> {
          try {
            run();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
          return !sent.isEmpty();
        });
    assertEquals(CLUSTER + ": node 198.18.0.1 does not answer the service.", sent.get(0).subject());
  }

  @Test
  void aTextWithLineBreaksAddsNoHeaderAndNoLine() throws Exception {
    choose(ANN, Map.of("alert", "at-once"));
    happens(
        new ClusterEvent.AlertRaised(
            Alerts.Kind.SPEND, "spent\r\nBcc: eve@evil.example\r\n\r\nhttps://evil.example"));
    run();
    assertEquals(
        CLUSTER + ": alert: spent Bcc: eve@evil.example https://evil.example.",
        sent.get(0).subject());
    assertTrue(
        sent.get(0).text().lines().noneMatch(line -> line.startsWith("https://evil")),
        sent.get(0).text());
  }

  @Test
  void onlyATokenOfTheServiceNamesItsMember() throws Exception {
    String token = await(tokens.of(ANN));
    assertEquals(Optional.of(ANN), await(tokens.verify(token)));
    String signature = token.substring(token.indexOf('.'));
    String bob =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString("acme/bob".getBytes(StandardCharsets.UTF_8));
    for (String forged :
        List.of(
            bob + signature,
            token.substring(0, token.length() - 1),
            token + "0",
            token.substring(0, token.indexOf('.')),
            ".",
            "",
            "é.é",
            bob + ".")) {
      assertEquals(Optional.empty(), await(tokens.verify(forged)), forged);
    }
  }

  @Test
  void unsubscribingEndsAllMailsOfOneMemberAndIsRecordedOnce() throws Exception {
    member("bob");
    choose(ANN, Map.of("notice", "at-once", "lapse", "digest"));
    choose(new Recipient("acme", "bob"), Map.of("notice", "at-once"));
    await(service().unsubscribe(ANN));
    await(service().unsubscribe(ANN));
    notice(1);
    run();
    assertEquals(List.of("bob@acme.example"), sent.stream().map(Mail::to).toList());
    assertEquals(
        List.of("system:mail-link username=ann"),
        texts("SELECT actor || ' ' || detail FROM audit WHERE action = 'mail_unsubscribe'"));
  }

  @Test
  void eachOfAHundredAndOneClustersWithNewsIsToldOnceAndTheMailCountsThem() throws Exception {
    choose(ANN, Map.of("notice", "digest"));
    for (int i = 0; i <= 100; i++) {
      cluster("more-" + i);
      noticeOf("more-" + i);
    }
    run();
    assertEquals(101, integers("SELECT written FROM mail_due").get(0));
    assertEquals(NewsStore.MAX_LINES, integers("SELECT COUNT(*) FROM mail_line").get(0));
    untilEight();
    run();
    assertEquals(
        List.of("acme: 101 events of your clusters"), sent.stream().map(Mail::subject).toList());
    assertTrue(sent.get(0).text().startsWith("51 earlier events"), sent.get(0).text());
    assertEquals(1, told("more-100: "));
    assertEquals(0, integers("SELECT COUNT(*) FROM mail_line").get(0));
    clock.advance(DAY);
    run();
    assertEquals(1, sent.size());
  }

  @Test
  void aTrailWithAThousandOtherRowsDelaysNothingAndPositionsOfReadNewsEnd() throws Exception {
    choose(ANN, Map.of("health", "at-once", "notice", "at-once"));
    notice(1);
    List<Statement> rows = new ArrayList<>();
    for (int i = 0; i <= 1_000; i++) {
      rows.add(
          AuditStore.insert(
              new AuditRow(
                  clock.millis(),
                  "acme",
                  "system:market",
                  i < 1_000 ? "vm_capacity_put" : "node_silent",
                  CLUSTER,
                  "public_ip=198.18.0.7 slot=0")));
    }
    await(database.commit(rows));
    assertFalse(await(process().step(clock.millis(), true)));
    assertEquals(1, told("node 198.18.0.7 does not answer"));
    for (int i = 0; i < 3; i++) {
      clock.advance(NotificationMails.OPEN_MILLIS);
      run();
    }
    assertEquals(0, integers("SELECT COUNT(*) FROM mail_position").get(0));
    long revision = integers("SELECT revision FROM mail_scan").get(0);
    clock.advance(DAY);
    run();
    assertEquals(revision, integers("SELECT revision FROM mail_scan").get(0), "nothing is new");
    assertEquals(1, sent.size());
  }

  @Test
  void anEntryThatIsCommittedAfterALaterOneOfAnotherClusterIsTold() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    cluster("other");
    noticeOf("other");
    noticeOf("other");
    // The first one is stored by a commit that is still open.
    long id = integers("SELECT MIN(id) FROM activity WHERE cluster = 'other'").get(0);
    execute("UPDATE activity SET id = 1000 WHERE id = ?", id);
    run();
    execute(
        "INSERT INTO activity (id, ts, cluster, kind, actor, who, event, public_ip, reason,"
            + " ends_at) SELECT 999, ts, ?, kind, actor, who, event, public_ip, reason, ends_at"
            + " FROM activity WHERE id = 1000",
        CLUSTER);
    clock.advance(1);
    run();
    assertEquals(1, told(CLUSTER + ": node 198.18.0.1 "));
    assertEquals(2, sent.size());
  }

  @Test
  void aClockThatWasAMonthAheadNeitherRepeatsNorDelaysAfterItsCorrection() throws Exception {
    choose(ANN, Map.of("notice", "at-once", "lapse", "digest"));
    notice(1);
    run();
    clock.advance(30 * DAY);
    notice(2);
    run();
    clock.advance(MINUTE - 30 * DAY);
    for (Correction correction : Notifications.corrections(database)) {
      await(correction.correct(clock.millis()));
    }
    notice(3);
    run();
    run();
    assertEquals(3, sent.size());
    for (int i = 1; i <= 3; i++) {
      assertEquals(1, told("node 198.18.0." + i + " "));
    }
  }

  @Test
  void aChangeOfPaceNeitherLosesNorRepeatsAnEvent() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    notice(1);
    choose(ANN, Map.of("notice", "digest"));
    run();
    notice(2);
    run();
    assertEquals(0, sent.size());
    choose(ANN, Map.of("notice", "at-once"));
    notice(3);
    run();
    assertEquals(1, sent.size());
    assertEquals(1, told("node 198.18.0.3 "));
    untilEight();
    run();
    clock.advance(DAY);
    run();
    assertEquals(2, sent.size());
    for (int i = 1; i <= 3; i++) {
      assertEquals(1, told("node 198.18.0." + i + " "), "notice " + i);
    }
  }

  @Test
  void whatWaitsOfAKindThatIsSwitchedOffIsNotTold() throws Exception {
    choose(ANN, Map.of("notice", "digest", "lapse", "digest"));
    notice(1);
    run();
    choose(ANN, Map.of("notice", "off"));
    untilEight();
    run();
    assertEquals(0, sent.size());
  }

  @Test
  void aRowThatCannotBeToldKeepsNoOther() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    notice(1);
    execute("UPDATE activity SET reason = 'of a later release'");
    notice(2);
    run();
    assertEquals(1, sent.size());
    assertEquals(1, told("node 198.18.0.2 "));
  }

  @Test
  void aMailAtOnceDoesNotWaitForDigests() throws Exception {
    for (int i = 0; i <= NotificationMails.MAX_MEMBERS; i++) {
      member("many" + i);
      choose(new Recipient("acme", "many" + i), Map.of("notice", "digest"));
    }
    notice(1);
    run();
    untilEight();
    choose(ANN, Map.of("notice", "at-once"));
    notice(2);
    assertTrue(await(process().step(clock.millis(), true)), "there are more digests");
    assertEquals("ann@acme.example", sent.get(0).to());
    run();
    assertEquals(NotificationMails.MAX_MEMBERS + 2, sent.size());
  }

  @Test
  void theFirstNoticeOfAnotherClusterIsMailedRightAfterAMail() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    cluster("other");
    for (int i = 1; i <= 4; i++) {
      notice(i);
      run();
      clock.advance(1);
    }
    assertEquals(3, sent.size(), "the fourth waits");
    noticeOf("other");
    run();
    assertEquals(4, sent.size());
    assertEquals("acme: 2 events of your clusters", sent.get(3).subject());
    clock.advance(1);
    noticeOf("other");
    run();
    assertEquals(4, sent.size(), "the second one waits");
  }

  @Test
  void theNoticesOfATickAreOneMail() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    NotificationMails process = process();
    await(process.step(clock.millis(), true));
    for (int i = 0; i < 2 * NotificationMails.MAX_ENTRIES; i++) {
      cluster("tick-" + i);
      noticeOf("tick-" + i);
    }
    while (await(process.step(clock.millis(), true))) {}
    assertEquals(
        List.of("acme: 200 events of your clusters"), sent.stream().map(Mail::subject).toList());
  }

  @Test
  void aWithdrawalWaitsForOnePauseHoweverManyFirstNoticesWereMailed() throws Exception {
    choose(ANN, Map.of("notice", "at-once"));
    for (int i = 0; i < 12; i++) {
      cluster("first-" + i);
      noticeOf("first-" + i);
      run();
      clock.advance(1);
    }
    assertEquals(12, sent.size());
    happens("first-0", new ClusterEvent.NoticeWithdrawn("198.18.0.1"));
    run();
    assertEquals(12, sent.size());
    clock.advance(10 * MINUTE);
    run();
    assertEquals(13, sent.size());
  }
}
