package dev.bourse.delivery;

import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Deletes expired secrets, and the receivers of retired organizations, in small steps.
 *
 * @param deletion deletes a receiver, without its secrets
 */
public record ReceiverUpkeep(
    Database database,
    ReceiverTable table,
    SigningSecrets secrets,
    Function<ReceiverTable.Owner, List<Statement>> deletion) {
  private static final int STEP = 200;

  /** Runs one step; returns whether there may be more work. */
  public Future<Boolean> step(long nowMillis) {
    return table
        .listRotated(database, nowMillis, STEP)
        .compose(
            rotated ->
                commit(rotated, owner -> oldSecret(owner, nowMillis))
                    .compose(done -> table.listRetired(database, STEP))
                    .compose(
                        retired ->
                            commit(retired, this::ending)
                                .map(rotated.size() == STEP || retired.size() == STEP)));
  }

  private List<Statement> oldSecret(ReceiverTable.Owner owner, long nowMillis) {
    return List.of(
        table.forgetOldSecret(owner, nowMillis),
        // Only this receiver uses the secret; a concurrent rotation deletes the same one.
        secrets.deleting(owner.id(), owner.secretVersion() - 1));
  }

  private List<Statement> ending(ReceiverTable.Owner owner) {
    List<Statement> statements = new ArrayList<>(deletion.apply(owner));
    statements.addAll(secrets.deletingAll(owner.id(), owner.secretVersion()));
    return statements;
  }

  private Future<Void> commit(
      List<ReceiverTable.Owner> owners, Function<ReceiverTable.Owner, List<Statement>> change) {
    List<Statement> statements =
        owners.stream().flatMap(owner -> change.apply(owner).stream()).toList();
    return statements.isEmpty() ? Future.succeededFuture() : database.commit(statements);
  }
}
