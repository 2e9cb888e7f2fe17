package dev.bourse.checkpoint;

import dev.bourse.blob.BlobStore;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A process that makes a number of calls to the store and the blobs and then stops: it dies before
 * the next call, or after it, when the call was executed but its answer was lost.
 */
final class DyingProcess {
  private final AtomicInteger left;
  private final boolean carriesOutTheLast;
  private final CheckpointFixture.Services services;
  private volatile boolean isDead;

  DyingProcess(CheckpointFixture test, Database database, int calls, boolean carriesOutTheLast) {
    this.left = new AtomicInteger(calls);
    this.carriesOutTheLast = carriesOutTheLast;
    services =
        test.new Services(dying(Database.class, database), dying(BlobStore.class, test.blobs));
  }

  CheckpointFixture.Services services() {
    return services;
  }

  boolean isDead() {
    return isDead;
  }

  private <T> T dying(Class<T> port, T real) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              Supplier<Object> call =
                  () -> {
                    try {
                      return method.invoke(real, arguments);
                    } catch (IllegalAccessException | InvocationTargetException e) {
                      throw new LinkageError(e.getMessage(), e);
                    }
                  };
              return method.getReturnType() == Future.class ? call(call) : call.get();
            }));
  }

  /** Returns the call's future, or one that never completes. */
  private Object call(Supplier<Object> call) {
    int rest = left.getAndDecrement();
    if (rest > 0) {
      return call.get();
    }
    Promise<Object> never = Promise.promise();
    if (rest == 0 && carriesOutTheLast) {
      ((Future<?>) call.get()).onComplete(done -> isDead = true);
    } else {
      isDead = true;
    }
    return never.future();
  }
}
