package dev.bourse.trailstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.AuditRow;
import dev.bourse.audit.AuditStore;
import dev.bourse.audit.Sealer;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.DeliveryEngine;
import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.ReceiverUpkeep;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.mail.MemberMails;
import dev.bourse.mail.OutboxMail;
import dev.bourse.store.Statement;
import dev.bourse.testing.Receiver;
import dev.bourse.testing.TestJobs;
import dev.bourse.traces.Traces;
import dev.bourse.trailstream.TrailStream.Progress;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stream over days, on a simulated clock. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before each test.
class StreamerTest extends StoreFixture {
  private static final long DAY = Duration.ofDays(1).toMillis();

  /** The service's terms, with a shorter poll interval. */
  private static final DeliveryEngine.Terms TERMS = Streamer.TERMS.withPollMillis(5);

  private final List<Streamer> streamers = new ArrayList<>();
  private TrailStreamStore store;
  private SigningSecrets secrets;
  private DeliveryClient client;

  @BeforeEach
  void make() throws Exception {
    store = new TrailStreamStore(database);
    secrets =
        new SigningSecrets(
            new SharedSecrets(database, Keyring.of(List.of(new byte[32])), clock),
            BatchSender.SECRETS,
            new Random(1));
    client = BatchSender.client(vertx, Set.of("localhost"), Traces.OFF);
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
    for (Streamer streamer : streamers) {
      await(streamer.engine().stop());
    }
    await(client.close());
  }

  private void streamer() {
    Streamer streamer =
        new Streamer(
            vertx,
            database,
            TERMS,
            new BatchSender(vertx, secrets, client, clock),
            new StreamSwitchOff(
                new MemberMails(
                    database,
                    new OutboxMail(
                        vertx, folder.resolve("outbox"), "b@b.example", clock, new Random(2))),
                () -> "https://bourse.example"),
            new DeliveryBackoff(3 * DAY),
            clock,
            () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()),
            new Random(3));
    streamers.add(streamer);
    streamer.start(TestJobs.of(vertx, clock));
  }

  private TrailStream stream(String url) throws Exception {
    TrailStream stream =
        new TrailStream(
            "acme",
            "tst_1",
            Destination.of(url),
            null,
            false,
            Progress.at(0, null, clock.millis()),
            null,
            null,
            1,
            null,
            1,
            clock.millis(),
            "member:ann");
    await(
        store.create(
            stream, List.of(secrets.storing("tst_1", 1, secrets.mint())), row("trail_stream_set")));
    return stream;
  }

  private AuditRow row(String action) {
    return new AuditRow(clock.millis(), "acme", "member:ann", action, "acme", "");
  }

  /** Seals a number of batches of one row each. */
  private void batches(int count) throws Exception {
    Sealer sealer = new Sealer(vertx, database, clock);
    for (int i = 0; i < count; i++) {
      await(database.commit(List.of(AuditStore.insert(row("org_update")))));
      while (await(sealer.step())) {
        Thread.onSpinWait();
      }
    }
  }

  private long count(String where) {
    try {
      return integers("SELECT COUNT(*) FROM trail_stream WHERE " + where).get(0);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private List<String> mails() {
    // The folder is created with the first mail.
    if (!Files.isDirectory(folder.resolve("outbox"))) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder.resolve("outbox"))) {
      List<String> mails = new ArrayList<>();
      for (Path file : files.filter(f -> f.toString().endsWith(".eml")).toList()) {
        mails.add(Files.readString(file));
      }
      return mails;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatIsNotTakenForThreeDaysSwitchesTheStreamOffWhereItStandsAndMembersAreTold()
      throws Exception {
    try (Receiver receiver = new Receiver(message -> 500)) {
      batches(2);
      stream(receiver.url() + "/T0k3nT0k3nT0k3nT0");
      streamer();
      long begin = clock.millis();
      long tries = 0;
      while (count("disabled_at IS NULL") == 1) {
        long seen = tries;
        eventually(
            "it is tried once more",
            () -> count("tries > " + seen) == 1 || count("disabled_at IS NOT NULL") == 1);
        tries++;
        clock.advance(
            Math.max(1, integers("SELECT next_try_at FROM trail_stream").get(0) - clock.millis()));
      }
      assertTrue(clock.millis() - begin > 2 * DAY && clock.millis() - begin <= 3 * DAY + 1);
      assertTrue(tries > 12, "" + tries);
      assertEquals(1, receiver.received().stream().map(Receiver.Received::id).distinct().count());
      assertEquals(List.of("failing"), texts("SELECT disabled_reason FROM trail_stream"));
      assertEquals(
          List.of("destination=" + receiver.url() + "/*** reason=failing"),
          texts("SELECT detail FROM audit WHERE action = 'trail_stream_disable'"));
      assertEquals(1, count("writes_batch = 0"));
      eventually("a mail is there", () -> mails().stream().anyMatch(m -> m.contains("acme")));
      assertTrue(mails().get(0).contains("To: ann@acme.example"), mails().get(0));
      // A command would have to repeat all options of the stream, and quote members' input.
      assertFalse(mails().get(0).contains("--destination"), mails().get(0));
    }
  }

  @Test
  void aBatchThatIsRefusedIsTriedAgainWithTheSameIdAndBytesBeforeTheNext() throws Exception {
    AtomicInteger refusals = new AtomicInteger(2);
    try (Receiver receiver = new Receiver(m -> refusals.getAndDecrement() > 0 ? 500 : 200)) {
      batches(2);
      stream(receiver.url());
      streamer();
      for (int tries = 1; tries <= 2; tries++) {
        String refused = "tries = " + tries;
        eventually("attempt " + tries + " is stored", () -> count(refused) == 1);
        assertEquals(tries, receiver.received().size());
        clock.advance(integers("SELECT next_try_at FROM trail_stream").get(0) - clock.millis());
      }
      eventually("all is taken", () -> count("writes_batch = 2 AND tries = 0") == 1);
      List<Receiver.Received> all = receiver.received();
      String first = "msg_trail_acme_writes_1";
      assertEquals(
          List.of(first, first, first, "msg_trail_acme_writes_2"),
          all.stream().map(Receiver.Received::id).toList());
      assertEquals(1, all.stream().limit(3).map(Receiver.Received::text).distinct().count());
    }
  }

  @Test
  void aFailedCommitLosesNothingAndSendsPerhapsTwiceInOrder() throws Exception {
    try (Receiver receiver = new Receiver()) {
      batches(10);
      stream(receiver.url());
      streamer();
      for (int i = 0; i < 5; i++) {
        failNextCommits(1);
        failNextReads(1);
        int seen = i;
        eventually(
            "more comes",
            () -> {
              // The pause of a stream that waits for the store is measured by this clock.
              clock.advance(1);
              return receiver.taken().size() > seen;
            });
      }
      eventually(
          "all is taken",
          () -> {
            clock.advance(1);
            return count("writes_batch = 10") == 1;
          });
      assertEquals(
          Stream.iterate(1, i -> i + 1).limit(10).map(i -> "msg_trail_acme_writes_" + i).toList(),
          receiver.taken().stream().map(Receiver.Received::id).distinct().toList());
    }
  }

  @Test
  void aStreamThatMovesWhileItIsSentIsTriedAtItsNewAddress() throws Exception {
    try (Receiver next = new Receiver();
        Receiver old =
            new Receiver(
                message -> {
                  move(next.url());
                  return 200;
                })) {
      batches(2);
      stream(old.url());
      streamer();
      eventually("all is taken", () -> count("writes_batch = 2") == 1);
      assertEquals(1, old.received().size());
      assertEquals(old.received().get(0).text(), next.taken().get(0).text());
      assertEquals(2, next.taken().size());
    }
  }

  @Test
  void aFailureThatIsToldWhenTheBatchIsTakenHarmsNotTheNext() throws Exception {
    batches(2);
    stream("http://localhost:1/");
    TrailStream before = await(store.find("acme")).orElseThrow();
    await(store.taken(before, before.chain(false), new Attempt(200, null), clock.millis()));
    Attempt late = new Attempt(500, "late");
    for (Future<Void> told :
        List.of(
            store.failed(before, late, clock.millis() + DAY, clock.millis()),
            database.commit(
                TrailStreamStore.switchOff(
                    before, SwitchOffReason.FAILING, late, clock.millis())))) {
      assertThrows(ExecutionException.class, () -> await(told));
      assertInstanceOf(ReceiverChangedException.class, told.cause());
    }
    assertEquals(1, count("tries = 0 AND fault IS NULL AND disabled_at IS NULL"));
  }

  private void move(String url) {
    try {
      await(
          database.commit(
              List.of(
                  Statement.of(
                      "UPDATE trail_stream SET destination = ?, revision = revision + 1", url))));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void theStreamOfARetiredOrganizationEndsWithItsSecrets() throws Exception {
    try (Receiver receiver = new Receiver()) {
      batches(1);
      stream(receiver.url());
      await(database.commit(List.of(Statement.of("UPDATE org SET retired_at = 1"))));
      streamer();
      await(TrailStreamStore.upkeep(database, secrets).step(clock.millis()));
      assertEquals(0, count("1 = 1"));
      assertEquals(List.of(), texts("SELECT name FROM encrypted_secret"));
      assertEquals(List.of(), receiver.received());
    }
  }

  @Test
  void theOldSecretEndsADayAfterARotation() throws Exception {
    TrailStream before = stream("http://localhost:1/");
    long until = clock.millis() + DAY;
    await(
        store.update(
            before,
            before.withSecret(2, until),
            List.of(secrets.storing("tst_1", 2, secrets.mint())),
            row("trail_stream_rotate")));
    ReceiverUpkeep upkeep = TrailStreamStore.upkeep(database, secrets);
    await(upkeep.step(until - 1));
    assertEquals(2, texts("SELECT name FROM encrypted_secret").size());
    await(upkeep.step(until));
    assertEquals(List.of("trail-stream/tst_1/2"), texts("SELECT name FROM encrypted_secret"));
    assertEquals(1, count("old_secret_until IS NULL"));
  }
}
