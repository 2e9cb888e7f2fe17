package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reason;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Supply.FreeNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The rules of the auction word by word, seat by seat, with no thought of speed. */
final class NaiveAuction {
  private final AuctionWorld world;
  private final Map<String, Claims> claims = new LinkedHashMap<>();

  /** The clusters whose newcomers won, seat by seat. */
  private final List<Bidder> newcomers = new ArrayList<>();

  /** What one cluster has and still asks for. */
  private static final class Claims {
    final Bidder bidder;
    int seated;
    int contestedWon;
    int incumbents;
    int newcomers;

    Claims(Bidder bidder) {
      this.bidder = bidder;
    }

    boolean asks() {
      return incumbents + newcomers > 0;
    }
  }

  NaiveAuction(AuctionWorld world) {
    this.world = world;
    for (Bidder bidder : world.bidders()) {
      Claims claim = new Claims(bidder);
      claim.seated = (int) AuctionWorld.shielded(bidder);
      boolean priced = bidder.ceilingCents() >= world.reserve();
      if (priced
          && (bidder.participation() == Participation.OPEN
              || bidder.participation() == Participation.INCUMBENTS_ONLY)) {
        claim.incumbents = bidder.held().size() - claim.seated;
      }
      if (priced && bidder.participation() == Participation.OPEN) {
        claim.newcomers = bidder.declaredSlots() - bidder.held().size();
      }
      claims.put(bidder.cluster(), claim);
    }
    seat();
  }

  private void seat() {
    Comparator<Claims> order =
        Comparator.<Claims>comparingLong(claim -> -claim.bidder.ceilingCents())
            .thenComparing(claim -> claim.incumbents > 0 ? 0 : 1)
            .thenComparing(claim -> claim.seated)
            .thenComparing(claim -> claim.bidder.pricedAtMillis())
            .thenComparing(claim -> claim.bidder.cluster());
    while (seated() < world.supply().seats()) {
      Claims best = claims.values().stream().filter(Claims::asks).min(order).orElse(null);
      if (best == null) {
        return;
      }
      best.seated++;
      best.contestedWon++;
      if (best.incumbents > 0) {
        best.incumbents--;
      } else {
        best.newcomers--;
        newcomers.add(best.bidder);
      }
    }
  }

  int seated() {
    return claims.values().stream().mapToInt(claim -> claim.seated).sum();
  }

  Map<String, Integer> unseated() {
    Map<String, Integer> unseated = new HashMap<>();
    for (Claims claim : claims.values()) {
      if (claim.seated < claim.bidder.declaredSlots()) {
        unseated.put(claim.bidder.cluster(), claim.bidder.declaredSlots() - claim.seated);
      }
    }
    return unseated;
  }

  Set<Reclaim> reclaims() {
    Set<Reclaim> reclaims = new HashSet<>();
    for (Claims claim : claims.values()) {
      Bidder bidder = claim.bidder;
      if (bidder.participation() == Participation.EVICTED) {
        bidder.held().forEach(h -> reclaims.add(reclaim(bidder, h, Reason.HOLD)));
      } else if (bidder.participation() != Participation.STATIC) {
        int lost = bidder.held().size() - claim.seated;
        bidder.held().stream()
            .filter(h -> !h.shielded())
            .limit(Math.max(0, lost))
            .forEach(h -> reclaims.add(reclaim(bidder, h, Reason.OUTBID)));
      }
    }
    return reclaims;
  }

  private static Reclaim reclaim(Bidder bidder, Held held, Reason reason) {
    return new Reclaim(bidder.cluster(), held.allocationId(), reason);
  }

  List<Grant> grants() {
    List<Grant> grants = new ArrayList<>();
    List<FreeNode> free = new ArrayList<>(world.supply().free());
    newcomers.forEach(bidder -> grant(bidder, null, free, grants));
    int spare = world.supply().seats() - seated();
    List<Bidder> ranked =
        world.bidders().stream()
            .filter(
                b -> b.participation() == Participation.OPEN && b.ceilingCents() >= world.reserve())
            .sorted(
                Comparator.<Bidder>comparingLong(b -> -b.ceilingCents())
                    .thenComparing(Bidder::pricedAtMillis)
                    .thenComparing(Bidder::cluster))
            .toList();
    for (Bidder bidder : ranked) {
      for (String swap : bidder.swapsAwaiting()) {
        if (spare > 0 && grant(bidder, swap, free, grants)) {
          spare--;
        }
      }
    }
    return grants;
  }

  private static boolean grant(
      Bidder bidder, @Nullable String replaces, List<FreeNode> free, List<Grant> grants) {
    for (FreeNode node : free) {
      if (!bidder.org().equals(node.excludedOrg())) {
        grants.add(new Grant(bidder.cluster(), node.nodeId(), replaces));
        return free.remove(node);
      }
    }
    return false;
  }

  @Nullable Long clearingPrice() {
    if (seated() == 0) {
      return null;
    }
    Set<Claims> winners =
        claims.values().stream().filter(c -> c.contestedWon > 0).collect(Collectors.toSet());
    long price = world.reserve();
    for (Claims loser : claims.values()) {
      boolean withstood =
          winners.stream().anyMatch(winner -> !winner.bidder.org().equals(loser.bidder.org()));
      if (loser.bidder.participation() == Participation.OPEN && loser.asks() && withstood) {
        price = Math.max(price, loser.bidder.ceilingCents());
      }
    }
    for (Claims winner : winners) {
      price = Math.min(price, winner.bidder.ceilingCents());
    }
    return price;
  }

  /** Tries one price after the other. */
  @Nullable Long admissionPrice() {
    for (long price = world.reserve(); price <= world.cap(); price++) {
      if (!new NaiveAuction(world.withNewcomer(price)).unseated().containsKey("newcomer")) {
        return price;
      }
    }
    return null;
  }
}
