/**
 * The market: allocates nodes to clusters and sets the price of each pool.
 *
 * <p>{@link dev.bourse.market.Tick} turns clusters and nodes into the input of the auction ({@link
 * dev.bourse.auction.Auction}) and turns the result into an order for each cluster that changes.
 * {@link dev.bourse.market.MarketVerticle} keeps the pool's lease and runs one tick at a time while
 * it holds the lease. {@link dev.bourse.market.TickRunner} computes the outcome of a tick, for
 * previews and without the lease too; {@link dev.bourse.market.Settlement} carries it out; {@link
 * dev.bourse.market.Fleet} prepares and cleans the machines. An allocation that is provisioning or
 * reclaiming and has no work running gets work ({@link dev.bourse.market.AllocationWork}, run by a
 * {@link dev.bourse.market.WorkPool}), so a restart needs no code path of its own. {@link
 * dev.bourse.market.Reassignment} makes late calls to machines harmless. No tick waits for a
 * machine: {@link dev.bourse.market.HoldingsScan} asks the machines in the background which
 * allocation they hold, and a cluster keeps the machines that the rows assign to it.
 *
 * <p>A tick reads all bids at one moment, its gate. Each {@link
 * dev.bourse.capacity.MarketTransitions.Orders order} carries the ceiling that the tick read into
 * the cluster, and bills use it ({@link dev.bourse.billing.PricesInForce}), so a later write
 * changes neither the decision nor the bill. Orders go ahead of clients' writes. An organization
 * that gives up a seat or a new node ranks last for ten minutes ({@link
 * dev.bourse.capacity.Standing}), so that it cannot block nodes at no cost.
 *
 * <p>A node granted within an hour after its organization gave back an active one has no price lock
 * ({@link dev.bourse.market.Leavers}). An organization that is granted a node while nodes are free
 * and gives back another afterwards keeps the lock. Three alternatives were rejected. The first
 * ends the locks of newer nodes when an organization gives a node back or loses it by its own bids:
 * a rival's bid could then end the locks of an organization that waits for another seat, the other
 * nodes of a grant lost their locks when its minimum broke, the holder saw the change on the bill
 * first, and a ceiling lowered in a quiet minute evaded the rule. The second gives the new node the
 * higher lock of the two: an organization could renew a lock that is about to end at the same
 * price. The third gives no lock to an organization that already has nodes: a rival could raise the
 * price of each further node at no risk.
 *
 * <p>Known residues, which are the price of certainty. A node under notice and a protected node
 * cost at most their ceiling, so a bid with a low ceiling that is granted a node while nodes are
 * free gains for that hour and that notice. Rejected: protection or notice only for ceilings near
 * the rival's, because a rival could then take an honest low bidder's node at any moment. A rival
 * waits one notice for each organization that it outbids in turn, because a lower bid whose
 * protection ends during the wait gets the notice instead. A gang keeps free nodes until the
 * notices on its other nodes end, and again after each time that it gives up and ranks last for ten
 * minutes.
 *
 * <p>The market writes the keys of a VM gang's nodes when the gang's minimum is ready, and the
 * nodes become active when all have their keys. Rejected: keys at the grant, because waiting nodes
 * are not billed and could be used; and keys after activation, because ssh would refuse the holder
 * of an active node. Each node of a Kubernetes gang is active once it has joined, because the
 * tenant's control plane uses it from then on. Rejected: joins only after all machines are
 * prepared, because a control plane that refuses one node would use the others until the minimum is
 * given up. A refused node is unwound without a fault of the machine, and the organization gets no
 * other node of the pool for ten minutes, and then one at a time until one joins ({@link
 * dev.bourse.capacity.MarketTransitions#joinRefused}). Known residue: a machine for each of its
 * clusters, or as many as a minimum needs, are granted and cleaned in each ten minutes at no cost.
 *
 * <p>The auction decides which nodes have no seat; {@link dev.bourse.market.Notices} decides what
 * happens to them. A holder that is outbid gets a notice and bids on as an incumbent, so notices
 * affect neither the auction nor any price. A withdrawn notice still counts for an hour after its
 * end. It applies to its node, and to another node of the organization that loses its seat to a bid
 * older than the notice. Rejected: notice as a kind of protection in the auction, because rivals do
 * not compete for the seat of a protected node, so the price would fall; and a notice that passes
 * to another organization's node, because that holder would lose the node without a warning.
 *
 * <p>{@link dev.bourse.market.ProgramNotices} computes the notice that the programs on each machine
 * should have, from stored state and the time alone. {@link dev.bourse.market.NoticeDelivery}
 * delivers it to the machines, in the order that {@link dev.bourse.market.NoticeTurns} sets for all
 * pools. The agents of the machines ask for it, too, at any process ({@link
 * dev.bourse.market.NoticePolls}), and get it before a visit has its turn. The visits go on,
 * because a machine may have no agent. The sequence of a notice comes from the state that it was
 * computed from, so a machine keeps the newest of both ways. Only the machines know which notices
 * were delivered. Rejected: rows of deliveries, because a row and a machine can disagree and the
 * machine is right; and polls that stop the visits, because no process knows the polls of the
 * others.
 *
 * <p>{@link dev.bourse.market.NodeService} carries out operators' requests about machines. The rows
 * ({@link dev.bourse.market.NodeStore}) are the truth. The holder of the lease keeps them in an
 * {@link dev.bourse.market.Inventory} and reads them again before the next tick when an operator
 * has changed some. Reading all rows at each tick would cost as much each time and find nothing.
 *
 * <p>{@link dev.bourse.market.QuoteService} tries out a bid that no cluster has declared, by a
 * preview of a cluster that does not exist.
 *
 * <p>Before each tick {@link dev.bourse.market.Lapses} ends declarations whose end has passed or
 * whose {@link dev.bourse.market.Budgets budget} does not pay for the time until the next tick.
 * Bills stop at the end without the market, so a market that did not run costs no customer
 * anything.
 *
 * <p>{@link dev.bourse.market.Prober} examines held machines too, and {@link
 * dev.bourse.market.Fleet} passes the findings to the clusters ({@link
 * dev.bourse.capacity.HealthCommands}). A machine that does not answer in three rounds is failed,
 * but its time is not credited: a tenant can fill the queue of sshd or start processes until the
 * machine stops answering, while its jobs go on. If no machine of the pool answers, the network is
 * at fault and no machine is failed.
 *
 * <p>A machine whose tenants can become root is not cleaned: {@link dev.bourse.market.Reimaging}
 * installs a new image. Each step is stored as the machine's {@link dev.bourse.market.Reimage}, and
 * the commit that ends the allocation pins the new host key. The pool decides and not the
 * allocation, because the mark of an ended allocation does not name its owner. A machine that does
 * not report its allocation is reimaged only if {@link dev.bourse.market.Lineage} excludes that the
 * database lost a grant of it. Rejected: cleaning such machines while no reimage command is
 * configured, because the next tenant would trust a machine that its former tenant may control;
 * they are quarantined.
 *
 * <p>A machine that cannot be prepared backs off three times, each time longer, and is quarantined
 * at the next failure: a fault of a few minutes then ends without an operator.
 *
 * <p>Rejected: granting in the write that declares, because the earliest bid would beat the best
 * bid; and a table of node occupancy, because the clusters' allocations already record it and two
 * tables could disagree.
 */
@NullMarked
package dev.bourse.market;

import org.jspecify.annotations.NullMarked;
