package dev.bourse.market;

/** The id or the address of a new node is another node's, so that nothing was written. */
final class NodeTaken extends RuntimeException {
  private static final long serialVersionUID = 1;

  NodeTaken() {
    super("the node's id or its address is taken", null, false, false);
  }
}
