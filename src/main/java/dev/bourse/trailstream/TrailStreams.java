package dev.bourse.trailstream;

import dev.bourse.audit.SealedBatches;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.MemberMails;
import dev.bourse.delivery.Retries;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.edge.Operations;
import dev.bourse.keyring.SharedSecrets;
import dev.bourse.mail.MailSender;
import dev.bourse.signals.Signals;
import dev.bourse.store.Database;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** The trail streams of all organizations, put together. */
public final class TrailStreams {
  private final DeliveryClient client;
  private final Streamer streamer;
  private final TrailStreamService service;
  private final TrailStreamUpkeep upkeep;

  /**
   * What they stand on besides the store.
   *
   * @param privateHosts those that are called although their addresses are not public
   * @param retryMillis for how long a batch that is not taken is tried
   * @param secrets where streams' secrets are kept
   * @param mail tells members what was switched off
   * @param baseUrl where members find the guide
   * @param nanoTime the monotonic clock
   * @param random a cryptographic source in production
   * @param traces where attempts are told to
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
            new Retries(ports.retryMillis()),
            ports.clock(),
            ports.nanoTime(),
            ports.random());
    service =
        new TrailStreamService(
            store,
            new SealedBatches(vertx, database),
            sender,
            streamer,
            ports.clock(),
            ports.random());
    upkeep = new TrailStreamUpkeep(store, secrets);
  }

  /** Begins to send. */
  public static TrailStreams start(Vertx vertx, Database database, Ports ports) {
    TrailStreams streams = new TrailStreams(vertx, database, ports);
    streams.streamer.start();
    return streams;
  }

  public void bind(Operations operations) {
    new TrailStreamRoutes(service).bind(operations);
  }

  /** Makes an end of what is past its time; one step, which tells whether there may be more. */
  public Future<Boolean> step(long nowMillis) {
    return upkeep.step(nowMillis);
  }

  /** Shows what this process sends. */
  public void show(Signals signals) {
    signals.gauge(
        "bourse_trail_streams_behind",
        "Trail streams with a batch that is not taken yet, while this process sends them.",
        streamer::waiting);
    signals.counter(
        "bourse_trail_batches_total",
        "Batches that receivers of trail streams have taken from this process.",
        streamer::taken);
    signals.counter(
        "bourse_trail_failures_total",
        "Attempts of this process to send a batch of a trail stream that failed.",
        streamer::failed);
  }

  /** Ends when the attempts under way have; what waits is sent by whoever comes next. */
  public Future<Void> stop() {
    return streamer.stop().eventually(client::close);
  }
}
