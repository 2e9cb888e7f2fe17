package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import dev.bourse.pools.Quote;
import dev.bourse.pools.Switches;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * The terms, prices and switches in force for all clusters of one pool. Their snapshots share this
 * object, so that a change shows at once in all of them.
 */
interface PoolInForce {
  /** Returns the pool's terms. */
  Pool pool();

  /** Returns the last quote of its market; null before its first tick. */
  @Nullable Quote quote();

  /** Returns the platform's switches. */
  Switches switches();

  /** Returns the clock for the time left until a billing hold is enforced. */
  Clock clock();

  /** Returns a copy that keeps the current terms and switches; prices still change. */
  default PoolInForce fixed() {
    return new Fixed(pool(), switches(), this);
  }

  /** The terms and switches of one moment. */
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
