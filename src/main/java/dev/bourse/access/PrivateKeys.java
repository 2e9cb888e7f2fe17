package dev.bourse.access;

import dev.bourse.store.Statement;
import io.vertx.core.Future;
import java.util.List;

/** Storage of the private keys that this process signs with. */
interface PrivateKeys {
  /**
   * A stored key.
   *
   * @param writtenAtMillis when it was stored, as far as this storage knows
   */
  record Kept(SigningKey key, long writtenAtMillis) {}

  /** Returns all stored keys, in any order. */
  Future<List<Kept>> read();

  /**
   * Stores a key.
   *
   * @return statements for the commit that publishes the key
   */
  Future<List<Statement>> keep(SigningKey key);

  /** Returns statements for the commit that retires a key. */
  List<Statement> deletions(SigningKey key);

  /** Deletes a retired key. */
  Future<Void> forget(SigningKey key);

  /** Returns whether other processes sign with the same keys, and make and retire them too. */
  boolean isShared();
}
