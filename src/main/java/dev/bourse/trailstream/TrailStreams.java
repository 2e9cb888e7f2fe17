package dev.bourse.trailstream;

import dev.bourse.access.Offboarding;
import dev.bourse.audit.SealedBatches;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.ReceiverUpkeep;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.edge.Operations;
import dev.bourse.jobs.BackgroundJobs;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.mail.MailSender;
import dev.bourse.mail.MemberMails;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Assembles the trail streams of all organizations. */
public final class TrailStreams {
  private final DeliveryClient client;
  private final Streamer streamer;
  private final TrailStreamService service;
  private final ReceiverUpkeep upkeep;

  /**
   * Dependencies beside the store.
   *
   * @param privateHosts hosts that may have private addresses
   * @param retryMillis how long a failing batch is retried
   * @param secrets keeps streams' secrets
   * @param mail notifies members of streams that were switched off
   * @param baseUrl where members find the guide
   * @param nanoTime the monotonic clock
   * @param random a cryptographic source in production
   * @param jobs run the polls for deliveries
   * @param traces records attempts
   */
  public record Ports(
      Set<String> privateHosts,
      long retryMillis,
      SharedSecrets secrets,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      BackgroundJobs jobs,
      Traces traces) {
    public Ports {
      privateHosts = Set.copyOf(privateHosts);
    }
  }

  private TrailStreams(Vertx vertx, Database database, Ports ports) {
    TrailStreamStore store = new TrailStreamStore(database);
    client = BatchSender.client(vertx, ports.privateHosts(), ports.traces());
    SigningSecrets secrets =
        new SigningSecrets(ports.secrets(), BatchSender.SECRETS, ports.random());
    BatchSender sender = new BatchSender(vertx, secrets, client, ports.clock());
    streamer =
        new Streamer(
            vertx,
            database,
            Streamer.TERMS,
            sender,
            new StreamSwitchOff(new MemberMails(database, ports.mail()), ports.baseUrl()),
            new DeliveryBackoff(ports.retryMillis()),
            ports.clock(),
            ports.nanoTime(),
            ports.random());
    service =
        new TrailStreamService(
            store,
            new SealedBatches(vertx, database),
            sender,
            streamer.engine(),
            ports.clock(),
            ports.random());
    upkeep = TrailStreamStore.upkeep(database, secrets);
  }

  /** Starts sending. */
  public static TrailStreams start(Vertx vertx, Database database, Ports ports) {
    TrailStreams streams = new TrailStreams(vertx, database, ports);
    streams.streamer.start(ports.jobs());
    return streams;
  }

  /** Disables the streams of members who leave. */
  public static Offboarding offboarding(Database database) {
    return TrailStreamStore.TABLE.offboarding(database, author -> List.of());
  }

  public void bind(Operations operations) {
    new TrailStreamRoutes(service).bind(operations);
  }

  /** Deletes expired rows; one step, which returns whether there may be more. */
  public Future<Boolean> step(long nowMillis) {
    return upkeep.step(nowMillis);
  }

  /** Registers the metrics of this process's streams. */
  public void registerMetrics(Signals signals) {
    signals.gauge(
        "bourse_trail_streams_behind",
        "Trail streams with unsent batches, while this process sends them.",
        streamer.engine()::queues);
    signals.counter(
        "bourse_trail_batches_total",
        "Batches that receivers of trail streams accepted from this process.",
        streamer.engine()::delivered);
    signals.counter(
        "bourse_trail_failures_total",
        "Failed attempts of this process to send a batch of a trail stream.",
        streamer.engine()::failed);
  }

  /**
   * Stops, and completes when the attempts in progress have ended; another process sends the rest.
   */
  public Future<Void> stop() {
    return streamer.engine().stop().eventually(client::close).mapEmpty();
  }
}
