package dev.bourse.edge;

/** Whether the service takes requests now: false until it has started and once it stops. */
public final class Readiness {
  private volatile boolean ready;

  /** Tells load balancers to send requests, or to send no more. */
  public void set(boolean nowReady) {
    ready = nowReady;
  }

  public boolean isReady() {
    return ready;
  }
}
