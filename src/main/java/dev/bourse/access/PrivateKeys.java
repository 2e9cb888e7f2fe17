package dev.bourse.access;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/** Where the private halves of the keys that this process signs with are kept. */
interface PrivateKeys {
  /**
   * A key that is kept.
   *
   * @param writtenAtMillis when it was, as far as this place knows
   */
  record Kept(SigningKey key, long writtenAtMillis) {}

  /** All keys kept, in no order. */
  Future<List<Kept>> read();

  /**
   * Keeps a key.
   *
   * @return what the commit that publishes it has to store
   */
  Future<List<Statement>> keep(SigningKey key);

  /** What the commit that retires a key has to delete. */
  List<Statement> forgetting(SigningKey key);

  /** A key was retired. */
  Future<Void> forget(SigningKey key);

  /** Whether other processes sign with the same keys, and make and retire them too. */
  boolean isShared();
}
