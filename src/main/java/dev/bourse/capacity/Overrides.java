package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What an operator set for one cluster beside its pool's terms.
 *
 * @param capCents the highest ceiling accepted on its writes, in cents per GPU-hour, where that is
 *     lower than the pool's; null for the pool's
 * @param env environment variables of its own by name; an empty value takes the pool's away
 */
public record Overrides(@Nullable Long capCents, Map<String, Optional<String>> env) {
  /** The pool's terms as they are. */
  public static final Overrides NONE = new Overrides(null, Map.of());

  public Overrides {
    env = Collections.unmodifiableMap(new TreeMap<>(env));
  }

  /** The same with this cap, or with none. */
  Overrides capped(@Nullable Long cents) {
    return new Overrides(cents, env);
  }

  /** The same with these variables; the empty map for none. */
  Overrides with(Map<String, Optional<String>> variables) {
    return new Overrides(capCents, variables);
  }

  /** The terms in force for the cluster. */
  Pool over(Pool pool) {
    if (equals(NONE)) {
      return pool;
    }
    Map<String, String> merged = new TreeMap<>(pool.environment().env());
    env.forEach(
        (name, value) ->
            value.ifPresentOrElse(v -> merged.put(name, v), () -> merged.remove(name)));
    Pool.Environment environment = pool.environment();
    return pool.with(
        own ->
            own.bounds(
                    pool.reserveCents(),
                    capCents == null ? pool.capCents() : Math.min(capCents, pool.capCents()))
                .environment(
                    new Pool.Environment(
                        environment.sshUser(),
                        environment.sshPort(),
                        Collections.unmodifiableMap(merged),
                        environment.storage())));
  }
}
