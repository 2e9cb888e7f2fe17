package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * What is in force at this moment for all clusters of one pool. Their snapshots share it, so that
 * new terms, prices and switches are shown at once, however many clusters there are.
 */
interface PoolInForce {
  /** The pool's terms. */
  Pool pool();

  /** What its market last published; null before its first tick. */
  @Nullable Quote quote();

  /** The platform's switches. */
  Switches switches();

  /** Tells how long a notice has still to run. */
  Clock clock();

  /** The terms and switches of now, whatever becomes of them; prices go on moving. */
  default PoolInForce fixed() {
    return new Fixed(pool(), switches(), this);
  }

  /** Terms and switches as they once were. */
  record Fixed(Pool pool, Switches switches, PoolInForce now) implements PoolInForce {
    @Override
    public @Nullable Quote quote() {
      return now.quote();
    }

    @Override
    public Clock clock() {
      return now.clock();
    }
  }
}
