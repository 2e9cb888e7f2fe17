/**
 * Who gets which node, and at what price.
 *
 * <p>{@link dev.bourse.market.Auction} is the pure function at the heart: bids and supply in,
 * decisions out. {@link dev.bourse.market.Tick} makes its input of what clusters and nodes are, and
 * orders for each changed cluster of its output. {@link dev.bourse.market.MarketVerticle} keeps the
 * pool's lease and runs a tick at a time while it holds it: {@link dev.bourse.market.TickRunner}
 * says what the market comes to, which it does for previews and without the lease too, {@link
 * dev.bourse.market.Settlement} carries it out, and {@link dev.bourse.market.Fleet} has the
 * machines follow: whatever allocation is provisioning or reclaiming and not in work is taken into
 * work, so that a restart needs no path of its own. {@link dev.bourse.market.Reassignment} makes
 * its calls harmless however late they come. No tick waits for a machine: {@link
 * dev.bourse.market.HoldingsScan} asks them what they hold beside it, and whoever has one by the
 * rows keeps it meanwhile.
 *
 * <p>{@link dev.bourse.market.NodeService} is what operators do to machines. Its rows are the
 * truth; whoever holds the lease keeps them in an {@link dev.bourse.market.Inventory} and reads
 * them again, before the next tick, when word comes that an operator changed some. Reading all of
 * them at each tick would cost as much for nothing.
 *
 * <p>The clearing price needs no cap at the contested seats' ceilings: seats go by ceiling, so that
 * no losing bid is above a seat that withstood it. A machine that fails to prepare is left alone
 * three times, for longer each time, and quarantined at the failure after those: a fault of a few
 * minutes mends itself without an operator.
 *
 * <p>Rejected: granting in the write that declares (first come would beat best bid), and a table of
 * node occupancy (the clusters' allocations already say it; two tables could disagree).
 */
@NullMarked
package dev.bourse.market;

import org.jspecify.annotations.NullMarked;
