package dev.bourse.core;

import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value computed on first use, so that values a start does not need do not delay it. Thread-safe:
 * one thread computes it and the others wait.
 */
public final class Lazy<T> implements Supplier<T> {
  private final Supplier<T> maker;
  private volatile @Nullable T made;

  public Lazy(Supplier<T> maker) {
    this.maker = maker;
  }

  @Override
  public T get() {
    T known = made;
    return known == null ? make() : known;
  }

  /** The value, if it has been computed. */
  public Optional<T> find() {
    return Optional.ofNullable(made);
  }

  private synchronized T make() {
    T known = made;
    if (known == null) {
      known = maker.get();
      made = known;
    }
    return known;
  }
}
