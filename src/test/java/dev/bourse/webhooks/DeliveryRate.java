package dev.bourse.webhooks;

import dev.bourse.access.AccessStore;
import dev.bourse.access.Organization;
import dev.bourse.audit.AuditRow;
import dev.bourse.capacity.Activity;
import dev.bourse.capacity.ActivityRows;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.Cluster;
import dev.bourse.capacity.ClusterEvent;
import dev.bourse.capacity.Sample;
import dev.bourse.capacity.StoreFixture;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.keyring.Keyring;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.mail.MemberMails;
import dev.bourse.mail.OutboxMail;
import dev.bourse.pools.settings.PoolStore;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import dev.bourse.store.sqlite.SqliteConfig;
import dev.bourse.store.sqlite.SqliteDatabase;
import dev.bourse.testing.TestJobs;
import dev.bourse.traces.Traces;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures whether one event loop can deliver events at a rate, and the latency of concurrent reads
 * of the same store: {@code java -cp … dev.bourse.webhooks.DeliveryRate [organizations] [events a
 * minute]}. Receivers are in the same process and answer at once; each event is a commit.
 */
public final class DeliveryRate {
  private static final int READS = 3_000;
  private static final int SECONDS = 30;

  private DeliveryRate() {}

  public static void main(String[] args) throws Exception {
    int orgs = args.length > 0 ? Integer.parseInt(args[0]) : 50;
    int perMinute = args.length > 1 ? Integer.parseInt(args[1]) : 10_000;
    Path folder = Files.createTempDirectory("delivery-rate");
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    Vertx others = Vertx.vertx();
    LongAdder received = new LongAdder();
    int port =
        StoreFixture.await(
                others
                    .createHttpServer()
                    .requestHandler(
                        request -> {
                          received.increment();
                          request.response().setStatusCode(204).end();
                        })
                    .listen(0, "127.0.0.1"))
            .actualPort();
    Clock clock = Clock.systemUTC();
    Database database =
        StoreFixture.await(
            SqliteDatabase.open(
                vertx, folder.resolve("b.db"), SqliteConfig.defaults(), "db/schema", clock));
    StoreFixture.await(database.commit(List.of(PoolStore.insert(Sample.POOL, clock.millis()))));
    WebhookStore store = new WebhookStore(database);
    SigningSecrets secrets =
        new SigningSecrets(
            new SharedSecrets(database, Keyring.of(List.of(new byte[32])), clock),
            SignedSender.SECRETS,
            new Random(1));
    for (int org = 0; org < orgs; org++) {
      make(database, store, secrets, "o" + org, "http://localhost:" + port + "/" + org, clock);
    }
    long[] quiet = reads(database);
    DeliveryClient client =
        SignedSender.client(vertx, new WebhookConfig(Set.of("localhost"), 1_000_000), Traces.OFF);
    WebhookDispatcher dispatcher =
        new WebhookDispatcher(
            vertx,
            database,
            WebhookDispatcher.TERMS,
            new SignedSender(
                secrets,
                client,
                new EventLink(() -> "https://bourse.example", name -> false),
                clock),
            new EndpointSwitchOff(
                new MemberMails(
                    database,
                    new OutboxMail(vertx, folder.resolve("out"), "b@b", clock, new Random(2))),
                () -> "http://b"),
            new DeliveryBackoff(1_000_000),
            clock,
            System::nanoTime,
            new Random(3));
    dispatcher.start(TestJobs.of(vertx, clock));
    StoreFixture.await(WebhookStore.TABLE.countChanges(database));
    TimeUnit.SECONDS.sleep(2);
    long all = (long) perMinute * SECONDS / 60;
    long begin = System.nanoTime();
    Thread happening =
        new Thread(
            () -> {
              for (long i = 0; i < all; i++) {
                happen(database, dispatcher, "o" + i % orgs, clock);
                long due = begin + i * TimeUnit.MINUTES.toNanos(1) / perMinute;
                LockSupport.parkNanos(due - System.nanoTime());
              }
            });
    happening.start();
    long[] busy = reads(database);
    happening.join();
    while (received.sum() < all && System.nanoTime() - begin < TimeUnit.MINUTES.toNanos(5)) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf(
        "%d of %d events to %d endpoints in %.1f s: %.0f a minute%n",
        received.sum(), all, orgs, seconds, received.sum() * 60 / seconds);
    System.out.printf(
        "a read: median %d us, p99 %d us; during deliveries median %d us, p99 %d us%n",
        quiet[0], quiet[1], busy[0], busy[1]);
    StoreFixture.await(dispatcher.engine().stop());
    StoreFixture.await(client.close());
    StoreFixture.await(database.close());
    StoreFixture.await(vertx.close());
    StoreFixture.await(others.close());
  }

  private static void happen(
      Database database, WebhookDispatcher dispatcher, String org, Clock clock) {
    Cluster cluster = cluster(org);
    database
        .commit(
            List.of(
                ActivityRows.insert(
                    new Activity("system:market", new ClusterEvent.Granted("198.18.0.1")),
                    cluster.name(),
                    clock.millis())))
        .onSuccess(stored -> dispatcher.published(cluster));
  }

  private static Cluster cluster(String org) {
    return Cluster.created("c-" + org, org, "h100", Cluster.Kind.VM, Cluster.Posture.MARKET);
  }

  private static void make(
      Database database,
      WebhookStore store,
      SigningSecrets secrets,
      String org,
      String url,
      Clock clock)
      throws Exception {
    List<Statement> made = new ArrayList<>();
    made.add(AccessStore.insert(new Organization(org, org, "standard"), clock.millis()));
    made.addAll(CapacityStore.insert(cluster(org), clock.millis()));
    StoreFixture.await(database.commit(made));
    String id = "whe_" + org;
    StoreFixture.await(
        store.create(
            new WebhookEndpoint(
                id,
                org,
                url,
                "",
                EndpointFormat.STANDARD,
                EnumSet.allOf(EventKind.class),
                null,
                clock.millis(),
                "member:m",
                null,
                null,
                1,
                null,
                1),
            1,
            0,
            0,
            List.of(secrets.storing(id, 1, secrets.mint())),
            new AuditRow(clock.millis(), org, "member:m", "webhook_add", org, "")));
  }

  /** Returns the median and the 99th percentile of reads of a cluster, in microseconds. */
  private static long[] reads(Database database) throws Exception {
    long[] took = new long[READS];
    for (int i = 0; i < READS; i++) {
      long begin = System.nanoTime();
      StoreFixture.await(database.exists("SELECT 1 FROM cluster WHERE name = ?", List.of("c-o0")));
      took[i] = (System.nanoTime() - begin) / 1_000;
      TimeUnit.MILLISECONDS.sleep(5);
    }
    Arrays.sort(took);
    return new long[] {took[READS / 2], took[READS * 99 / 100]};
  }
}
