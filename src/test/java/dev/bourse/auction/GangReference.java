package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules for gangs word by word, one turn after the other, with no thought of speed. */
final class GangReference {
  private final AuctionWorld world;
  private final List<Claim> claims = new ArrayList<>();

  private final class Claim {
    final Bidder bidder;
    final int shielded;
    final int kept;
    final int wanted;
    final int minimum;
    int seated;
    boolean passedOver;

    Claim(Bidder bidder) {
      this.bidder = bidder;
      boolean priced = bidder.ceilingCents() >= world.reserve();
      boolean open = bidder.participation() == Participation.OPEN;
      boolean plays = open || bidder.participation() == Participation.INCUMBENTS_ONLY;
      shielded = (int) AuctionWorld.shielded(bidder);
      seated = shielded;
      kept = plays && priced ? bidder.held().size() : shielded;
      wanted = open && priced ? bidder.declaredSlots() : kept;
      minimum = plays ? bidder.minimumSlots() : 1;
    }

    boolean isShort() {
      return minimum > 1 && seated < minimum;
    }

    boolean asks() {
      return !passedOver && seated < wanted && (!isShort() || wanted >= minimum);
    }

    boolean defends() {
      return seated < kept && (!isShort() || kept >= minimum);
    }

    int turn() {
      return isShort() ? 0 : seated;
    }

    int step() {
      return isShort() ? minimum - seated : 1;
    }

    boolean makesPrice() {
      if (bidder.participation() != Participation.OPEN || seated >= wanted) {
        return false;
      }
      if (!isShort()) {
        return bidder.ceilingCents() >= world.reserve();
      }
      int auctioned = world.supply().seats();
      int above = 0;
      for (Claim other : claims) {
        boolean isStatic = other.bidder.participation() == Participation.STATIC;
        auctioned -= isStatic ? other.seated : 0;
        above +=
            !isStatic && other.bidder.ceilingCents() > bidder.ceilingCents() ? other.seated : 0;
      }
      return wanted >= minimum && minimum <= auctioned && above >= auctioned;
    }
  }

  GangReference(AuctionWorld world) {
    this.world = world;
    world.bidders().forEach(bidder -> claims.add(new Claim(bidder)));
    Comparator<Claim> order =
        Comparator.<Claim>comparingLong(claim -> -claim.bidder.ceilingCents())
            .thenComparing(claim -> claim.defends() ? 0 : 1)
            .thenComparing(Claim::turn)
            .thenComparing(claim -> claim.bidder.pricedAtMillis())
            .thenComparing(claim -> claim.bidder.cluster());
    while (left() > 0) {
      Claim next = claims.stream().filter(Claim::asks).min(order).orElse(null);
      if (next == null) {
        return;
      }
      if (next.step() > left()) {
        next.passedOver = true;
      } else {
        next.seated += next.step();
      }
    }
  }

  int left() {
    return world.supply().seats() - claims.stream().mapToInt(claim -> claim.seated).sum();
  }

  Map<String, Integer> unseated() {
    Map<String, Integer> unseated = new HashMap<>();
    for (Claim claim : claims) {
      if (claim.seated < claim.bidder.declaredSlots()) {
        unseated.put(claim.bidder.cluster(), claim.bidder.declaredSlots() - claim.seated);
      }
    }
    return unseated;
  }

  Set<String> reclaimed() {
    Set<String> reclaimed = new HashSet<>();
    for (Claim claim : claims) {
      boolean evicted = claim.bidder.participation() == Participation.EVICTED;
      claim.bidder.held().stream()
          .filter(held -> evicted || !held.shielded())
          .limit(Math.max(0, claim.bidder.held().size() - claim.seated))
          .map(Held::allocationId)
          .forEach(reclaimed::add);
    }
    return reclaimed;
  }

  @Nullable Long clearingPrice() {
    if (left() == world.supply().seats()) {
      return null;
    }
    long price = world.reserve();
    for (Claim loser : claims) {
      boolean withstood =
          claims.stream()
              .anyMatch(
                  winner ->
                      winner.seated > winner.shielded
                          && !winner.bidder.org().equals(loser.bidder.org()));
      if (loser.makesPrice() && withstood) {
        price = Math.max(price, loser.bidder.ceilingCents());
      }
    }
    return price;
  }

  /** Tries one price after the other. */
  @Nullable Long admissionPrice() {
    for (long price = world.reserve(); price <= world.cap(); price++) {
      if (!new GangReference(world.withNewcomer(price)).unseated().containsKey("newcomer")) {
        return price;
      }
    }
    return null;
  }
}
