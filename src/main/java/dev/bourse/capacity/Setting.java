package dev.bourse.capacity;

import io.vertx.core.json.JsonObject;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a write says of something that stands: nothing, that it ends, or what it is from now on. In
 * JSON: the field is absent, null, or has a value.
 *
 * @param <T> its value
 */
public sealed interface Setting<T> {

  /** What stands stays. */
  record Kept<T>() implements Setting<T> {}

  /** Nothing stands any more. */
  record Cleared<T>() implements Setting<T> {}

  /** This stands from now on. */
  record To<T>(T value) implements Setting<T> {}

  static <T> Setting<T> kept() {
    return new Kept<>();
  }

  /**
   * The setting a body has in this field.
   *
   * @param parse its value, from a value that is not null
   */
  static <T> Setting<T> in(JsonObject body, String field, Function<Object, T> parse) {
    Object value = body.getValue(field);
    return value != null
        ? new To<>(parse.apply(value))
        : body.containsKey(field) ? new Cleared<>() : new Kept<>();
  }

  /** What stands after it, given what stood. */
  default @Nullable T over(@Nullable T standing) {
    return this instanceof To<T> to ? to.value() : this instanceof Kept<T> ? standing : null;
  }
}
