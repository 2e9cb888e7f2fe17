package dev.bourse.mail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.core.Ports;
import dev.bourse.keyring.Keyring;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.testing.MailServer;
import dev.bourse.testing.TestJobs;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Mail that several processes queue and send, through a real server. */
class StoredMailTest extends StoreFixture {
  private static final Keyring KEYRING = keyring(1);
  private static final Duration USEFUL = Duration.ofMinutes(15);

  /** Two pauses end while a mail is of use. */
  private static final List<Long> PAUSES = List.of(10L, 10L, 900_001L);

  private final GreenMail server = MailServer.smtp(0);
  private final List<StoredMail> processes = new ArrayList<>();
  private int seed;

  @AfterEach
  void close() throws Exception {
    for (StoredMail process : processes) {
      await(process.close());
    }
    server.stop();
  }

  private static Keyring keyring(int seed) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) seed);
    return Keyring.of(List.of(key));
  }

  private static Mail mail(int number) {
    return new Mail(
        "alice@acme.example", "Mail " + number, "Open this:\n\nhttp://x/?token=1\n", USEFUL);
  }

  private int port() {
    server.start();
    return server.getSmtp().getPort();
  }

  private StoredMail process(int port, Keyring keyring, List<Long> pauses) {
    StoredMail made =
        new StoredMail(
            vertx,
            new OutboxRows(database),
            keyring,
            new SmtpServer(
                vertx,
                new MailConfig.Smtp("127.0.0.1", port, "", "", MailConfig.Security.NONE),
                "bourse@bourse.example",
                30_000,
                100,
                null),
            pauses,
            20,
            clock,
            System::nanoTime,
            new Random(++seed));
    processes.add(made);
    return made;
  }

  /** Queues a mail and ends the process before it is sent. */
  private void takeAndEnd(Mail mail) throws Exception {
    StoredMail ended = process(1, KEYRING, PAUSES);
    await(ended.close());
    await(ended.send(mail, database::commit));
  }

  private long count(String which) {
    try {
      return integers("SELECT COUNT(*) FROM outbox_mail WHERE " + which).get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void untilNoneWaits() throws Exception {
    eventually("none waits", () -> count("dead_at IS NULL") == 0);
  }

  @Test
  void aMailIsSentByAnotherProcessWhenTheOneThatTookItIsGone() throws Exception {
    takeAndEnd(mail(1));
    process(port(), KEYRING, PAUSES).start(TestJobs.of(vertx, clock));

    assertTrue(server.waitForIncomingEmail(60_000, 1));
    assertEquals("Mail 1", server.getReceivedMessages()[0].getSubject());
    assertEquals(
        "alice@acme.example", server.getReceivedMessages()[0].getAllRecipients()[0].toString());
    untilNoneWaits();
  }

  @Test
  void ofSeveralProcessesOneSendsEachMail() throws Exception {
    int port = port();
    StoredMail one = process(port, KEYRING, PAUSES);
    StoredMail two = process(port, KEYRING, PAUSES);
    one.start(TestJobs.of(vertx, clock));
    two.start(TestJobs.of(vertx, clock));
    List<Future<Void>> taken = new ArrayList<>();
    TreeSet<String> subjects = new TreeSet<>();
    for (int i = 0; i < 60; i++) {
      taken.add((i % 2 == 0 ? one : two).send(mail(i), database::commit));
      subjects.add("Mail " + i);
    }
    await(Future.all(taken));
    untilNoneWaits();

    TreeSet<String> ids = new TreeSet<>();
    TreeSet<String> arrived = new TreeSet<>();
    for (var message : server.getReceivedMessages()) {
      arrived.add(message.getSubject());
      ids.add(message.getHeader("Message-ID")[0]);
    }
    assertEquals(60, server.getReceivedMessages().length);
    assertEquals(subjects, arrived);
    assertEquals(60, ids.size());
    assertTrue(ids.first().matches("<[0-9A-Za-z]{22}@bourse\\.example>"), ids.first());
  }

  @Test
  void aMailWhoseSenderDiedAtItIsSentOnceTheClaimIsOver() throws Exception {
    takeAndEnd(mail(1));
    OutboxRows rows = new OutboxRows(database);
    String waiting = await(rows.listDue(KEYRING.ids(), 4)).get(0);
    assertEquals(waiting, await(rows.claim(waiting)).orElseThrow().id());
    assertEquals(List.of(), await(rows.listDue(KEYRING.ids(), 4)));
    assertEquals(Optional.empty(), await(rows.claim(waiting)));
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE outbox_mail SET due_at = due_at - ?", OutboxRows.CLAIM_MILLIS))));
    process(port(), KEYRING, PAUSES).start(TestJobs.of(vertx, clock));

    assertTrue(server.waitForIncomingEmail(60_000, 1));
    untilNoneWaits();
  }

  @Test
  void aReadThatFailsCostsNoAttempt() throws Exception {
    takeAndEnd(mail(1));
    OutboxRows rows = new OutboxRows(database);
    String waiting = await(rows.listDue(KEYRING.ids(), 4)).get(0);
    failNextReads(1);
    fails(StoreUnavailableException.class, rows.claim(waiting));
    assertEquals(List.of(0L), integers("SELECT tries FROM outbox_mail"));
    assertEquals(1, await(rows.claim(waiting)).orElseThrow().tries());
    assertEquals(List.of(1L), integers("SELECT tries FROM outbox_mail"));
  }

  @Test
  void aMailIsTriedAgainWhileTheServerIsAway() throws Exception {
    int port = Ports.free();
    StoredMail process = process(port, KEYRING, List.of(10L));
    process.start(TestJobs.of(vertx, clock));
    assertTrue(process.send(new Mail("a@acme.example", "s", "t\n", Mail.LASTING)));
    eventually("it was tried", () -> count("tries > 1") == 1);
    GreenMail late = MailServer.smtp(port);
    late.start();
    try {
      assertTrue(late.waitForIncomingEmail(60_000, 1));
      untilNoneWaits();
    } finally {
      late.stop();
    }
  }

  @Test
  void aMailThatHadNoTurnWhileItWasOfUseIsNotSent() throws Exception {
    takeAndEnd(mail(1));
    await(
        database.commit(
            List.of(
                Statement.of(
                    "UPDATE outbox_mail SET accepted_at = accepted_at - ?",
                    USEFUL.toMillis() + 1))));
    StoredMail late = process(port(), KEYRING, PAUSES);
    late.start(TestJobs.of(vertx, clock));
    untilNoneWaits();
    assertEquals(
        List.of("it had no turn while it was of use"), texts("SELECT fault FROM outbox_mail"));
    eventually("it is counted", () -> late.undelivered() == 1);
    assertEquals(0, server.getReceivedMessages().length);
  }

  @Test
  void afterTheLastAttemptWhyIsKeptForAWeekAndTheMailIsNot() throws Exception {
    StoredMail process = process(1, KEYRING, PAUSES);
    process.start(TestJobs.of(vertx, clock));
    await(process.send(mail(1), database::commit));
    untilNoneWaits();

    assertEquals(List.of(3L), integers("SELECT tries FROM outbox_mail"));
    assertEquals(List.of(""), texts("SELECT ciphertext FROM outbox_mail"));
    assertNotEquals(List.of(""), texts("SELECT fault FROM outbox_mail"));
    eventually("it is counted", () -> process.undelivered() == 1);
    long dead = integers("SELECT dead_at FROM outbox_mail").get(0);
    await(process.sweep(dead + Duration.ofDays(7).toMillis() - 1));
    assertEquals(1, integers("SELECT tries FROM outbox_mail").size());
    await(process.sweep(dead + Duration.ofDays(7).toMillis()));
    assertEquals(0, integers("SELECT tries FROM outbox_mail").size());
  }

  @Test
  void theStoreHasNothingReadableOfAMail() throws Exception {
    takeAndEnd(mail(1));
    String row = texts("SELECT mail_id || key_id || ciphertext FROM outbox_mail").get(0);
    assertFalse(row.contains("alice") || row.contains("token"), row);
  }

  /** Stores mails that no process can decrypt. */
  private void fill(int mails) throws Exception {
    StringBuilder copies = new StringBuilder();
    for (int i = 0; i < mails; i++) {
      copies.append(i == 0 ? "" : ", ").append("('copy").append(i).append("', 'k', '', 0, 0, 0)");
    }
    await(
        database.commit(
            List.of(
                Statement.of(
                    """
                    INSERT INTO outbox_mail (mail_id, key_id, ciphertext, accepted_at, due_at, tries)
                    VALUES %s\
                    """
                        .formatted(copies)))));
  }

  @Test
  void mailsThatMayWaitForLongLeaveHalfOfThePlacesToOthers() throws Exception {
    fill(OutboxRows.MAX_WAITING / 2 - 1);
    StoredMail process = process(1, KEYRING, PAUSES);
    Mail bulk =
        new Mail(
            "a@acme.example", "s", "t\n", "https://b.example/unsubscribe?token=t", Mail.LASTING);
    await(process.send(bulk, database::commit));
    fails(OutboxFullException.class, process.send(bulk, database::commit));
    await(process.send(mail(1), database::commit));
  }

  @Test
  void pastTheBoundNeitherTheMailNorWhatItTellsOfIsStored() throws Exception {
    takeAndEnd(mail(1));
    fill(OutboxRows.MAX_WAITING - 1);
    StoredMail process = process(1, KEYRING, PAUSES);
    StoreUnavailableException full =
        fails(
            StoreUnavailableException.class,
            process.send(
                mail(2),
                along -> {
                  List<Statement> all = new ArrayList<>(along);
                  all.add(
                      Statement.of(
                          "INSERT INTO service_secret (name, secret) VALUES ('told', 'of')"));
                  return database.commit(all);
                }));
    assertEquals("the mail queue is full: 1000 mails wait for the mail server", full.getMessage());
    assertEquals(List.of(), texts("SELECT name FROM service_secret"));
  }

  @Test
  void aMailOfASecretKeyThatIsNotGivenIsLeftToOthersAndGivenUpAfterADay() throws Exception {
    takeAndEnd(mail(1));
    StoredMail other = process(port(), keyring(2), PAUSES);
    other.start(TestJobs.of(vertx, clock));
    await(other.send(mail(2), database::commit));
    assertTrue(server.waitForIncomingEmail(60_000, 1));
    assertEquals("Mail 2", server.getReceivedMessages()[0].getSubject());
    eventually("it is noted as sent", () -> count("key_id <> '" + KEYRING.firstId() + "'") == 0);
    long accepted =
        integers(
                "SELECT accepted_at FROM outbox_mail WHERE key_id = '%s'"
                    .formatted(KEYRING.firstId()))
            .get(0);
    await(other.sweep(accepted + Duration.ofDays(1).toMillis()));
    assertEquals(
        List.of(
            "not sent within a day; was secret key %s taken away?".formatted(KEYRING.firstId())),
        texts("SELECT fault FROM outbox_mail WHERE dead_at IS NOT NULL"));
  }

  @Test
  void aMailThatWasAlteredIsGivenUp() throws Exception {
    takeAndEnd(mail(1));
    await(
        database.commit(
            List.of(Statement.of("UPDATE outbox_mail SET ciphertext = 'AAAA' || ciphertext"))));
    process(port(), KEYRING, PAUSES).start(TestJobs.of(vertx, clock));
    untilNoneWaits();
    String fault = texts("SELECT fault FROM outbox_mail").get(0);
    assertTrue(fault.contains("is not what was stored there"), fault);
  }
}
