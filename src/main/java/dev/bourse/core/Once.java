package dev.bourse.core;

import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value that is made when it is first asked for, and only then: what a start does not need does
 * not delay it. Any thread may ask; others wait while one makes it.
 */
public final class Once<T> implements Supplier<T> {
  private final Supplier<T> maker;
  private volatile @Nullable T made;

  public Once(Supplier<T> maker) {
    this.maker = maker;
  }

  @Override
  public T get() {
    T known = made;
    return known == null ? make() : known;
  }

  /** The value if anybody asked for it. */
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
