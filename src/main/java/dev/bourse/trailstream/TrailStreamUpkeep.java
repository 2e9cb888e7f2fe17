package dev.bourse.trailstream;

import dev.bourse.delivery.SigningSecrets;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/** Deletes expired rows, in small steps. */
record TrailStreamUpkeep(TrailStreamStore store, SigningSecrets secrets) {
  private static final int STEP = 200;

  /** Runs one step; returns whether there may be more work. */
  Future<Boolean> step(long now) {
    return store
        .listRotated(now, STEP)
        .compose(rotated -> store.commit(oldSecretsOf(rotated)).map(done -> rotated.size() == STEP))
        .compose(
            more ->
                store
                    .listRetired(STEP)
                    .compose(
                        retired ->
                            store
                                .commit(ending(retired))
                                .map(done -> more || retired.size() == STEP)));
  }

  private List<Statement> oldSecretsOf(List<TrailStream> rotated) {
    List<Statement> statements = new ArrayList<>();
    for (TrailStream stream : rotated) {
      statements.add(TrailStreamStore.forgetOldSecret(stream, stream.oldSecretUntilMillis()));
      // Only this stream uses the secret; a concurrent rotation deletes the same one.
      statements.add(secrets.deleting(stream.streamId(), stream.secretVersion() - 1));
    }
    return statements;
  }

  private List<Statement> ending(List<TrailStream> retired) {
    List<Statement> statements = new ArrayList<>();
    for (TrailStream stream : retired) {
      statements.add(TrailStreamStore.deletion(stream));
      statements.add(secrets.deleting(stream.streamId(), stream.secretVersion()));
      statements.add(secrets.deleting(stream.streamId(), stream.secretVersion() - 1));
    }
    return statements;
  }
}
