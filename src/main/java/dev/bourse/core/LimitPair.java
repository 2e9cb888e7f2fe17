package dev.bourse.core;

/**
 * Two bulkheads that one work passes: one bounds what each caller has, the other what all have
 * together and each organization of it. An organization has many callers, so a bound on each caller
 * alone bounds nothing.
 *
 * @param ofCallers bounds what one caller has
 * @param ofAll bounds what all callers have, with a share of each organization
 */
public record LimitPair(Limit ofCallers, Limit ofAll) {
  /** The two places of one work, to be given back when it is done. */
  public record Places(Limit.Place ofCaller, Limit.Place ofOwner) implements AutoCloseable {
    /** Gives both back, once. */
    @Override
    public void close() {
      ofCaller.close();
      ofOwner.close();
    }
  }

  /**
   * Places for work that begins now.
   *
   * @param caller whose work it is
   * @param owner the caller's organization
   * @throws RuntimeException the refusal of the first limit that has no place; nothing is taken
   */
  public Places enter(String caller, String owner) {
    Limit.Place ofCaller = ofCallers.enter(caller);
    try {
      return new Places(ofCaller, ofAll.enter(owner));
    } catch (RuntimeException refused) {
      ofCaller.close();
      throw refused;
    }
  }

  /** How much runs now. */
  public int running() {
    return ofAll.running();
  }
}
