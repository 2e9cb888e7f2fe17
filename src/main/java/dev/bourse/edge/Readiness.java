package dev.bourse.edge;

import java.util.Optional;
import java.util.function.Supplier;

/** Whether the service takes requests: false until it has started and after it begins to stop. */
public final class Readiness {
  private volatile boolean ready;
  private volatile String served = "";
  private volatile Supplier<Optional<String>> fault = Optional::empty;

  /** Sets the description of the service, for example its version, for readiness probes. */
  public void describe(String description) {
    served = description;
  }

  /** Returns the description; empty if none was set. */
  String served() {
    return served;
  }

  /** Reports to load balancers whether to send requests. */
  public void set(boolean nowReady) {
    ready = nowReady;
  }

  /**
   * Makes readiness depend on changing conditions.
   *
   * @param faults returns why requests should go elsewhere; empty if they may come
   */
  public void dependOn(Supplier<Optional<String>> faults) {
    fault = faults;
  }

  /** Returns why requests should go elsewhere; empty if they may come. */
  Optional<String> unready() {
    return ready ? fault.get() : Optional.of("the service is starting or stopping");
  }

  public boolean isReady() {
    return unready().isEmpty();
  }
}
