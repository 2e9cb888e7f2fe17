package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Supply.FreeNode;
import java.util.Arrays;
import java.util.List;

/** Pools and bids in few words. */
abstract class AuctionFixture {
  static final long RESERVE = 100;
  static final long CAP = 1000;

  static Clearing clear(Supply supply, Bidder... bidders) {
    return Auction.clear(RESERVE, CAP, Arrays.asList(bidders), supply);
  }

  static Supply seats(int seats, String... free) {
    return new Supply(seats, Arrays.stream(free).map(node -> new FreeNode(node, null)).toList());
  }

  /** An open bid of an organization of the cluster's name. */
  static Bidder bid(String cluster, long ceiling, int declared, Held... held) {
    return new Bidder(
        cluster,
        cluster,
        ceiling,
        0,
        declared,
        1,
        Participation.OPEN,
        false,
        List.of(held),
        List.of());
  }

  static Bidder of(String org, Bidder b) {
    return new Bidder(
        b.cluster(),
        org,
        b.ceilingCents(),
        b.pricedAtMillis(),
        b.declaredSlots(),
        b.minimumSlots(),
        b.participation(),
        b.ranksLast(),
        b.held(),
        b.swapsAwaiting());
  }

  static Bidder since(long pricedAt, Bidder b) {
    return new Bidder(
        b.cluster(),
        b.org(),
        b.ceilingCents(),
        pricedAt,
        b.declaredSlots(),
        b.minimumSlots(),
        b.participation(),
        b.ranksLast(),
        b.held(),
        b.swapsAwaiting());
  }

  static Bidder as(Participation participation, Bidder b) {
    return new Bidder(
        b.cluster(),
        b.org(),
        b.ceilingCents(),
        b.pricedAtMillis(),
        b.declaredSlots(),
        b.minimumSlots(),
        participation,
        b.ranksLast(),
        b.held(),
        b.swapsAwaiting());
  }

  static Bidder gang(int minimum, Bidder b) {
    return new Bidder(
        b.cluster(),
        b.org(),
        b.ceilingCents(),
        b.pricedAtMillis(),
        b.declaredSlots(),
        minimum,
        b.participation(),
        b.ranksLast(),
        b.held(),
        b.swapsAwaiting());
  }

  static Bidder last(Bidder b) {
    return new Bidder(
        b.cluster(),
        b.org(),
        b.ceilingCents(),
        b.pricedAtMillis(),
        b.declaredSlots(),
        b.minimumSlots(),
        b.participation(),
        true,
        b.held(),
        b.swapsAwaiting());
  }

  static Bidder swapping(Bidder b, String... allocations) {
    return new Bidder(
        b.cluster(),
        b.org(),
        b.ceilingCents(),
        b.pricedAtMillis(),
        b.declaredSlots(),
        b.minimumSlots(),
        b.participation(),
        b.ranksLast(),
        b.held(),
        List.of(allocations));
  }

  static Held held(String allocation) {
    return new Held(allocation, false, true);
  }

  static Held shielded(String allocation) {
    return new Held(allocation, true, true);
  }

  /** On a machine that nobody else could be given. */
  static Held unusable(String allocation) {
    return new Held(allocation, false, false);
  }

  static Grant grant(String cluster, String node) {
    return new Grant(cluster, node, null);
  }

  static Reclaim outbid(String cluster, String allocation) {
    return new Reclaim(cluster, allocation, Reason.OUTBID);
  }
}
