package dev.bourse.auction;

import dev.bourse.auction.Bidder.Held;
import dev.bourse.auction.Bidder.Participation;
import dev.bourse.auction.Clearing.Grant;
import dev.bourse.auction.Clearing.Reclaim;
import dev.bourse.auction.Supply.FreeNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/** A pool between two ticks: small, with few prices and few organizations, so that ties abound. */
record AuctionWorld(long reserve, long cap, List<Bidder> bidders, Supply supply) {
  static final long NOW = 3;

  /** What holds of a world. */
  interface Property {
    void check(AuctionWorld world, RandomGenerator random);
  }

  /** Tries a property in so many random worlds. */
  static void inEachOf(
      int worlds, Function<RandomGenerator, AuctionWorld> made, Property property) {
    for (int seed = 0; seed < worlds; seed++) {
      Random random = new Random(seed);
      made.apply(random).check("seed " + seed, property, random);
    }
  }

  /**
   * Tries a property here.
   *
   * @param name how a failure calls this world
   */
  void check(String name, Property property, RandomGenerator random) {
    try {
      property.check(this, random);
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(name + ": " + e.getMessage() + "\n" + this, e);
    }
  }

  static AuctionWorld random(RandomGenerator random) {
    long reserve = random.nextLong(4);
    int orgs = random.nextInt(1, 5);
    int clusters = random.nextInt(0, 8);
    List<Bidder> bidders = new ArrayList<>();
    int seats = random.nextInt(0, 4);
    for (int i = 0; i < clusters; i++) {
      Bidder bidder = randomBidder(random, "c" + i, "org" + random.nextInt(orgs), reserve);
      bidders.add(bidder);
      seats += usable(bidder);
    }
    List<FreeNode> free = new ArrayList<>();
    int freeNodes = random.nextInt(0, 6);
    for (int i = 0; i < freeNodes; i++) {
      String excluded = random.nextInt(4) == 0 ? "org" + random.nextInt(orgs) : null;
      free.add(new FreeNode("n" + i, excluded));
    }
    return new AuctionWorld(reserve, reserve + 6, bidders, new Supply(seats + freeNodes, free));
  }

  private static Bidder randomBidder(
      RandomGenerator random, String name, String org, long reserve) {
    List<Held> held = new ArrayList<>();
    List<String> swaps = new ArrayList<>();
    int nodes = Math.max(0, random.nextInt(-2, 5));
    for (int i = 0; i < nodes; i++) {
      String id = name + "-" + i;
      held.add(new Held(id, random.nextInt(3) == 0, random.nextInt(8) > 0));
      if (random.nextInt(6) == 0) {
        swaps.add(id);
      }
    }
    Participation[] participations = Participation.values();
    Participation participation =
        random.nextInt(3) > 0
            ? Participation.OPEN
            : participations[random.nextInt(participations.length)];
    return new Bidder(
        name,
        org,
        Math.max(0, reserve + random.nextLong(-1, 8)),
        random.nextLong(NOW),
        nodes + random.nextInt(0, 4),
        1,
        participation,
        random.nextInt(8) == 0,
        held,
        swaps);
  }

  Clearing clear() {
    return Auction.clear(reserve, cap, bidders, supply);
  }

  AuctionWorld with(List<Bidder> others) {
    return new AuctionWorld(reserve, cap, others, supply);
  }

  /**
   * This world and a cluster that comes now: of a new organization, with one slot, last in ties.
   */
  AuctionWorld withNewcomer(long ceiling) {
    List<Bidder> more = new ArrayList<>(bidders);
    more.add(
        new Bidder(
            "newcomer",
            "newcomer",
            ceiling,
            NOW,
            1,
            1,
            Participation.OPEN,
            false,
            List.of(),
            List.of()));
    return with(more);
  }

  /** This world without an organization, and with so many seats more. */
  AuctionWorld without(String org, int more) {
    return new AuctionWorld(
        reserve,
        cap,
        bidders.stream().filter(bidder -> !bidder.org().equals(org)).toList(),
        new Supply(supply.seats() + more, supply.free()));
  }

  /** How many nodes an organization holds that are no seats, under notice or not. */
  int unusableHeld(String org) {
    return bidders.stream()
        .filter(bidder -> bidder.org().equals(org))
        .mapToInt(bidder -> bidder.held().size() - usable(bidder))
        .sum();
  }

  /** How many nodes a cluster keeps that are no seats. */
  int unusableKept(Bidder bidder, Clearing clearing) {
    Set<String> reclaimed = reclaimed(clearing);
    return (int)
        bidder.held().stream()
            .filter(held -> !held.usable() && !reclaimed.contains(held.allocationId()))
            .count();
  }

  /** Whether a cluster has a seat that a bid won. */
  boolean isContested(Bidder bidder, Clearing clearing) {
    return seats(bidder, clearing) - unusableKept(bidder, clearing) > shielded(bidder);
  }

  boolean newcomerWins(long ceiling) {
    return !withNewcomer(ceiling).clear().unseated().containsKey("newcomer");
  }

  static Set<String> reclaimed(Clearing clearing) {
    return clearing.reclaims().stream().map(Reclaim::allocationId).collect(Collectors.toSet());
  }

  /** This world with one cluster's ceiling changed now. */
  AuctionWorld repriced(Bidder chosen, long ceiling) {
    return with(
        bidders.stream()
            .map(
                bidder ->
                    bidder.equals(chosen)
                        ? with(bidder, ceiling, NOW, bidder.held(), bidder.swapsAwaiting())
                        : bidder)
            .toList());
  }

  /**
   * The decisions applied: granted nodes provision, so they are shielded; replacements and their
   * nodes leave the auction.
   *
   * @param freed whether the reclaimed nodes are free already, or still coming back
   */
  AuctionWorld after(Clearing clearing, boolean freed) {
    Set<String> reclaimed = reclaimed(clearing);
    Set<String> unusable =
        bidders.stream()
            .flatMap(bidder -> bidder.held().stream())
            .filter(held -> !held.usable())
            .map(Held::allocationId)
            .collect(Collectors.toSet());
    Set<String> granted = clearing.grants().stream().map(Grant::nodeId).collect(Collectors.toSet());
    List<FreeNode> free =
        new ArrayList<>(
            supply.free().stream().filter(node -> !granted.contains(node.nodeId())).toList());
    if (freed) {
      reclaimed.stream()
          .filter(allocation -> !unusable.contains(allocation))
          .forEach(allocation -> free.add(new FreeNode("back-" + allocation, null)));
    }
    List<Bidder> next = new ArrayList<>();
    for (Bidder bidder : bidders) {
      List<Held> held = new ArrayList<>();
      List<String> swaps = new ArrayList<>(bidder.swapsAwaiting());
      swaps.removeAll(reclaimed);
      for (Grant grant : clearing.grants()) {
        if (grant.cluster().equals(bidder.cluster())) {
          if (grant.replaces() == null) {
            held.add(new Held(grant.nodeId(), true, true));
          } else {
            swaps.remove(grant.replaces());
          }
        }
      }
      bidder.held().stream()
          .filter(allocation -> !reclaimed.contains(allocation.allocationId()))
          .forEach(held::add);
      next.add(with(bidder, bidder.ceilingCents(), bidder.pricedAtMillis(), held, swaps));
    }
    int replacements = (int) clearing.grants().stream().filter(g -> g.replaces() != null).count();
    return new AuctionWorld(reserve, cap, next, new Supply(supply.seats() - replacements, free));
  }

  /** The decisions applied, and an hour later, when the granted nodes are not shielded any more. */
  AuctionWorld unshielded(Clearing clearing) {
    AuctionWorld next = after(clearing, true);
    return next.with(
        next.bidders().stream()
            .map(
                bidder ->
                    with(
                        bidder,
                        bidder.ceilingCents(),
                        bidder.pricedAtMillis(),
                        bidder.held().stream()
                            .map(held -> new Held(held.allocationId(), false, held.usable()))
                            .toList(),
                        bidder.swapsAwaiting()))
            .toList());
  }

  Bidder bidder(String cluster) {
    return bidders.stream().filter(b -> b.cluster().equals(cluster)).findFirst().orElseThrow();
  }

  /** How many seats a cluster has after a clearing: kept, granted or waiting for a node. */
  int seats(Bidder bidder, Clearing clearing) {
    return bidder.declaredSlots() - clearing.unseated().getOrDefault(bidder.cluster(), 0);
  }

  /** What each organization pays that has seats after a clearing, or holds nodes that are none. */
  Map<String, Long> prices() {
    Clearing clearing = clear();
    Map<String, Long> prices = new HashMap<>();
    for (Bidder bidder : bidders) {
      Long cents = clearing.centsOf(bidder.org());
      boolean pays = seats(bidder, clearing) > 0 || unusableHeld(bidder.org()) > 0;
      if (pays && cents != null) {
        prices.put(bidder.org(), cents);
      }
    }
    return prices;
  }

  /** Seats a cluster has before all bids. */
  static long shielded(Bidder bidder) {
    return switch (bidder.participation()) {
      case EVICTED -> 0;
      case STATIC -> usable(bidder);
      case OPEN, INCUMBENTS_ONLY -> {
        int shielded = 0;
        for (Held held : bidder.held()) {
          shielded += held.shielded() && held.usable() ? 1 : 0;
        }
        yield shielded;
      }
    };
  }

  /** Nodes a cluster holds that are seats. */
  static int usable(Bidder bidder) {
    int usable = 0;
    for (Held held : bidder.held()) {
      usable += held.usable() ? 1 : 0;
    }
    return usable;
  }

  boolean excludes(String nodeId, String org) {
    return supply.free().contains(new FreeNode(nodeId, org));
  }

  private static Bidder with(
      Bidder bidder, long ceiling, long pricedAt, List<Held> held, List<String> swaps) {
    return new Bidder(
        bidder.cluster(),
        bidder.org(),
        ceiling,
        pricedAt,
        bidder.declaredSlots(),
        bidder.minimumSlots(),
        bidder.participation(),
        bidder.ranksLast(),
        held,
        swaps);
  }
}
