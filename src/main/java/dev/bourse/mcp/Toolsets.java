package dev.bourse.mcp;

import dev.bourse.core.ApiException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of tools that a client asked for in the endpoint's address, {@code
 * /mcp?toolsets=capacity,market}: fewer tools leave a model more room and fewer wrong choices.
 *
 * @param selected their names; empty for all
 */
record Toolsets(Set<String> selected) {
  /** The parameter of the endpoint's address. */
  static final String PARAMETER = "toolsets";

  /**
   * Reads the parameter's value: names with commas between.
   *
   * @param known all groups of the contract, so that a service without the tools of one takes it,
   *     too
   * @throws ApiException {@code bad-request} naming a group that does not exist
   */
  static Toolsets of(Optional<String> value, Collection<String> known) {
    Set<String> selected = new TreeSet<>();
    value.ifPresent(
        names -> Arrays.stream(names.split(",", -1)).map(String::strip).forEach(selected::add));
    for (String name : selected) {
      if (!known.contains(name)) {
        throw ApiException.badField(
            PARAMETER, name, "names of " + String.join(", ", new TreeSet<>(known)));
      }
    }
    return new Toolsets(selected);
  }

  /** Whether a tool of a group is offered; one of no group always is. */
  boolean has(Optional<String> toolset) {
    return selected.isEmpty() || toolset.isEmpty() || selected.contains(toolset.get());
  }
}
