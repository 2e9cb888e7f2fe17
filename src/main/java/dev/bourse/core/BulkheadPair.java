package dev.bourse.core;

/**
 * Two bulkheads in front of the same work: one bounds each caller, the other all callers together
 * and each organization. An organization has many callers, so a bound on each caller alone would
 * not bound the organization.
 *
 * @param ofCallers bounds each caller
 * @param ofAll bounds all callers together, with a share for each organization
 */
public record BulkheadPair(Bulkhead ofCallers, Bulkhead ofAll) {
  /** The two places of one piece of work; the holder closes them when it is done. */
  public record Places(Bulkhead.Place ofCaller, Bulkhead.Place ofOwner) implements AutoCloseable {
    /** Releases both places; calls after the first have no effect. */
    @Override
    public void close() {
      ofCaller.close();
      ofOwner.close();
    }
  }

  /**
   * Takes places for work that starts now.
   *
   * @param caller the caller that starts the work
   * @param owner the caller's organization
   * @throws RuntimeException the refusal of the first limit without a free place; nothing is taken
   */
  public Places enter(String caller, String owner) {
    Bulkhead.Place ofCaller = ofCallers.enter(caller);
    try {
      return new Places(ofCaller, ofAll.enter(owner));
    } catch (RuntimeException refused) {
      ofCaller.close();
      throw refused;
    }
  }

  /** The number of running items. */
  public int running() {
    return ofAll.running();
  }
}
