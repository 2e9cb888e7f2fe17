/**
 * Who gets which node, and at what price.
 *
 * <p>{@link dev.bourse.market.Tick} makes the input of the auction ({@link
 * dev.bourse.auction.Auction}) from what clusters and nodes are, and turns its result into orders
 * for each cluster that changes. {@link dev.bourse.market.MarketVerticle} keeps the pool's lease
 * and runs one tick at a time while it holds it: {@link dev.bourse.market.TickRunner} computes what
 * the market comes to, for previews and without the lease too; {@link dev.bourse.market.Settlement}
 * carries it out; and {@link dev.bourse.market.Fleet} has the machines follow. Whatever allocation
 * is provisioning or reclaiming without work running for it gets some ({@link
 * dev.bourse.market.AllocationWork}, run by a {@link dev.bourse.market.WorkPool}), so that a
 * restart needs no path of its own. {@link dev.bourse.market.Reassignment} makes calls to machines
 * harmless however late they come. No tick waits for a machine: {@link
 * dev.bourse.market.HoldingsScan} asks the machines what they hold meanwhile, and a cluster that
 * has a machine by the rows keeps it.
 *
 * <p>A tick reads all bids at one moment, its gate. Each {@link
 * dev.bourse.capacity.Allotment.Orders order} carries the ceiling that the tick read into the
 * cluster, and bills use it ({@link dev.bourse.billing.PricesInForce}), so a later write changes
 * neither the decision nor the bill. Orders go ahead of clients' writes. An organization that gives
 * up a seat or a new node ranks last for ten minutes ({@link dev.bourse.capacity.Standing}), so
 * that it cannot block nodes at no cost.
 *
 * <p>The keys of a gang's nodes are written when its minimum is ready, and its nodes become active
 * when all have their keys. Rejected: keys at the grant, because waiting nodes are not billed and
 * could be used; and keys after activation, because ssh would refuse the holder of an active node.
 *
 * <p>The auction says who has no seat; {@link dev.bourse.market.Notices} says what becomes of the
 * node. Who loses one to a rival is told first and bids on as an incumbent, so that the auction,
 * and with it every price, knows nothing of notices. A notice that is withdrawn still counts for an
 * hour after its end, for its node and for another node of the organization that loses its seat to
 * a bid that is older than the notice. Rejected: notice in the auction as a kind of protection, for
 * a protected node is no seat that rivals compete for, and the price would fall; and a notice that
 * passes to another organization's node, because that holder would lose it without having been
 * told.
 *
 * <p>{@link dev.bourse.market.NodeService} is what operators do to machines. Its rows ({@link
 * dev.bourse.market.NodeStore}) are the truth; the process that holds the lease keeps them in an
 * {@link dev.bourse.market.Inventory} and reads them again, before the next tick, when it hears
 * that an operator changed some. Reading all of them at each tick would cost as much for nothing.
 *
 * <p>{@link dev.bourse.market.QuoteService} tries out a bid that nobody has made, by the preview of
 * a cluster there is not.
 *
 * <p>Before each tick {@link dev.bourse.market.Lapses} has declarations end whose time has come, or
 * whose {@link dev.bourse.market.Budgets budget} does not pay for the time until the next tick.
 * Bills stop at the end by themselves, so that a market that did not run costs nobody anything.
 *
 * <p>A machine that cannot be prepared is left alone three times, for longer each time, and
 * quarantined at the failure after those: a fault of a few minutes mends itself without an
 * operator.
 *
 * <p>Rejected: granting in the write that declares (the first to come would beat the best bid), and
 * a table of node occupancy (the clusters' allocations already say it; two tables could disagree).
 */
@NullMarked
package dev.bourse.market;

import org.jspecify.annotations.NullMarked;
