package dev.bourse.webhooks;

import dev.bourse.audit.TrailStore;
import dev.bourse.capacity.Clusters;
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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** The webhooks of all organizations, put together. */
public final class Webhooks {
  private final WebhookStore store;
  private final DeliveryClient client;
  private final Courier courier;
  private final WebhookService service;
  private final WebhookUpkeep upkeep;
  private final Runnable unsubscribe;

  /**
   * What they stand on besides the store.
   *
   * @param secrets where endpoints' secrets are kept
   * @param mail tells members what was switched off
   * @param baseUrl where members find the console
   * @param nanoTime the monotonic clock
   * @param random a cryptographic source in production
   * @param traces where attempts are told to
   */
  public record Ports(
      SharedSecrets secrets,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      Traces traces) {}

  private Webhooks(
      Vertx vertx, WebhookConfig config, Database database, Clusters clusters, Ports ports) {
    store = new WebhookStore(database);
    client = SignedSender.client(vertx, config, ports.traces());
    SigningSecrets secrets =
        new SigningSecrets(ports.secrets(), SignedSender.SECRETS, ports.random());
    SwitchOff switchOff = new SwitchOff(new MemberMails(database, ports.mail()), ports.baseUrl());
    courier =
        new Courier(
            vertx,
            database,
            Courier.TERMS,
            new SignedSender(secrets, client, ports.clock()),
            switchOff,
            new Retries(config.retryMillis()),
            ports.clock(),
            ports.nanoTime(),
            ports.random());
    service =
        new WebhookService(
            store,
            new TrailStore(database),
            secrets,
            client,
            courier,
            ports.clock(),
            ports.random());
    upkeep = new WebhookUpkeep(store, secrets, switchOff);
    unsubscribe = clusters.onPublished(courier::published);
  }

  /** Begins to deliver. */
  public static Webhooks start(
      Vertx vertx, WebhookConfig config, Database database, Clusters clusters, Ports ports) {
    Webhooks webhooks = new Webhooks(vertx, config, database, clusters, ports);
    webhooks.courier.start();
    return webhooks;
  }

  public void bind(Operations operations) {
    new WebhookRoutes(service).bind(operations);
  }

  /** Makes an end of what is past its time; one step, which tells whether there may be more. */
  public Future<Boolean> step(long nowMillis) {
    return upkeep.step(nowMillis);
  }

  /** Shows what this process delivers. */
  public void show(Signals signals) {
    signals.gauge(
        "bourse_webhook_queues",
        "Queues of webhooks in which something waits, while this process delivers.",
        courier::queues);
    signals.counter(
        "bourse_webhook_deliveries_total",
        "Events that this process has delivered to webhooks.",
        courier::delivered);
    signals.counter(
        "bourse_webhook_failures_total",
        "Attempts of this process to deliver to webhooks that failed.",
        courier::failed);
  }

  /** Ends when the attempts under way have; what waits is delivered by whoever comes next. */
  public Future<Void> stop() {
    unsubscribe.run();
    return courier.stop().eventually(client::close);
  }
}
