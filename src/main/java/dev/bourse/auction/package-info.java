/**
 * The auction of a pool: bids and supply in, decisions out. It is a pure function without any
 * library, so it can be read, tested and measured by itself.
 *
 * <p>{@link dev.bourse.auction.Auction} clears: it takes {@link dev.bourse.auction.Bidder}s and
 * {@link dev.bourse.auction.Supply} and answers with a {@link dev.bourse.auction.Clearing}.
 *
 * <p>{@link dev.bourse.auction.Turns} is the order in equal bids, {@link
 * dev.bourse.auction.Pricing} what each organization pays.
 *
 * <p>Rejected: one price for all. An organization that wants more than it wins would then raise the
 * price of what it has, and who bids for a second cluster would outbid the first. Rejected too: to
 * count every gang that lost. One that asks for the whole pool just under the lowest seat would set
 * everybody's price and risk nothing.
 */
@NullMarked
package dev.bourse.auction;

import org.jspecify.annotations.NullMarked;
