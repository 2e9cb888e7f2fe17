package dev.bourse.webhooks;

import dev.bourse.access.Offboarding;
import dev.bourse.audit.TrailStore;
import dev.bourse.capacity.Clusters;
import dev.bourse.delivery.DeliveryBackoff;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.edge.Operations;
import dev.bourse.events.ActivityStore;
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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Assembles the webhooks of all organizations. */
public final class Webhooks {
  private final DeliveryClient client;
  private final WebhookDispatcher dispatcher;
  private final WebhookService service;
  private final WebhookUpkeep upkeep;
  private final Runnable unsubscribe;

  /**
   * Dependencies beside the store.
   *
   * @param secrets keeps endpoints' secrets
   * @param mail notifies members of endpoints that were switched off
   * @param baseUrl where members find the console
   * @param nanoTime the monotonic clock
   * @param random a cryptographic source in production
   * @param jobs run the polls for deliveries
   * @param traces records attempts
   */
  public record Ports(
      SharedSecrets secrets,
      MailSender mail,
      Supplier<String> baseUrl,
      Clock clock,
      LongSupplier nanoTime,
      RandomGenerator random,
      BackgroundJobs jobs,
      Traces traces) {}

  private Webhooks(
      Vertx vertx, WebhookConfig config, Database database, Clusters clusters, Ports ports) {
    client = SignedSender.client(vertx, config, ports.traces());
    SigningSecrets secrets =
        new SigningSecrets(ports.secrets(), SignedSender.SECRETS, ports.random());
    EndpointSwitchOff switchOff =
        new EndpointSwitchOff(new MemberMails(database, ports.mail()), ports.baseUrl());
    SignedSender sender =
        new SignedSender(secrets, client, EventLink.of(ports.baseUrl(), clusters), ports.clock());
    dispatcher =
        new WebhookDispatcher(
            vertx,
            database,
            WebhookDispatcher.TERMS,
            sender,
            switchOff,
            new DeliveryBackoff(config.retryMillis()),
            ports.clock(),
            ports.nanoTime(),
            ports.random());
    service =
        new WebhookService(
            new WebhookStore(database),
            new ActivityStore(database),
            new TrailStore(database),
            secrets,
            sender,
            dispatcher.engine(),
            ports.clock(),
            ports.random());
    upkeep = new WebhookUpkeep(database, secrets, switchOff);
    unsubscribe = clusters.onPublished(dispatcher::published);
  }

  /** Starts the deliveries. */
  public static Webhooks start(
      Vertx vertx, WebhookConfig config, Database database, Clusters clusters, Ports ports) {
    Webhooks webhooks = new Webhooks(vertx, config, database, clusters, ports);
    webhooks.dispatcher.start(ports.jobs());
    return webhooks;
  }

  /** Disables the endpoints of members who leave. */
  public static Offboarding offboarding(Database database) {
    return WebhookStore.TABLE.offboarding(database, WebhookStore::giveUpAll);
  }

  public void bind(Operations operations) {
    new WebhookRoutes(service).bind(operations);
  }

  /** Deletes expired rows; one step, which returns whether there may be more. */
  public Future<Boolean> step(long nowMillis) {
    return upkeep.step(nowMillis);
  }

  /** Registers the metrics of this process's deliveries. */
  public void registerMetrics(Signals signals) {
    signals.gauge(
        "bourse_webhook_queues",
        "Non-empty queues of webhooks, while this process delivers them.",
        dispatcher.engine()::queues);
    signals.counter(
        "bourse_webhook_deliveries_total",
        "Events that this process delivered to webhooks.",
        dispatcher.engine()::delivered);
    signals.counter(
        "bourse_webhook_failures_total",
        "Failed attempts of this process to deliver to webhooks.",
        dispatcher.engine()::failed);
  }

  /**
   * Stops, and completes when the attempts in progress have ended; another process delivers the
   * rest.
   */
  public Future<Void> stop() {
    unsubscribe.run();
    return dispatcher.engine().stop().eventually(client::close).mapEmpty();
  }
}
