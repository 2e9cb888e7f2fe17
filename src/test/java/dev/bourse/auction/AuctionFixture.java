package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Supply.FreeNode;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

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

  static Bidder of(String org, Bidder bid) {
    return changed(bid, draft -> draft.org = org);
  }

  static Bidder since(long pricedAt, Bidder bid) {
    return changed(bid, draft -> draft.pricedAt = pricedAt);
  }

  static Bidder as(Participation participation, Bidder bid) {
    return changed(bid, draft -> draft.participation = participation);
  }

  static Bidder gang(int minimum, Bidder bid) {
    return changed(bid, draft -> draft.minimum = minimum);
  }

  static Bidder last(Bidder bid) {
    return changed(bid, draft -> draft.ranksLast = true);
  }

  static Bidder swapping(Bidder bid, String... allocations) {
    return changed(bid, draft -> draft.swapsAwaiting = List.of(allocations));
  }

  private static Bidder changed(Bidder bid, Consumer<Draft> change) {
    Draft draft = new Draft(bid);
    change.accept(draft);
    return new Bidder(
        bid.cluster(),
        draft.org,
        bid.ceilingCents(),
        draft.pricedAt,
        bid.declaredSlots(),
        draft.minimum,
        draft.participation,
        draft.ranksLast,
        bid.held(),
        draft.swapsAwaiting);
  }

  /** A bid being changed. */
  private static final class Draft {
    String org;
    long pricedAt;
    int minimum;
    Participation participation;
    boolean ranksLast;
    List<String> swapsAwaiting;

    Draft(Bidder bid) {
      org = bid.org();
      pricedAt = bid.pricedAtMillis();
      minimum = bid.minimumSlots();
      participation = bid.participation();
      ranksLast = bid.ranksLast();
      swapsAwaiting = bid.swapsAwaiting();
    }
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
