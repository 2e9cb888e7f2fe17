/**
 * The auction of a pool: bids and supply in, decisions out. It is a pure function without any
 * library, so it can be read, tested and measured by itself.
 *
 * <p>{@link dev.bourse.auction.Auction} clears: it takes {@link dev.bourse.auction.Bidder}s and
 * {@link dev.bourse.auction.Supply} and answers with a {@link dev.bourse.auction.Clearing}.
 *
 * <p>{@link dev.bourse.auction.Turns} orders equal bids; {@link dev.bourse.auction.Pricing}
 * computes the price of each organization.
 *
 * <p>Rejected: one price for all organizations. The losing bids of an organization would then raise
 * the price of its own nodes, and two clusters of one organization would outbid each other.
 * Rejected too: prices from every losing gang. A gang for the whole pool just under the lowest seat
 * would set everybody's price at no risk.
 *
 * <p>Rejected: reclaiming an unusable node for a gang that lacks only this node. The gang still
 * does not fit, and the former holder bids for one more seat: at the next tick it takes a free node
 * or that of a lower bid, protected for an hour. A holder that is a gang itself may need the node
 * for its own minimum and lose all of its nodes. The losing gang's bid prices the unusable node
 * instead, up to its holder's ceiling, also while it is under notice. After an hour of silence the
 * tick ({@code market.Tick}) reclaims the node, so that a holder cannot keep the gang out for good;
 * the pure auction knows nothing of that hour.
 */
@NullMarked
package dev.bourse.auction;

import org.jspecify.annotations.NullMarked;
