package dev.bourse.store;

import dev.bourse.signals.Signals;
import io.vertx.core.Future;
import java.util.List;

/** A store that forwards every call to another one; subclasses add behaviour. */
public abstract class ForwardingDatabase implements Database {
  private final Database store;

  protected ForwardingDatabase(Database store) {
    this.store = store;
  }

  @Override
  public <T> Future<List<T>> read(String sql, List<?> parameters, RowMapper<T> mapper) {
    return store.read(sql, parameters, mapper);
  }

  @Override
  public Future<Void> commit(List<Statement> statements, List<Change> changes) {
    return store.commit(statements, changes);
  }

  @Override
  public void listen(ChangeListener listener) {
    store.listen(listener);
  }

  @Override
  public Future<Long> settledTrail(long enough) {
    return store.settledTrail(enough);
  }

  @Override
  public String newTrailIdsSql() {
    return store.newTrailIdsSql();
  }

  @Override
  public Future<Boolean> prune() {
    return store.prune();
  }

  @Override
  public boolean isShared() {
    return store.isShared();
  }

  @Override
  public Future<String> lineage() {
    return store.lineage();
  }

  @Override
  public long setBacks() {
    return store.setBacks();
  }

  @Override
  public String clockSql() {
    return store.clockSql();
  }

  @Override
  public void registerMetrics(Signals signals) {
    store.registerMetrics(signals);
  }

  @Override
  public Future<Void> close() {
    return store.close();
  }
}
