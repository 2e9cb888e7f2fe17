package dev.bourse.webhooks;

import dev.bourse.delivery.SigningSecrets;
import dev.bourse.store.BoundedWork;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Makes an end of what is past its time, in small steps. */
final class WebhookUpkeep {
  private static final long KEPT_MILLIS = Duration.ofDays(7).toMillis();
  private static final int STEP = 200;

  /**
   * What may wait for one endpoint. It is what a hundred busy clusters bring about in three days;
   * at 1 KB each it is 20 MB.
   */
  private static final long MAX_WAITING = 20_000;

  private final WebhookStore store;
  private final SigningSecrets secrets;
  private final SwitchOff switchOff;
  private final long mostWaiting;

  WebhookUpkeep(WebhookStore store, SigningSecrets secrets, SwitchOff switchOff) {
    this(store, secrets, switchOff, MAX_WAITING);
  }

  WebhookUpkeep(WebhookStore store, SigningSecrets secrets, SwitchOff switchOff, long mostWaiting) {
    this.store = store;
    this.secrets = secrets;
    this.switchOff = switchOff;
    this.mostWaiting = mostWaiting;
  }

  /** One small piece of it; whether there may be more. */
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
      // Nothing else names it: a rotation meanwhile deletes the same.
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
                        e instanceof OutboxStore.Moved
                            ? Future.succeededFuture()
                            : Future.failedFuture(e)));
  }
}
