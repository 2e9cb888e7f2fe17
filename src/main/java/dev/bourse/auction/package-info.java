/**
 * The auction of a pool: bids and supply in, decisions out. It is a pure function without any
 * library, so it can be read, tested and measured by itself.
 *
 * <p>{@link dev.bourse.auction.Auction} clears: it takes {@link dev.bourse.auction.Bidder}s and
 * {@link dev.bourse.auction.Supply} and answers with a {@link dev.bourse.auction.Clearing}.
 *
 * <p>The clearing price needs no cap at the contested seats' ceilings: seats go by ceiling, so that
 * no losing bid is above a seat that withstood it.
 */
@NullMarked
package dev.bourse.auction;

import org.jspecify.annotations.NullMarked;
