package dev.bourse.access;

/**
 * The agent of a held node. It may report on its own node and wait for the node's notices.
 *
 * @param allocationId the allocation that its credential is for
 * @param orgId the organization that holds the node
 */
public record NodeAgent(String allocationId, String orgId) implements Caller {
  /** The name of its security scheme in contracts. */
  public static final String SCHEME = "nodeToken";

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public String actor() {
    return "node:" + allocationId;
  }

  @Override
  public String budgetKey() {
    return allocationId;
  }

  @Override
  public String owner() {
    return orgId;
  }

  @Override
  public boolean may(Scope scope) {
    return false;
  }
}
