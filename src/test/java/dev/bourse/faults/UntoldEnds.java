package dev.bourse.faults;

import dev.bourse.store.Change;
import dev.bourse.store.Database;
import dev.bourse.store.ForwardingDatabase;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The database of a process that tells nobody that it is at an upload's end, as one does not that
 * freezes in the midst of a call to an object store, or an older one.
 */
public final class UntoldEnds extends ForwardingDatabase {
  private final BooleanSupplier isFrozen;

  public UntoldEnds(Database real) {
    this(real, () -> true);
  }

  /**
   * @param isFrozen asked each time the process would tell
   */
  public UntoldEnds(Database real, BooleanSupplier isFrozen) {
    super(real);
    this.isFrozen = isFrozen;
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    return isFrozen.getAsBoolean()
            && statements.stream().anyMatch(one -> one.sql().contains("SET finishing_until"))
        ? Future.failedFuture(new StoreUnavailableException("the process is frozen", null))
        : super.commit(statements, changes);
  }

  /** The process goes; the rows stay. */
  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }
}
