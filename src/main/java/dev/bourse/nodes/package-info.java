/**
 * The machines behind the market: the {@link dev.bourse.nodes.NodeProvider} port and its providers.
 *
 * <p>A provider knows machines, keys and commands; it knows nothing of clusters, prices or slots.
 * All its operations can be repeated: whoever drives it calls again after a crash and the machine
 * ends in the same state.
 */
@NullMarked
package dev.bourse.nodes;

import org.jspecify.annotations.NullMarked;
