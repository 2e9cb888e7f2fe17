package dev.bourse.market;

/**
 * A node was retired, replaced, granted or given back since it was read, so that nothing of the
 * commit was written.
 */
final class NodeMoved extends RuntimeException {
  private static final long serialVersionUID = 1;

  NodeMoved() {
    super("the node has changed since it was read", null, false, false);
  }
}
