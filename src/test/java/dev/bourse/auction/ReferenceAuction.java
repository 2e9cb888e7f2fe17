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
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rules of the auction word by word, one turn after the other, with no thought of speed. */
final class ReferenceAuction {
  private final AuctionWorld world;
  private final List<Claim> claims = new ArrayList<>();

  /** The turns of newcomers, in order: each a cluster and its seats before and after. */
  private final List<Turn> turns = new ArrayList<>();

  private record Turn(Claim claim, int before, int after) {}

  private final class Claim {
    final Bidder bidder;
    final int usable;
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
      int unusable = bidder.held().size() - AuctionWorld.usable(bidder);
      usable = AuctionWorld.usable(bidder);
      shielded = (int) AuctionWorld.shielded(bidder);
      seated = shielded;
      kept = plays && priced ? usable : shielded;
      int most = open && priced ? bidder.declaredSlots() - unusable : kept;
      int fewest = plays ? bidder.minimumSlots() - unusable : 1;
      minimum = most < fewest ? 1 : Math.max(1, fewest);
      wanted = most < fewest ? kept : most;
    }

    boolean isShort() {
      return minimum > 1 && seated < minimum;
    }

    boolean asks() {
      return !passedOver && seated < wanted;
    }

    boolean defends() {
      return seated < kept && (!isShort() || kept >= minimum);
    }

    boolean loses() {
      return bidder.ranksLast() ? defends() : seated < wanted;
    }

    boolean isLast() {
      return bidder.ranksLast() && !defends();
    }

    int orgSeats() {
      return seatsOf(bidder.org());
    }

    int turn() {
      return isShort() ? 0 : seated;
    }

    int step() {
      return isShort() ? minimum - seated : 1;
    }
  }

  ReferenceAuction(AuctionWorld world) {
    this.world = world;
    world.bidders().forEach(bidder -> claims.add(new Claim(bidder)));
    Comparator<Claim> order =
        Comparator.comparing(Claim::isLast)
            .thenComparing(claim -> -claim.bidder.ceilingCents())
            .thenComparing(claim -> !claim.defends())
            .thenComparing(Claim::orgSeats)
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
        continue;
      }
      boolean defends = next.defends();
      int before = next.seated;
      next.seated += next.step();
      if (!defends) {
        turns.add(new Turn(next, before, next.seated));
      }
    }
  }

  int left() {
    int left = world.supply().seats();
    for (Claim claim : claims) {
      left -= claim.seated;
    }
    return left;
  }

  private int seatsOf(String org) {
    int seats = 0;
    for (Claim claim : claims) {
      seats += claim.bidder.org().equals(org) ? claim.seated : 0;
    }
    return seats;
  }

  /** Whether a ceiling keeps an incumbent a seat that nobody else could have. */
  private boolean keeps(Claim claim) {
    Bidder bidder = claim.bidder;
    boolean plays =
        bidder.participation() == Participation.OPEN
            || bidder.participation() == Participation.INCUMBENTS_ONLY;
    if (!plays || bidder.ceilingCents() < world.reserve()) {
      return false;
    }
    return left() >= 0
        && claims.stream()
            .filter(c -> c.loses() && !c.isShort())
            .allMatch(c -> c.bidder.ceilingCents() <= bidder.ceilingCents());
  }

  private List<Held> lost(Claim claim) {
    List<Held> lost = new ArrayList<>();
    Participation participation = claim.bidder.participation();
    int excess = claim.usable - claim.seated;
    for (Held held : claim.bidder.held()) {
      boolean stays =
          participation == Participation.STATIC
              || (held.shielded() && participation != Participation.EVICTED);
      if (!stays && (held.usable() ? excess-- > 0 : !keeps(claim))) {
        lost.add(held);
      }
    }
    return lost;
  }

  Map<String, Integer> unseated() {
    Map<String, Integer> unseated = new HashMap<>();
    for (Claim claim : claims) {
      long broken = claim.bidder.held().stream().filter(h -> !h.usable()).count();
      long brokenLost = lost(claim).stream().filter(h -> !h.usable()).count();
      int slots = (int) (claim.bidder.declaredSlots() - claim.seated - broken + brokenLost);
      if (slots > 0) {
        unseated.put(claim.bidder.cluster(), slots);
      }
    }
    return unseated;
  }

  Set<Reclaim> reclaims() {
    Set<Reclaim> reclaims = new HashSet<>();
    for (Claim claim : claims) {
      boolean evicted = claim.bidder.participation() == Participation.EVICTED;
      lost(claim)
          .forEach(
              held ->
                  reclaims.add(
                      new Reclaim(
                          claim.bidder.cluster(),
                          held.allocationId(),
                          evicted ? Reason.HOLD : Reason.OUTBID)));
    }
    return reclaims;
  }

  List<Grant> grants() {
    List<Grant> grants = new ArrayList<>();
    List<FreeNode> free = new ArrayList<>(world.supply().free());
    for (Turn turn : turns) {
      int held = turn.claim().usable;
      int nodes = Math.max(0, turn.after() - held) - Math.max(0, turn.before() - held);
      if (nodes > free.size()) {
        free.clear();
      }
      for (int i = 0; i < nodes && !free.isEmpty(); i++) {
        grant(turn.claim().bidder, null, free, grants);
      }
    }
    int spare = left();
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
    FreeNode node =
        free.stream()
            .filter(n -> !bidder.org().equals(n.excludedOrg()))
            .findFirst()
            .or(() -> replaces == null ? free.stream().findFirst() : java.util.Optional.empty())
            .orElse(null);
    if (node == null) {
      return false;
    }
    grants.add(new Grant(bidder.cluster(), node.nodeId(), replaces));
    return free.remove(node);
  }

  /** What each organization pays that has seats, or nodes that are none. */
  Map<String, Long> prices() {
    Map<String, Long> prices = new HashMap<>();
    for (Claim claim : claims) {
      String org = claim.bidder.org();
      int broken =
          claims.stream()
              .filter(c -> c.bidder.org().equals(org))
              .mapToInt(c -> c.bidder.held().size() - c.usable)
              .sum();
      if (seatsOf(org) + broken > 0) {
        prices.put(org, price(org, broken));
      }
    }
    return prices;
  }

  /** The auction once more without the organization, whose unusable nodes count as seats. */
  private long price(String org, int broken) {
    ReferenceAuction without = new ReferenceAuction(world.without(org, broken));
    long price = world.reserve();
    for (Claim then : without.claims) {
      for (Claim now : claims) {
        if (now.bidder.cluster().equals(then.bidder.cluster())
            && then.seated > now.seated
            && now.loses()) {
          price = Math.max(price, now.bidder.ceilingCents());
        }
      }
    }
    return price;
  }

  /** Tries one price after the other. */
  @Nullable Long admissionPrice() {
    for (long price = world.reserve(); price <= world.cap(); price++) {
      if (!new ReferenceAuction(world.withNewcomer(price)).unseated().containsKey("newcomer")) {
        return price;
      }
    }
    return null;
  }
}
