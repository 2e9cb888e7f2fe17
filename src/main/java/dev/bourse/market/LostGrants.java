package dev.bourse.market;

import java.util.ArrayList;
import java.util.List;

/**
 * The allocations whose grants the store may have lost in a fail-over while a machine was marked
 * for them, so that the machine was left unchanged. They are stored with the node, so that an
 * operator's retry counts in each process that runs the market. One retry covers all grants found
 * until then, because the operator decides about the machine.
 *
 * @param allocationIds the allocations in the order in which they were found, the last {@value
 *     #MAX} of them: a tenant with root rights can make a machine name any number
 * @param retry how often operators had retried the node's work when the last grant was found
 */
record LostGrants(List<String> allocationIds, long retry) {
  private static final int MAX = 8;

  /** Ids contain no space. */
  private static final String SEPARATOR = " ";

  LostGrants {
    allocationIds = List.copyOf(allocationIds);
    if (allocationIds.isEmpty()) {
      throw new IllegalArgumentException("no lost grant");
    }
  }

  /** Reads the text of {@link #stored}, or the single id that an earlier release wrote. */
  static LostGrants parse(String stored, long retry) {
    return new LostGrants(List.of(stored.split(SEPARATOR)), retry);
  }

  String stored() {
    return String.join(SEPARATOR, allocationIds);
  }

  boolean contains(String allocationId) {
    return allocationIds.contains(allocationId);
  }

  /** Returns the allocation that was found last. */
  String latest() {
    return allocationIds.get(allocationIds.size() - 1);
  }

  /** Adds an allocation that was found after this many retries. */
  LostGrants with(String allocationId, long retries) {
    List<String> all = new ArrayList<>(allocationIds);
    all.add(allocationId);
    return new LostGrants(all.subList(Math.max(0, all.size() - MAX), all.size()), retries);
  }
}
