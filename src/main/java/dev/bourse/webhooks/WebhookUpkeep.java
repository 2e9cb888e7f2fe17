package dev.bourse.webhooks;

import dev.bourse.delivery.ReceiverChangedException;
import dev.bourse.delivery.ReceiverUpkeep;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.delivery.SwitchOffReason;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;

/** Deletes expired rows, in small steps. */
final class WebhookUpkeep {
  private static final long KEPT_MILLIS = Duration.ofDays(7).toMillis();
  private static final int STEP = 200;

  /**
   * The most pending deliveries of one endpoint: a hundred busy clusters produce as many in three
   * days. At 1 KB each they take 20 MB.
   */
  private static final long MAX_WAITING = 20_000;

  private final WebhookStore store;
  private final ReceiverUpkeep endpoints;
  private final EndpointSwitchOff switchOff;
  private final long mostWaiting;

  WebhookUpkeep(Database database, SigningSecrets secrets, EndpointSwitchOff switchOff) {
    this(database, secrets, switchOff, MAX_WAITING);
  }

  WebhookUpkeep(
      Database database, SigningSecrets secrets, EndpointSwitchOff switchOff, long mostWaiting) {
    this.store = new WebhookStore(database);
    this.endpoints =
        new ReceiverUpkeep(
            database,
            WebhookStore.TABLE,
            secrets,
            retired -> WebhookStore.deletion(retired.orgId(), retired.id()));
    this.switchOff = switchOff;
    this.mostWaiting = mostWaiting;
  }

  /** Runs one step; returns whether there may be more work. */
  Future<Boolean> step(long now) {
    return store
        .prune(now - KEPT_MILLIS, STEP)
        .compose(more -> endpoints.step(now).map(also -> more || also))
        .compose(
            more ->
                store
                    .listOverfull(mostWaiting, STEP)
                    .compose(found -> switchOff(found, now))
                    .map(done -> more));
  }

  private Future<Void> switchOff(List<WebhookEndpoint> overfull, long now) {
    return BoundedWork.inTurn(
        overfull,
        endpoint ->
            switchOff
                .store(endpoint, SwitchOffReason.BACKLOG, List.of(), now)
                .recover(
                    e ->
                        e instanceof ReceiverChangedException
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }
}
