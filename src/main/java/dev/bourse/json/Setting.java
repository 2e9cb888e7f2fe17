package dev.bourse.json;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The change of a standing value by a write: keep it, clear it, or set it. In JSON the field is
 * absent, null, or has a value.
 *
 * @param <T> the type of the value
 */
public sealed interface Setting<T> {

  /** The value stays. */
  record Kept<T>() implements Setting<T> {}

  /** The value is cleared. */
  record Cleared<T>() implements Setting<T> {}

  /** The value is set. */
  record To<T>(T value) implements Setting<T> {}

  static <T> Setting<T> kept() {
    return new Kept<>();
  }

  /** Returns the setting with another form of the value. */
  default <U> Setting<U> map(Function<? super T, ? extends U> form) {
    if (this instanceof To<T> to) {
      return new To<>(form.apply(to.value()));
    }
    return this instanceof Cleared<T> ? new Cleared<>() : new Kept<>();
  }

  /** Returns the value after the change of the standing one. */
  default @Nullable T over(@Nullable T standing) {
    return this instanceof To<T> to ? to.value() : this instanceof Kept<T> ? standing : null;
  }
}
