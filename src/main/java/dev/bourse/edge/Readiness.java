package dev.bourse.edge;

import java.util.Optional;
import java.util.function.Supplier;

/** Whether the service takes requests now: false until it has started and once it stops. */
public final class Readiness {
  private volatile boolean ready;
  private volatile String served = "";
  private volatile Supplier<Optional<String>> fault = Optional::empty;

  /**
   * Tells what is served, for whoever asks whether it is: the version of the program and the like.
   */
  public void describe(String description) {
    served = description;
  }

  /** What is served; empty while nobody has said. */
  String served() {
    return served;
  }

  /** Tells load balancers to send requests, or to send no more. */
  public void set(boolean nowReady) {
    ready = nowReady;
  }

  /**
   * Has it depend on something that comes and goes.
   *
   * @param faults why requests had better go elsewhere; empty while they need not
   */
  public void dependOn(Supplier<Optional<String>> faults) {
    fault = faults;
  }

  /** Why requests had better go elsewhere; empty when they may come. */
  Optional<String> unready() {
    return ready ? fault.get() : Optional.of("it starts or stops");
  }

  public boolean isReady() {
    return unready().isEmpty();
  }
}
