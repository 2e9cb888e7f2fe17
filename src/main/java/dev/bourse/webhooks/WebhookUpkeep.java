package dev.bourse.webhooks;

import dev.bourse.delivery.SigningSecrets;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
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
  private final SigningSecrets secrets;
  private final EndpointSwitchOff switchOff;
  private final long mostWaiting;

  WebhookUpkeep(WebhookStore store, SigningSecrets secrets, EndpointSwitchOff switchOff) {
    this(store, secrets, switchOff, MAX_WAITING);
  }

  WebhookUpkeep(
      WebhookStore store, SigningSecrets secrets, EndpointSwitchOff switchOff, long mostWaiting) {
    this.store = store;
    this.secrets = secrets;
    this.switchOff = switchOff;
    this.mostWaiting = mostWaiting;
  }

  /** Runs one step; returns whether there may be more work. */
  Future<Boolean> step(long now) {
    return store
        .prune(now - KEPT_MILLIS, STEP)
        .compose(
            more -> store.listRotated(now, STEP).compose(this::forgetSecrets).map(done -> more))
        .compose(more -> store.listRetired(STEP).compose(this::end).map(done -> more))
        .compose(
            more ->
                store
                    .listOverfull(mostWaiting, STEP)
                    .compose(found -> switchOff(found, now))
                    .map(done -> more));
  }

  private Future<Void> forgetSecrets(List<WebhookEndpoint> rotated) {
    List<Statement> statements = new ArrayList<>();
    for (WebhookEndpoint endpoint : rotated) {
      statements.add(WebhookStore.forgetOldSecret(endpoint));
      // Only this endpoint uses the secret; a concurrent rotation deletes the same one.
      statements.add(secrets.deleting(endpoint.endpointId(), endpoint.secretVersion() - 1));
    }
    return statements.isEmpty() ? Future.succeededFuture() : store.commit(statements);
  }

  private Future<Void> end(List<WebhookEndpoint> retired) {
    List<Statement> statements = new ArrayList<>();
    for (WebhookEndpoint endpoint : retired) {
      statements.addAll(WebhookStore.deletion(endpoint));
      statements.add(secrets.deleting(endpoint.endpointId(), endpoint.secretVersion()));
      statements.add(secrets.deleting(endpoint.endpointId(), endpoint.secretVersion() - 1));
    }
    return statements.isEmpty() ? Future.succeededFuture() : store.commit(statements);
  }

  private Future<Void> switchOff(List<WebhookEndpoint> overfull, long now) {
    return BoundedWork.inTurn(
        overfull,
        endpoint ->
            switchOff
                .store(endpoint, WebhookEndpoint.Reason.BACKLOG, List.of(), now)
                .recover(
                    e ->
                        e instanceof OutboxStore.CursorConflictException
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }
}
