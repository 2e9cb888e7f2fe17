package dev.bourse.capacity;

import dev.bourse.pools.Pool;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An operator's exceptions from the pool's terms for one cluster.
 *
 * @param capCents the highest ceiling that its writes may have, in cents per GPU-hour, if lower
 *     than the pool's cap; null for the pool's cap
 * @param env environment variables of its own by name; an empty value removes the pool's variable
 */
public record Overrides(@Nullable Long capCents, Map<String, Optional<String>> env) {
  /** No exceptions. */
  public static final Overrides NONE = new Overrides(null, Map.of());

  public Overrides {
    env = Collections.unmodifiableMap(new TreeMap<>(env));
  }

  /** Returns a copy with this cap, or with none. */
  Overrides withCap(@Nullable Long cents) {
    return new Overrides(cents, env);
  }

  /** Returns a copy with exactly these variables. */
  Overrides with(Map<String, Optional<String>> variables) {
    return new Overrides(capCents, variables);
  }

  /** Returns the terms in force for the cluster. */
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
