package dev.bourse.app;

import dev.bourse.access.Members;
import dev.bourse.access.Operators;
import dev.bourse.access.Revocations;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.capacity.CapacityStore;
import dev.bourse.capacity.ClusterOwners;
import dev.bourse.capacity.PoolStore;
import dev.bourse.capacity.SshKeyService;
import dev.bourse.capacity.SshKeyStore;
import dev.bourse.capacity.SwitchService;
import dev.bourse.market.MarketService;
import dev.bourse.market.MarketStore;
import dev.bourse.store.Change;
import dev.bourse.store.ChangeListener;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what this process holds in memory in step with what other processes store. What is heard
 * before the parts are there counts as missed, so that listening can begin before the first read.
 */
final class Replication implements ChangeListener {
  private static final Logger LOG = LoggerFactory.getLogger(Replication.class);

  /** What can be read anew. */
  record Parts(
      ClusterOwners owners,
      SshKeyService keys,
      Callers callers,
      MarketService market,
      Supplier<Future<Void>> terms) {}

  private @Nullable Parts parts;
  private boolean missedAny;
  private boolean rereading;

  /** The last reading of terms: a cluster can be shown only once its pool is known. */
  private Future<Void> termsRead = Future.succeededFuture();

  /** The parts are there; what was heard so far is caught up with. */
  synchronized void follow(Parts following) {
    parts = following;
    if (missedAny) {
      missed();
    }
  }

  @Override
  public synchronized void changed(Change change) {
    Parts known = parts;
    if (known == null) {
      missedAny = true;
      return;
    }
    Future<Void> read =
        switch (change.topic()) {
          case CapacityStore.CHANGED ->
              termsRead.otherwiseEmpty().compose(done -> known.owners().refresh(change.key()));
          case SshKeyStore.CHANGED -> known.keys().load();
          case Tokens.CHANGED ->
              change.key().isEmpty()
                  ? known.callers().tokens().load()
                  : known.callers().tokens().refresh(change.key());
          case SigningKeys.CHANGED -> known.callers().signingKeys().load();
          case Revocations.CHANGED -> known.callers().revocations().refresh(change.key());
          case Members.CHANGED -> known.callers().members().load();
          case Operators.CHANGED -> known.callers().operators().load();
          case SwitchService.CHANGED, PoolStore.CHANGED -> readTerms(known);
          case MarketStore.CHANGED -> {
            known.market().nodesChanged(change.key());
            yield Future.succeededFuture();
          }
          default -> Future.failedFuture("no such topic: " + change.topic());
        };
    read.onFailure(
        e -> {
          LOG.warn("change {} not followed: {}", change, e.toString());
          missed();
        });
  }

  private Future<Void> readTerms(Parts known) {
    termsRead = known.terms().get();
    return termsRead;
  }

  @Override
  public synchronized void missed() {
    missedAny = true;
    Parts known = parts;
    if (known == null || rereading) {
      return;
    }
    missedAny = false;
    rereading = true;
    known.market().nodesChanged();
    Future.all(
            List.of(
                readTerms(known).compose(read -> known.owners().refreshAll()),
                known.callers().tokens().load(),
                known.callers().operators().load(),
                known.callers().members().load(),
                known.callers().signingKeys().load(),
                known.callers().revocations().load(),
                known.keys().load()))
        .onComplete(done -> reread(done.succeeded(), done.cause()));
  }

  /** Once more when something was missed meanwhile; a failure waits for the next word. */
  private synchronized void reread(boolean succeeded, @Nullable Throwable cause) {
    rereading = false;
    if (!succeeded) {
      LOG.warn("the store could not be read anew: {}", String.valueOf(cause));
      missedAny = true;
    } else if (missedAny) {
      missed();
    }
  }
}
