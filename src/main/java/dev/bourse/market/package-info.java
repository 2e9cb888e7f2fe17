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
 * <p>A node granted within an hour after its organization gave back an active one has no price lock
 * ({@link dev.bourse.market.Leavers}). An organization that is granted a node while nodes are free
 * and gives back another afterwards keeps the lock. Rejected: ending the locks of newer nodes when
 * one is given back or lost by the organization's own bids, because a rival's bid could then end
 * the locks of an organization that waits for another seat, the other nodes of a grant lost theirs
 * when its minimum broke, the holder saw it on the bill first, and a ceiling lowered in a quiet
 * minute evaded it; the higher lock of the two nodes for the new one, because a lock that is about
 * to end could be renewed at the same price; and no lock for an organization that has nodes
 * already, because a rival could raise the price of each further node at no risk.
 *
 * <p>Known residues, all of them the price of certainty: a node under notice and a protected node
 * cost at most their ceiling, so a low ceiling that is granted a node while nodes are free gains
 * for that hour and that notice (rejected: protection or notice only for ceilings near the rival's,
 * because a rival could then take an honest low bidder's node at any moment); a rival's wait is one
 * notice for each organization that it outbids in turn, because a lower bid whose protection ends
 * meanwhile gets the notice instead; and a gang keeps free nodes until the notice of the others
 * that it needs is over, and again after each time that it gives up and ranks last for ten minutes.
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
 * <p>{@link dev.bourse.market.ProgramNotices} says what the programs on each machine should know by
 * now, from stored state and the time alone, and {@link dev.bourse.market.NoticeDelivery} has the
 * machines tell them, in the turns that {@link dev.bourse.market.NoticeTurns} gives to all pools.
 * What was delivered is known by the machines only. Rejected: rows of deliveries, because a row and
 * a machine can disagree and the machine is right.
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
 * <p>{@link dev.bourse.market.Prober} examines held machines, too, and {@link
 * dev.bourse.market.Fleet} tells the clusters what it found ({@link
 * dev.bourse.capacity.HealthCommands}). A machine that does not answer in three rounds is failed,
 * but its time is not credited: a tenant can fill the queue of sshd or start processes until
 * nothing answers, while its jobs go on. If none of the pool's machines answers, the network is at
 * fault and no machine is failed.
 *
 * <p>A machine whose tenants can become root is not cleaned: {@link dev.bourse.market.Reimaging}
 * has it installed anew, step by step as its {@link dev.bourse.market.Reimage} is stored, and the
 * commit that ends the allocation pins the new host key. The pool decides and not the allocation,
 * because the mark of an allocation that is gone does not say whose it was. A machine that cannot
 * say what it holds is reimaged only if {@link dev.bourse.market.Lineage} excludes that the
 * database lost a grant of it. Rejected: cleaning such machines while no command for new images is
 * set, because the next tenant would trust a machine that its former tenant may control; they are
 * quarantined.
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
